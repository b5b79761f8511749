/**
 * Durable shapes of what a person has read and marked (architecture, Read state). The rules of `schemas/records.ts` hold.
 *
 * A message is unread for who received it, but for one's own (rule), for what floors cover, and for exceptions. Of a floor that
 * covers a message and an exception that says unread, the later one holds: so a floor is one row however many rows contradict it.
 * Which is later is told by a number that every decision about read state takes (`readMark`): an event has a position, too, but not
 * every mark is told by an event.
 */

/** A person's summary, and the floor of the whole organization. No row: nothing was ever marked. */
export interface ReadStateRecord {
  /** Messages up to this id are read, by a mark of everything. */
  readonly upTo: number;
  /** Number of the mark that said so. */
  readonly at: number;
  /** The highest message id that any row of the person is about: what is newer needs no looking up. */
  readonly newest: number;
  /** Whether there are floors of senders: they hold for what is to come, too. */
  readonly hasSenderFloors: boolean;
}

/** What a floor is about. Rows begin with it and the place, so that a conversation's readers are found, too. */
export const floorKinds = { channel: 1, conversation: 2, sender: 3 } as const;
export type FloorKind = keyof typeof floorKinds;

/** Messages of the place up to this id are read. */
export interface ReadFloorRecord {
  readonly upTo: number;
  /** Number of the mark that said so. */
  readonly at: number;
}

/** One message that is otherwise than floors and rules say. */
export interface ReadExceptionRecord {
  readonly isRead: boolean;
  /** Number of the mark that said so. */
  readonly at: number;
}

/** What a mark or leaving came to is being told of (actors/user/read-announcements.ts). */
export interface ReadAnnouncementRecord {
  /** Milliseconds. */
  readonly startedAt: number;
}

/** A message that has left its place while people were being told what is read there: as it was. */
export interface ReadDepartureRecord {
  readonly conversationId: number;
  readonly senderId: number;
  readonly traits: number;
}

/** Flags that people give messages themselves, beside `read`. */
export const personalFlags = { starred: 1, collapsed: 2 } as const;
export type PersonalFlag = keyof typeof personalFlags;

/** What an index of messages says of each, so that counting unread ones opens none. */
export interface MessageIndexRecord {
  readonly senderId: number;
  /** As in the message's row. */
  readonly traits: number;
}

/** A notice that a topic was resolved or unresolved: read for all but these. No row: a notice like any message. Ids ascending. */
export interface ResolveNoticeRecord {
  readonly unreadByIds: readonly number[];
}

/** Whose attention a message calls beside those whom it mentions; only where there is anybody. Ids ascending. */
export interface MessageAttentionRecord {
  /** Receivers one of whose alert words it contained when it was sent. */
  readonly alertedUserIds: readonly number[];
  /** Who had written in the topic, where it calls them. */
  readonly participantIds: readonly number[];
  /** Generic bots that received it only because it mentioned them when it was sent. null: none, or an older row. */
  readonly calledBotIds: readonly number[] | null;
}
