/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface ReactionsOperations {
  /** Adds the caller's reaction to a message. */
  "POST /messages/{message_id}/reactions": {
    readonly params: {
      readonly message_id: number;
      readonly emoji_name: string;
      readonly emoji_code?: string;
      readonly reaction_type?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes the caller's reaction from a message. */
  "DELETE /messages/{message_id}/reactions": {
    readonly params: {
      readonly message_id: number;
      readonly emoji_name?: string;
      readonly emoji_code?: string;
      readonly reaction_type?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}
