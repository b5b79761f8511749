/** Durable shapes of messages and of what happens to them after they were posted. The rules of `schemas/records.ts` hold. */

/** One change of a message's content: what it was before (spec 2.9, edit history). */
export interface MessageEditRecord {
  readonly userId: number;
  readonly at: number;
  readonly prevContent: string;
  readonly prevRendered: string;
  /** The move or rename of the same request; null: only the content changed. */
  readonly moveId: number | null;
  /** The newest move or rename that was there before it: two changes may have one time. null: not known, by the time then. */
  readonly afterMoveId: number | null;
}

/** A topic that got another name as a whole: one row, however many messages it has (architecture, Moves). */
export interface TopicRenameRecord {
  readonly userId: number;
  readonly at: number;
  readonly prevTopic: string;
  readonly topic: string;
  /** The topic's last message then: later ones were never called otherwise. */
  readonly upToId: number;
}

/** Messages that went to another conversation; the messages themselves say by which moves they came (`MessageRecord.moves`). */
export interface MessageMoveRecord {
  readonly userId: number;
  readonly at: number;
  /** The conversation that they left. */
  readonly fromId: number;
  readonly prevChannelId: number;
  readonly channelId: number;
  readonly prevTopic: string;
  readonly topic: string;
}

/** One person's emoji on a message. */
export interface ReactionRecord {
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: string;
  /** The realm's position then: reactions are shown in the order in which they came. */
  readonly position: number;
}

export interface MessageRecord {
  readonly id: number;
  readonly conversationId: number;
  readonly senderId: number;
  readonly sentAt: number;
  readonly content: string;
  readonly rendered: string;
  readonly client: string;
  /** Bit set of `messageTraits` (schemas/messages.ts). */
  readonly traits: number;
  readonly mentionedUserIds: readonly number[];
  readonly mentionedGroupIds: readonly number[];
  /** When its content was changed last; null: never, and it has no rows of `messageEdits`. */
  readonly editedAt: number | null;
  /** Ids of the moves that brought it from one conversation to another, oldest first, the newest ones only. */
  readonly moves: readonly number[];
}

/** What a conversation is. Kept as the topic machine's context; the row doubles as the list of topics. */
export interface ConversationRecord {
  readonly id: number;
  readonly state: string;
  readonly version: number;
  readonly channelId: number | null;
  /** The topic as first written; compared case-insensitively. "" for direct messages. */
  readonly topic: string;
  /** Participants of a direct conversation, ascending; null in channels. */
  readonly userIds: readonly number[] | null;
  readonly lastMessageId: number;
  /** How often the topic was renamed as a whole: with 0 nobody looks for rows of `topicRenames`. */
  readonly renames: number;
  /** The move that is taking messages out or telling of a new name at the moment; null: none. */
  readonly movingId: number | null;
}
