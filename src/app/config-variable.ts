/** One variable of the configuration. */

export interface Variable<T> {
  readonly name: string;
  readonly fallback: T;
  /** Describes accepted values, for the message. */
  readonly wants: string;
  /** The value is never repeated in a message (S2). */
  readonly isSecret?: boolean;
  /** The value is not logged. */
  readonly isPersonal?: boolean;
  /** Returns undefined if the value is invalid. */
  read(text: string): T | undefined;
}
