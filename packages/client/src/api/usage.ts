/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface UsageOperations {
  /** Returns per user the number of presence reports with `new_user_input` on one day; administrators only. */
  "GET /realm/usage": {
    readonly params: { readonly date?: string; readonly after_user_id?: number };
    readonly result: {
      readonly date: string;
      readonly user_input: Readonly<Record<string, number>>;
      readonly found_newest: boolean;
    };
  };
  /** Returns figures of the organization: people, activity, messages per day, uploads, queues and deliveries. */
  "GET /realm/statistics": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly people: {
        readonly owners: number;
        readonly administrators: number;
        readonly moderators: number;
        readonly members: number;
        readonly guests: number;
        readonly bots: number;
        readonly deactivated: number;
      };
      readonly active_people: { readonly day: number; readonly week: number; readonly month: number };
      readonly channels: { readonly active: number; readonly archived: number };
      readonly messages: {
        readonly total: number;
        readonly days: readonly { readonly date: string; readonly messages: number }[];
      };
      readonly upload_bytes: number;
      readonly event_queues: number;
      readonly connected_queues: number;
      readonly waiting_deliveries: { readonly emails: number; readonly webhooks: number };
      readonly dead_letters: number;
    };
  };
}
