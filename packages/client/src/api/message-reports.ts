/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface MessageReportsOperations {
  /** Reports a message to the organization's moderators in their channel. */
  "POST /messages/{message_id}/report": {
    readonly params: {
      readonly message_id: number;
      readonly report_type: "spam" | "harassment" | "inappropriate" | "norms" | "other";
      readonly description?: string;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}
