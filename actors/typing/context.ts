/** The users who are typing in one conversation, and the actor's states. */

export interface TypingContext {
  /** Expiry times by typist id. Bounded by `typing_typists_per_conversation_max`. */
  readonly typists: Readonly<Record<number, number>>;
}

export const isAnybodyTyping = ({ context }: { context: TypingContext }) => Object.keys(context.typists).length > 0;

export const isNobodyTyping = ({ context }: { context: TypingContext }) => Object.keys(context.typists).length === 0;
