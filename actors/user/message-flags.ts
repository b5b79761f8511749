/**
 * POST /messages/flags and /messages/flags/narrow (behaviour 5.2): flags on single messages. Many messages are
 * processed in slices through the mailbox, so that no turn is long; the request is answered after the last slice.
 */

import { hasPersonalFlag } from "../../domain/message-flags.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { FlagUpdate, PersonalFlag } from "../../schemas/message-flags.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { ReadWatermarkRecord } from "../../schemas/read-state.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Command,
  command,
  done,
  type Effect,
  effects,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { putFlag, removeFlag } from "../rules/flag-holders.ts";
import { isToBeAnnounced } from "../rules/read-announcements.ts";
import { flagEvents, nextMark, noteMarks, putWatermark, takeMark } from "../rules/read-rows.ts";
import { advancedWatermark, raisedWatermark } from "../rules/read-watermarks.ts";

interface Marked {
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
}

/** The changes of one slice. */
interface Change {
  /** Messages whose flag changes, ascending. */
  readonly ids: readonly number[];
  readonly rows: readonly Effect[];
  /** Channels whose messages stay read because the user is not subscribed (behaviour 5.2). */
  readonly ignoredChannelIds: readonly number[];
}

export function updateFlags(
  caller: UserRecord,
  params: Params<"message-flags.update">,
  view: View,
  request: Command<"message-flags.update">,
): Outcome {
  const { messageIds, mustReachAll } = params;
  if (mustReachAll && !messageIds.every((id) => find(view, caller, id) !== null)) return refuse.invalidMessage();
  if (messageIds.length > limits.flagged_messages_per_command_max) {
    const waiting = request.ticket === null ? null : { ticket: request.ticket, boot: view.counter("boot") };
    const rest = { ...params, progress: { waiting, updated: 0, ignoredChannelIds: [] } };
    return done(null, [effects.send(command(request.to, "message-flags.continue", rest, caller.id))]);
  }
  const change = changeOf(view, caller, params);
  return done(answerOf(params, change.ids.length, change.ignoredChannelIds), effectsOf(caller, params, change));
}

/** One slice of many messages. Messages that are no longer accessible are skipped. */
export function continueFlags(
  caller: UserRecord,
  { progress, ...params }: Params<"message-flags.continue">,
  view: View,
  request: Command<"message-flags.continue">,
): Outcome {
  const most = limits.flagged_messages_per_command_max;
  const slice = { ...params, messageIds: params.messageIds.slice(0, most) };
  const left = params.messageIds.slice(most);
  const change = changeOf(view, caller, slice);
  const all = effectsOf(caller, slice, change);
  const updated = progress.updated + change.ids.length;
  const ignoredChannelIds = ascending([...progress.ignoredChannelIds, ...change.ignoredChannelIds]);
  if (left.length > 0) {
    const rest = { ...params, messageIds: left, progress: { ...progress, updated, ignoredChannelIds } };
    all.push(effects.send(command(request.to, "message-flags.continue", rest, caller.id)));
  } else if (progress.waiting !== null && progress.waiting.boot === view.counter("boot")) {
    all.push(effects.reply(progress.waiting.ticket, answerOf(params, updated, ignoredChannelIds)));
  }
  return done({}, all);
}

function answerOf(
  { op, flag, answer, countsUpdated }: FlagUpdate,
  updated: number,
  ignored: readonly number[],
): Answer {
  return {
    ...answer,
    ...(countsUpdated ? { updated_count: updated } : {}),
    ...(flag === "read" && op === "remove" ? { ignored_because_not_subscribed_channels: ignored } : {}),
  };
}

function effectsOf(user: UserRecord, { op, flag }: FlagUpdate, change: Change): Effect[] {
  return [...change.rows, ...flagEvents(user.id, op, flag, change.ids)];
}

function find(view: View, user: UserRecord, id: number): Marked | null {
  const message = view.row("messages", id);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined) return null;
  return canReadMessage(view, user, message) ? { message, conversation } : null;
}

function changeOf(view: View, user: UserRecord, { op, flag, messageIds }: FlagUpdate): Change {
  const marked = ascending(messageIds).flatMap((id) => find(view, user, id) ?? []);
  if (flag !== "read") return personalChange(view, user, marked, flag, op === "add");
  return op === "add" ? readChange(view, user, marked) : unreadChange(view, user, marked);
}

function personalChange(
  view: View,
  user: UserRecord,
  marked: readonly Marked[],
  flag: PersonalFlag,
  isAdding: boolean,
): Change {
  const ids = marked
    .map(({ message }) => message.id)
    .filter((id) => hasPersonalFlag(view, user.id, id, flag) !== isAdding);
  const change = isAdding ? putFlag : removeFlag;
  const rows = ids.flatMap((messageId): Effect[] => change({ userId: user.id, flag, messageId }));
  const notes = isAdding && ids.length > 0 ? noteMarks(view, user.id, { newest: ids.at(-1) ?? 0 }) : [];
  return { ids, rows: [...rows, ...notes], ignoredChannelIds: [] };
}

/**
 * Raises watermarks over messages read without a gap, and writes an exception for each message beyond a gap, or in a
 * channel with messages that are still to be announced.
 */
function readChange(view: View, user: UserRecord, marked: readonly Marked[]): Change {
  const state = new ReadState(view, user.id);
  const unread = marked.filter(({ message, conversation }) => !state.isRead(message, conversation));
  if (unread.length === 0) return { ids: [], rows: [], ignoredChannelIds: [] };
  const raised: Raised[] = [];
  for (const [conversation, own] of byConversation(unread)) {
    const { channelId } = conversation;
    if (channelId !== null && isToBeAnnounced(view, user.id, channelId)) continue;
    const watermark = raisedWatermark(view, state, conversation, new Set(own));
    if (watermark !== null) raised.push({ conversation, watermark });
  }
  const watermarks = raised.map(({ conversation, watermark }) => ({
    place: { kind: "conversation", id: conversation.id } as const,
    watermark,
  }));
  const after = new ReadState(view, user.id, { watermarks });
  const channelWatermarks = [...channelsOf(unread)].flatMap((id) => advancedWatermark(view, id, after) ?? []);
  const ids = unread.map(({ message }) => message.id);
  const newest = Math.max(...ids, ...[...raised, ...channelWatermarks].map(({ watermark }) => watermark.upTo));
  const rows = [
    takeMark(view),
    ...raised.map(({ conversation, watermark }) => putWatermark("conversation", conversation.id, user.id, watermark)),
    ...channelWatermarks.map(({ channelId, watermark }) => putWatermark("channel", channelId, user.id, watermark)),
    ...raised.flatMap((watermark) => redundantExceptions(view, user.id, state, watermark)),
    ...unread.flatMap(({ message, conversation }): Effect[] => {
      const key = [user.id, message.id] as const;
      if (!after.isReadAnyway(message, conversation)) {
        return [effects.put("readExceptions", key, { isRead: true, at: nextMark(view) })];
      }
      return state.exception(message.id) === undefined ? [] : [effects.remove("readExceptions", key)];
    }),
    ...noteMarks(view, user.id, { newest }),
  ];
  return { ids, rows, ignoredChannelIds: [] };
}

interface Raised {
  readonly conversation: ConversationRecord;
  readonly watermark: ReadWatermarkRecord;
}

/** Exceptions that the raised watermark makes redundant. */
function redundantExceptions(
  view: View,
  userId: UserId,
  state: ReadState,
  { conversation, watermark }: Raised,
): Effect[] {
  const start = state.watermarkOf({ channelId: conversation.channelId, conversationId: conversation.id });
  const range = { start: [userId, start + 1], end: [userId, watermark.upTo + 1], limit: limits.read_rows_inline_max };
  return view
    .rows("readExceptions", range)
    .filter(({ key, row }) => row.isRead && view.row("messages", key[1])?.conversationId === conversation.id)
    .map(({ key }) => effects.remove("readExceptions", key));
}

function byConversation(marked: readonly Marked[]): Map<ConversationRecord, number[]> {
  const groups = new Map<number, { conversation: ConversationRecord; ids: number[] }>();
  for (const { message, conversation } of marked) {
    const group = groups.get(conversation.id);
    if (group === undefined) groups.set(conversation.id, { conversation, ids: [message.id] });
    else group.ids.push(message.id);
  }
  return new Map([...groups.values()].map(({ conversation, ids }) => [conversation, ids]));
}

function channelsOf(marked: readonly Marked[]): Set<number> {
  return new Set(marked.flatMap(({ conversation }) => conversation.channelId ?? []));
}

/** Messages can only be unread in channels that the user is subscribed to (behaviour 8). */
function unreadChange(view: View, user: UserRecord, marked: readonly Marked[]): Change {
  const state = new ReadState(view, user.id);
  const ignored = marked.filter(({ conversation }) => !state.holdsUnread(conversation));
  const read = marked.filter(
    ({ message, conversation }) => state.holdsUnread(conversation) && state.isRead(message, conversation),
  );
  const ids = read.map(({ message }) => message.id);
  const rows = ids.map((id) => effects.put("readExceptions", [user.id, id], { isRead: false, at: nextMark(view) }));
  const notes = ids.length > 0 ? [takeMark(view), ...noteMarks(view, user.id, { newest: ids.at(-1) ?? 0 })] : [];
  return { ids, rows: [...rows, ...notes], ignoredChannelIds: ascending(channelsOf(ignored)) };
}

function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

export const messageFlagsDecisions = {
  "message-flags.update": forUser(updateFlags),
  "message-flags.continue": forUser(continueFlags),
} as const;
