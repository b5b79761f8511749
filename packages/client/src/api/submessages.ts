/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface SubmessagesOperations {
  /** Adds a vote, an option, a task or the like to a message. The first submessage must be sent by the message's author. */
  "POST /submessage": {
    readonly params: { readonly message_id: number; readonly msg_type: string; readonly content: string };
    readonly result: Readonly<Record<never, never>>;
  };
}
