/**
 * The facts about a queue, or about the queues of a class (queue.ts), that the builders of events use: the
 * owner's choices, but not a reader or a position.
 */

import type { ExtraType } from "../../../domain/emoji/extra-type.ts";
import type { ClientCapability, QueueOptions } from "../../../schemas/queues.ts";

export interface RecipientQueue {
  /** null for a class. */
  readonly id: string | null;
  readonly userId: number;
  readonly options: QueueOptions;
  /** Queues with equal variants share encodings of messages. */
  readonly variant: string;
  /** The client's name for the type of the extra emoji (D22). */
  readonly extraEmojiType: ExtraType;
  can(capability: ClientCapability): boolean;
  wantsType(type: string): boolean;
}

/** A queue of a class: what its class gets, it gets, too. */
export interface ClassedQueue extends RecipientQueue {
  readonly readerClass: RecipientQueue;
}
