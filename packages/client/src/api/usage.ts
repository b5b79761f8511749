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
}
