/** What commands about read state and flags carry (commands.ts). */
import type { PersonalFlag } from "../../schemas/records/read-state.ts";
import type { Seen, Supposed } from "../../src/domain/read-state.ts";
import type { Ticket } from "../effects.ts";

/** Flags on messages (behaviour 5.2). */
export interface FlagUpdate {
  readonly op: "add" | "remove";
  readonly flag: "read" | PersonalFlag;
  readonly messageIds: readonly number[];
  /** Whether one message that cannot be read refuses all; else it is left out. */
  readonly mustReachAll: boolean;
  /** What is answered, beside what comes of it. */
  readonly answer: Readonly<Record<string, unknown>>;
  readonly countsUpdated: boolean;
}

/** A channel, or a topic in one. */
export interface MarkedPlace {
  readonly channelId: number;
  readonly conversationId: number | null;
}

/** What is left to tell of a mark, or of leaving: see actors/user/read-announcements.ts. */
export interface ReadAnnouncement {
  readonly place: MarkedPlace;
  /** Floors that concern the place, as they were before the mark; null: there was none. */
  readonly before: NonNullable<Supposed["floors"]>;
  /** The number of the mark: what was decided with it or a later one had not been, neither moves nor whom the person muted. */
  readonly at: number;
  /** The next message to look at. */
  readonly from: number;
  /** Up to here only exceptions were unread. */
  readonly start: number;
  readonly upTo: number;
}

/** Of an older server: messages that went to another place, and who comes next of those to whom it matters. */
export interface CarriedReadState {
  /** As they were. */
  readonly messages: readonly Seen[];
  readonly from: { readonly id: number; readonly channelId: number };
  readonly to: { readonly id: number; readonly channelId: number };
  /** The topic was made for them. */
  readonly isNew: boolean;
  readonly upToId: number;
  readonly afterUserId: number;
}

export interface ReadCommandParams {
  "message-flags.update": FlagUpdate;
  "message-flags.continue": FlagUpdate & {
    readonly progress: {
      readonly waiting: { readonly ticket: Ticket; readonly boot: number } | null;
      readonly updated: number;
      readonly ignoredChannelIds: readonly number[];
    };
  };
  "read-state.mark-all": Record<string, never>;
  "read-state.mark-channel": { readonly channelId: number };
  "read-state.mark-topic": {
    readonly channelId: number;
    readonly topic: string;
    readonly mustHaveReceived: boolean;
  };
  "read-state.announce": ReadAnnouncement;
  "read-state.carry": CarriedReadState;
  "read-state.sweep": { readonly from: number; readonly upTo: number; readonly at: number };
}
