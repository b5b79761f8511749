/**
 * POST /messages/flags and /messages/flags/narrow (behaviour 5.2): flags on single messages. Many messages are done slice after
 * slice through the mailbox, so that no turn is long; the request is answered with the last.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { PersonalFlag } from "../../schemas/records/read-state.ts";
import type { ConversationRecord, MessageRecord, ReadFloorRecord, UserRecord } from "../../schemas/records.ts";
import { hasPersonalFlag } from "../../src/domain/message-flags.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import { ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import type { FlagUpdate } from "../commands/read-state.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { putFlag, removeFlag } from "../topic/flag-holders.ts";
import { advancedFloor, raisedFloor } from "./read-floors.ts";
import { flagEvents, nextMark, noteMarks, putFloor, takeMark } from "./read-rows.ts";

interface Marked {
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
}

/** What a slice changes. */
interface Change {
  /** Messages whose flag changes, ascending. */
  readonly ids: readonly number[];
  readonly rows: readonly Effect[];
  /** Channels whose messages stay read because their reader is not in them (behaviour 5.2). */
  readonly ignoredChannelIds: readonly number[];
}

export function updateFlags(_context: unknown, asked: Command<"message-flags.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { params } = asked;
  const { messageIds, mustReachAll } = params;
  if (mustReachAll && !messageIds.every((id) => find(view, caller, id) !== null)) return refuse.invalidMessage();
  if (messageIds.length > limits.flagged_messages_per_command_max) {
    const waiting = asked.ticket === null ? null : { ticket: asked.ticket, boot: view.counter("boot") };
    const goOn = { ...params, progress: { waiting, updated: 0, ignoredChannelIds: [] } };
    return done(null, [effects.tell(command(asked.to, "message-flags.continue", goOn, caller.id))]);
  }
  const change = changeOf(view, caller, params);
  return done(answerOf(params, change.ids.length, change.ignoredChannelIds), effectsOf(caller, params, change));
}

/** One slice of many messages. What cannot be reached any more is left out. */
export function continueFlags(_context: unknown, asked: Command<"message-flags.continue">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { progress, ...params } = asked.params;
  const most = limits.flagged_messages_per_command_max;
  const slice = { ...params, messageIds: params.messageIds.slice(0, most) };
  const left = params.messageIds.slice(most);
  const change = changeOf(view, caller, slice);
  const all = effectsOf(caller, slice, change);
  const updated = progress.updated + change.ids.length;
  const ignoredChannelIds = ascending([...progress.ignoredChannelIds, ...change.ignoredChannelIds]);
  if (left.length > 0) {
    const goOn = { ...params, messageIds: left, progress: { ...progress, updated, ignoredChannelIds } };
    all.push(effects.tell(command(asked.to, "message-flags.continue", goOn, caller.id)));
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
  const rows = ids.flatMap((messageId) => change({ userId: user.id, flag, messageId }));
  const notes = isAdding && ids.length > 0 ? noteMarks(view, user.id, { newest: ids.at(-1) ?? 0 }) : [];
  return { ids, rows: [...rows, ...notes], ignoredChannelIds: [] };
}

/** Floors are raised where that says it all; an exception is written for what lies beyond a gap. */
function readChange(view: View, user: UserRecord, marked: readonly Marked[]): Change {
  const state = new ReadState(view, user.id);
  const unread = marked.filter(({ message, conversation }) => !state.isRead(message, conversation));
  if (unread.length === 0) return { ids: [], rows: [], ignoredChannelIds: [] };
  const raised: Raised[] = [];
  for (const [conversation, own] of byConversation(unread)) {
    const floor = raisedFloor(view, state, conversation, new Set(own));
    if (floor !== null) raised.push({ conversation, floor });
  }
  const floors = raised.map(({ conversation, floor }) => ({
    place: { kind: "conversation", id: conversation.id } as const,
    floor,
  }));
  const after = new ReadState(view, user.id, { floors });
  const channelFloors = [...channelsOf(unread)].flatMap((id) => advancedFloor(view, id, after) ?? []);
  const ids = unread.map(({ message }) => message.id);
  const newest = Math.max(...ids, ...[...raised, ...channelFloors].map(({ floor }) => floor.upTo));
  const rows = [
    takeMark(view),
    ...raised.map(({ conversation, floor }) => putFloor("conversation", conversation.id, user.id, floor)),
    ...channelFloors.map(({ channelId, floor }) => putFloor("channel", channelId, user.id, floor)),
    ...raised.flatMap((floor) => spentExceptions(view, user.id, state, floor)),
    ...unread.flatMap(({ message, conversation }) => {
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
  readonly floor: ReadFloorRecord;
}

/** Exceptions that say what the raised floor says. */
function spentExceptions(view: View, userId: number, state: ReadState, { conversation, floor }: Raised): Effect[] {
  const start = state.floorOf({ channelId: conversation.channelId, conversationId: conversation.id });
  const range = { start: [userId, start + 1], end: [userId, floor.upTo + 1], limit: limits.read_rows_inline_max };
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

/** Only where one is there can something wait to be read (behaviour 8). */
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
