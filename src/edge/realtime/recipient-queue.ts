/** What the builders of events know about a queue: its owner's wishes, but not its reader or its position. */

import type { ExtraType } from "../../../domain/emoji/extra-type.ts";
import type { ClientCapability } from "../../../schemas/queues.ts";

/** The parameters of POST /register that shape events. Plain data, because it is stored. */
export interface QueueOptions {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  readonly allPublicStreams: boolean;
  readonly includeSubscribers: boolean;
  /** Types that the server has; null means every type. */
  readonly eventTypes: readonly string[] | null;
  readonly narrow: readonly (readonly [string, string])[];
  /** Capabilities that the client declared as true (behaviour 4.3). */
  readonly capabilities: readonly ClientCapability[];
}

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
