/** Unread and starred messages: those of a registered state, changed by events as clients do (behaviour 4.4). */
import type { Events, Operations } from "../api/index.ts";
import {
  type Changes,
  type ChatState,
  channelKey,
  directKey,
  inserted,
  noChange,
  type Reducers,
} from "./chat-state.ts";

type Unread = Map<string, readonly number[]>;

/** The conversations of a registered state's unread messages. */
export function unreadOf({ unread_msgs: unread, user_id: userId }: Operations["POST /register"]["result"]): Unread {
  const found: Unread = new Map();
  const add = (key: string, ids: readonly number[]) => {
    found.set(
      key,
      [...(found.get(key) ?? []), ...ids].sort((a, b) => a - b),
    );
  };
  if (unread === undefined) return found;
  for (const group of unread.streams) add(channelKey(group.stream_id, group.topic), group.unread_message_ids);
  for (const group of unread.pms) {
    add(directKey([group.other_user_id].filter((id) => id !== userId)), group.unread_message_ids);
  }
  for (const group of unread.huddles) {
    const others = group.user_ids_string.split(",").map(Number);
    add(directKey(others.filter((id) => id !== userId)), group.unread_message_ids);
  }
  return found;
}

/** The key of a message's conversation. */
export function conversationKey(
  userId: number | undefined,
  message: {
    readonly type: "stream" | "private";
    readonly stream_id?: number;
    readonly subject: string;
    readonly display_recipient: string | readonly { readonly id: number }[];
  },
): string {
  const { stream_id: channelId, display_recipient: people } = message;
  if (channelId !== undefined) return channelKey(channelId, message.subject);
  const ids = typeof people === "string" ? [] : people.map(({ id }) => id);
  return directKey(ids.filter((id) => id !== userId));
}

/** Takes messages out of their conversations. */
function without(state: ChatState, ids: readonly number[]): Changes {
  const gone = new Set(ids);
  const unread: Unread = new Map(state.unread);
  let isChanged = false;
  for (const [key, known] of state.unread) {
    const rest = known.filter((id) => !gone.has(id));
    if (rest.length === known.length) continue;
    isChanged = true;
    if (rest.length === 0) unread.delete(key);
    else unread.set(key, rest);
  }
  const mentions = [...state.mentions].filter((id) => !gone.has(id));
  return {
    ...(isChanged ? { unread } : {}),
    ...(mentions.length < state.mentions.size ? { mentions: new Set(mentions) } : {}),
  };
}

function withFlag(known: ReadonlySet<number>, ids: readonly number[], isAdding: boolean): ReadonlySet<number> {
  const next = new Set(known);
  for (const id of ids) {
    if (isAdding) next.add(id);
    else next.delete(id);
  }
  return next;
}

const isMention = (flag: string) => flag === "mentioned" || flag.endsWith("wildcard_mentioned");

/** Personal mentions always count, those of everybody only outside what is muted, as at a registration. */
function isCalled({ user_topics, subscriptions }: ChatState, { message, flags }: Events["message"]): boolean {
  if (flags.includes("mentioned") || !flags.some(isMention)) return flags.includes("mentioned");
  const { stream_id: channelId, subject } = message;
  const topic = subject.toLowerCase();
  const own = user_topics?.find((one) => one.stream_id === channelId && one.topic_name.toLowerCase() === topic);
  if (own !== undefined) return own.visibility_policy !== 1;
  return subscriptions?.find((one) => one.stream_id === channelId)?.is_muted !== true;
}

export const unreadReducers: Reducers = {
  message: (state, event) => {
    const { message, flags } = event;
    const isRead = flags.includes("read");
    const key = conversationKey(state.user_id, message);
    return {
      ...(isRead ? {} : { unread: new Map(state.unread).set(key, inserted(state.unread.get(key) ?? [], message.id)) }),
      ...(!isRead && isCalled(state, event) ? { mentions: withFlag(state.mentions, [message.id], true) } : {}),
      ...(flags.includes("starred") ? { starred: withFlag(state.starred, [message.id], true) } : {}),
    };
  },
  update_message_flags: (state, event) => {
    const { flag, messages: ids } = event;
    if (flag === "starred") return { starred: withFlag(state.starred, ids, event.op === "add") };
    if (flag !== "read") return noChange;
    if (event.op === "add") return event.all ? { unread: new Map(), mentions: new Set() } : without(state, ids);
    const { unread: rest = state.unread } = without(state, ids);
    const unread: Unread = new Map(rest);
    const mentioned: number[] = [];
    for (const [text, detail] of Object.entries(event.message_details ?? {})) {
      const id = Number(text);
      const key =
        detail.type === "stream"
          ? channelKey(detail.stream_id ?? 0, detail.topic ?? "")
          : directKey(detail.user_ids ?? []);
      unread.set(key, inserted(unread.get(key) ?? [], id));
      if (detail.mentioned === true) mentioned.push(id);
    }
    return { unread, mentions: withFlag(state.mentions, mentioned, true) };
  },
  /** Moved messages are unread in their new topic or channel. */
  update_message: (state, event) => {
    const {
      message_ids: ids,
      stream_id: channelId,
      new_stream_id: newChannelId,
      orig_subject: before,
      subject,
    } = event;
    if (before === undefined) return noChange;
    const key = channelKey(newChannelId ?? channelId ?? 0, subject ?? before);
    const isUnread = new Set([...state.unread.values()].flat());
    const moved = ids.filter((id) => isUnread.has(id));
    if (moved.length === 0) return noChange;
    const { unread: rest = state.unread } = without(state, moved);
    const all = [...(rest.get(key) ?? []), ...moved].sort((a, b) => a - b);
    return { unread: new Map(rest).set(key, all) };
  },
  delete_message: (state, event) => {
    const ids = "message_ids" in event ? event.message_ids : [event.message_id];
    return { ...without(state, ids), starred: withFlag(state.starred, ids, false) };
  },
};
