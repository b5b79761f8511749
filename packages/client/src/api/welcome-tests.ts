/** Generated from schemas/ by `npm run client:api`; do not edit. */
export interface WelcomeTestsOperations {
  /** Sends the caller the welcome message that new users get. */
  "POST /realm/test_welcome_bot_custom_message": {
    readonly params: { readonly welcome_message_custom_text: string };
    readonly result: { readonly message_id: number };
  };
}
