/** What commands about mails on missed messages carry (commands.ts). */
export interface MissedMessageParams {
  /** The people of whom it is left to ask whether they missed the message: those with higher ids. */
  "missed-messages.gather": { readonly messageId: number; readonly afterUserId: number };
  /** `at`: when the timer was to ring, by which the row knows it. */
  "missed-messages.due": { readonly at: number };
}
