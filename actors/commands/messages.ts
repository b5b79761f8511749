/** What commands carry that change messages after they were posted (actors/commands.ts). Plain data: it is stored (M3). */

import type { ParsedContent } from "../../src/domain/markdown/render.ts";
import type { TopicToggle } from "../../src/domain/message-rules.ts";
import type { Answer, Ticket } from "../effects.ts";

export type PropagateMode = "change_one" | "change_later" | "change_all";

/** Public API, update-message; null: not passed, so it stays. */
export interface MessageEdit {
  readonly content: { readonly text: string; readonly parsed: ParsedContent } | null;
  readonly topic: string | null;
  readonly channelId: number | null;
  readonly propagateMode: PropagateMode;
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  readonly prevContentSha256: string | null;
}

interface MovePlace {
  readonly channelId: number;
  readonly topic: string;
}

/** A batch for which people's read state is being written, slice after slice, before it goes. */
export interface BegunBatch {
  /** Of the conversation that they go to. */
  readonly conversationId: number;
  /** The last message of it. */
  readonly upToId: number;
  /** Who comes next has a higher id. */
  readonly afterUserId: number;
}

/** What is left of a change of place: it travels from batch to batch (architecture, Moves). */
export interface MessageMove {
  readonly moveId: number;
  readonly movedById: number;
  readonly at: number;
  /** The message that was asked for, and which others with it. */
  readonly messageId: number;
  readonly propagateMode: PropagateMode;
  readonly conversationId: number;
  readonly from: MovePlace;
  readonly to: MovePlace;
  /** Messages with ids above the one and up to the other. */
  readonly afterId: number;
  readonly upToId: number;
  /** Only those that the mover can see: in protected history. */
  readonly isLimitedToSight: boolean;
  /** Nothing that the mover can see stays behind. */
  readonly isWhole: boolean;
  /** What is called so already: nothing, messages that the mover cannot see, or others. */
  readonly target: "free" | "hidden" | "visible";
  readonly notifiesOldThread: boolean;
  readonly notifiesNewThread: boolean;
  /** What is told of a whole topic that joins another one by being resolved or unresolved. */
  readonly toggle?: TopicToggle;
  /** How many have gone. */
  readonly count: number;
  /** Of the batch that goes next, once people's read state has begun to go ahead of it. */
  readonly begun?: BegunBatch;
  /** Told in the answer: files that the request's change of content leaves without a link. */
  readonly detachedUploads?: readonly Answer[];
  /** The request that is answered when it is done; valid in this `boot` of the realm only. */
  readonly waiting: { readonly ticket: Ticket; readonly boot: number } | null;
}

/** Which emoji a reaction is; null: not passed. */
export interface EmojiWish {
  readonly name: string | null;
  readonly code: string | null;
  readonly reactionType: string | null;
}
