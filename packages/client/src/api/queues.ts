/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface QueuesOperations {
  /** Ends a queue. */
  "DELETE /events": {
    readonly params: { readonly queue_id: string };
    readonly result: Readonly<Record<never, never>>;
  };
}
