/** The users who are typing in one conversation. */

export interface TypingContext {
  /** Expiry times by typist id. Bounded by `typing_typists_per_conversation_max`. */
  readonly typists: Readonly<Record<number, number>>;
}
