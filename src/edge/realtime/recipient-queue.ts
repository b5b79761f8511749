/** The facts about a queue that the builders of events use: its owner's choices, but not its reader or its position. */

import type { ExtraType } from "../../../domain/emoji/extra-type.ts";
import type { ClientCapability, QueueOptions } from "../../../schemas/queues.ts";

export interface RecipientQueue {
  readonly id: string;
  readonly options: QueueOptions;
  /** Queues with equal variants share encodings of messages. */
  readonly variant: string;
  /** The client's name for the type of the extra emoji (D22). */
  readonly extraEmojiType: ExtraType;
  can(capability: ClientCapability): boolean;
  wantsType(type: string): boolean;
}
