/**
 * A message's history (spec 2.9, edit history; behaviour 5.6): content edits, moves of the message, and renames of its
 * topics while it was in them. A rename is one row of the topic, so a message's history is assembled on read.
 */

import { topicToggle } from "../../domain/message-rules.ts";
import { mayKnowOrigin } from "../../domain/permissions.ts";
import { seconds } from "../../domain/presence.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ResultOf } from "../../schemas/endpoint.ts";
import { limits } from "../../schemas/limits.ts";
import type { getMessageHistory, TopicRenameRecord } from "../../schemas/message-changes.ts";
import type { ConversationRecord, MessageBody, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";

/** The changes of one request; null: unchanged. */
interface Change {
  readonly userId: number;
  readonly at: number;
  /** Id of the move or rename; null for a content edit alone. */
  readonly moveId: number | null;
  /** For a content edit: the newest move or rename before it, if known. */
  readonly afterMoveId: number | null;
  readonly content: { readonly prevContent: string; readonly prevRendered: string } | null;
  readonly topic: { readonly before: string; readonly after: string } | null;
  readonly channel: { readonly before: number; readonly after: number } | null;
}

/** All stored changes, newest first. */
function changesOf(view: View, message: MessageRecord, conversation: ConversationRecord): readonly Change[] {
  const isUntouched = message.editedAt === null && message.moves.length === 0 && conversation.renames === 0;
  if (isUntouched) return [];
  const moves = placesOf(view, message, conversation);
  const edits = message.editedAt === null ? [] : editsOf(view, message.id);
  const byMove = new Map(edits.flatMap((edit) => (edit.moveId === null ? [] : [[edit.moveId, edit] as const])));
  const known = new Set(moves.map(({ moveId }) => moveId));
  const joined = moves.map((move) => ({ ...move, content: byMove.get(move.moveId ?? 0)?.content ?? null }));
  const alone = edits.filter(({ moveId }) => moveId === null || !known.has(moveId));
  return merged(alone, joined);
}

/** The changes that are shown; their number is bounded. */
function newestOf(changes: readonly Change[]): readonly Change[] {
  return changes.slice(0, limits.message_history_entries_max);
}

/**
 * Merges two lists, both newest first, in the order of decisions. Times do not determine it, because several changes
 * may have the same time.
 */
function merged(edits: readonly Change[], places: readonly Change[]): Change[] {
  const behind = new Map(
    edits.map((edit) => [edit, places.findLastIndex((place) => !isNewer(edit, place)) + 1] as const),
  );
  return Array.from({ length: places.length + 1 }, (_, index) => [
    ...edits.filter((edit) => behind.get(edit) === index),
    ...places.slice(index, index + 1),
  ]).flat();
}

function isNewer({ afterMoveId, at }: Change, place: Change): boolean {
  return afterMoveId === null ? at >= place.at : (place.moveId ?? 0) <= afterMoveId;
}

function editsOf(view: View, messageId: number): Change[] {
  const limit = limits.message_history_entries_max;
  const rows = view.rows("messageEdits", { start: [messageId], end: [messageId + 1], limit });
  return rows.reverse().map(({ row: { userId, at, prevContent, prevRendered, moveId, afterMoveId } }) => ({
    userId,
    at,
    moveId,
    afterMoveId,
    content: { prevContent, prevRendered },
    topic: null,
    channel: null,
  }));
}

/** Follows the message's moves back from its current conversation; newest first. */
function placesOf(view: View, message: MessageRecord, conversation: ConversationRecord): Change[] {
  const changes: Change[] = [];
  let names = conversation.renames === 0 ? [] : namesOf(view, conversation);
  let until = Number.MAX_SAFE_INTEGER;
  for (const moveId of message.moves.toReversed()) {
    changes.push(...names.filter((name) => name.moveId > moveId && name.moveId < until).map(renamed));
    const move = view.row("messageMoves", moveId);
    if (move === undefined) return changes;
    const { userId, at, prevTopic, topic, prevChannelId, channelId } = move;
    changes.push({
      userId,
      at,
      moveId,
      afterMoveId: null,
      content: null,
      topic: prevTopic === topic ? null : { before: prevTopic, after: topic },
      channel: prevChannelId === channelId ? null : { before: prevChannelId, after: channelId },
    });
    names = readNames(view, move.fromId);
    until = moveId;
  }
  // The message was posted in this conversation; renames after which it was posted do not apply to it.
  const own = names.filter((name) => name.moveId < until && message.id <= name.row.upToId);
  return [...changes, ...own.map(renamed)];
}

/** Ids of channels in which a reader may not know of a message. */
export type HiddenChannels = ReadonlySet<number>;

export const nothingHidden: HiddenChannels = new Set();

/**
 * The former channels of a message in which the reader may not know of it (S1). Nearly always none, without a lookup.
 */
export function hiddenOrigins(view: View, reader: UserRecord, message: MessageRecord): HiddenChannels {
  if (message.moves.length === 0) return nothingHidden;
  const hidden = message.moves.flatMap((moveId) => {
    const id = view.row("messageMoves", moveId)?.prevChannelId;
    const channel = id === undefined ? undefined : view.channels.get(id);
    return id === undefined || (channel !== undefined && mayKnowOrigin(view, reader, channel, message.id)) ? [] : [id];
  });
  return hidden.length === 0 ? nothingHidden : new Set(hidden);
}

/**
 * The history as the reader may see it, newest first. While the message was in a channel that the reader may not see,
 * its channel and topics are hidden (S1), as if it had always been where it arrived. Content edits are shown, because
 * they belong to the message.
 */
function visibleChanges(changes: readonly Change[], hidden: HiddenChannels): readonly Change[] {
  if (hidden.size === 0) return changes;
  const first = changes.findIndex(({ channel }) => channel !== null && hidden.has(channel.before));
  // The move is older than the stored history.
  if (first < 0) return changes;
  const behind = changes.slice(first).filter(({ content }) => content !== null);
  return [...changes.slice(0, first), ...behind.map((change) => ({ ...change, topic: null, channel: null }))];
}

interface Name {
  readonly moveId: number;
  readonly row: TopicRenameRecord;
}

function renamed({ moveId, row: { userId, at, prevTopic, topic } }: Name): Change {
  return {
    userId,
    at,
    moveId,
    afterMoveId: null,
    content: null,
    topic: { before: prevTopic, after: topic },
    channel: null,
  };
}

/**
 * Keyed by the conversation's row, which changes with every rename: a page of messages reads its topic's names once.
 */
const namesByRow = new WeakMap<ConversationRecord, readonly Name[]>();

function namesOf(view: View, conversation: ConversationRecord): readonly Name[] {
  const known = namesByRow.get(conversation);
  if (known !== undefined) return known;
  const names = readNames(view, conversation.id);
  namesByRow.set(conversation, names);
  return names;
}

function readNames(view: View, conversationId: number): readonly Name[] {
  const limit = limits.message_history_entries_max;
  const rows = view.rows("topicRenames", { start: [conversationId], end: [conversationId + 1], limit });
  return rows.reverse().map(({ key, row }) => ({ moveId: key[1], row }));
}

/** Resolving a topic does not count as a move (spec 2.9, last_moved_timestamp). */
function isElsewhere({ topic, channel }: Change): boolean {
  if (channel !== null) return true;
  return topic !== null && topicToggle(topic.before, topic.after) === "none";
}

/** Fields of the message object that are absent if nothing was changed. */
export function changeFields(
  view: View,
  message: MessageRecord,
  conversation: ConversationRecord,
  allowsEmptyTopic: boolean,
  hidden: HiddenChannels,
): Pick<MessageBody, "last_edit_timestamp" | "last_moved_timestamp" | "edit_history"> {
  const changes = changesOf(view, message, conversation);
  if (changes.length === 0) return {};
  const moved = changes.find(isElsewhere);
  const shown = visibleChanges(newestOf(changes), hidden).filter((change) => isShown(view, change));
  return {
    ...(message.editedAt === null ? {} : { last_edit_timestamp: seconds(message.editedAt) }),
    ...(moved === undefined ? {} : { last_moved_timestamp: seconds(moved.at) }),
    ...(shown.length === 0
      ? {}
      : { edit_history: shown.map((change) => historyEntry(view, change, allowsEmptyTopic)) }),
  };
}

/** The organization's policy: everything, only moves without content, or nothing. */
function isShown(view: View, change: Change): boolean {
  const policy = realmSetting(view, "message_edit_history_visibility_policy");
  return policy === "all" || (policy === "moves" && (change.topic !== null || change.channel !== null));
}

function historyEntry(view: View, change: Change, allowsEmptyTopic: boolean) {
  const { userId, at, content, topic, channel } = change;
  return {
    user_id: userId,
    timestamp: seconds(at),
    ...(content === null || !showsContents(view)
      ? {}
      : { prev_content: content.prevContent, prev_rendered_content: content.prevRendered }),
    ...(topic === null
      ? {}
      : {
          prev_topic: shownTopic(view, topic.before, allowsEmptyTopic),
          topic: shownTopic(view, topic.after, allowsEmptyTopic),
        }),
    ...(channel === null ? {} : { prev_stream: channel.before, stream: channel.after }),
  };
}

/** The message after one change. */
export type MessageSnapshot = ResultOf<typeof getMessageHistory>["message_history"][number];

/**
 * GET /messages/{id}/history for one reader: the message after each change, oldest first, starting with the original.
 */
export function messageHistory(
  view: View,
  message: MessageRecord,
  conversation: ConversationRecord,
  allowsEmptyTopic: boolean,
  hidden: HiddenChannels,
): MessageSnapshot[] {
  let { content, rendered } = message;
  let { topic } = conversation;
  const name = (text: string) => (conversation.userIds === null ? shownTopic(view, text, allowsEmptyTopic) : "");
  const snapshots: MessageSnapshot[] = [];
  for (const change of visibleChanges(newestOf(changesOf(view, message, conversation)), hidden)) {
    if (isShown(view, change)) {
      snapshots.push({
        ...historyEntry(view, change, allowsEmptyTopic),
        content,
        rendered_content: rendered,
        topic: name(topic),
      });
    }
    if (change.content !== null && showsContents(view)) {
      content = change.content.prevContent;
      rendered = change.content.prevRendered;
    }
    topic = change.topic?.before ?? topic;
  }
  snapshots.push({
    user_id: message.senderId,
    timestamp: seconds(message.sentAt),
    content,
    rendered_content: rendered,
    topic: name(topic),
  });
  return snapshots.reverse();
}

function showsContents(view: View): boolean {
  return realmSetting(view, "message_edit_history_visibility_policy") === "all";
}
