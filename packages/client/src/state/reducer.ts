/**
 * The one reducer of a client's state: `(state, event) -> state`. The page and the tests that compare a client's copy
 * with a fresh state (test/support/mirror.ts) use the same code.
 */
import type { Events, Operations } from "../api/index.ts";
import { channelReducers } from "./channels.ts";
import type { Changes, ChatState, Reducer, ReducerOptions, Reducers } from "./chat-state.ts";
import { listReducers } from "./lists.ts";
import { peopleReducers } from "./people.ts";
import { unreadOf, unreadReducers } from "./unread.ts";

type Registered = Operations["POST /register"]["result"];

/** The state that a queue's events continue. */
export function chatStateOf(registered: Registered): ChatState {
  return {
    ...registered,
    unread: unreadOf(registered),
    starred: new Set(registered.starred_messages ?? []),
    mentions: new Set(registered.unread_msgs?.mentions ?? []),
    appeared: new Set(),
  };
}

const conversationReducers: Reducers = {
  message: (state, { message }): Changes => {
    const newest = { max_message_id: Math.max(state.max_message_id ?? -1, message.id) };
    if (message.type === "stream" || typeof message.display_recipient === "string") return newest;
    const ids = message.display_recipient.map(({ id }) => id);
    const others = ids.filter((id) => id !== state.user_id).sort((a, b) => a - b);
    const known = state.recent_private_conversations ?? [];
    const rest = known.filter((entry) => entry.user_ids.join() !== others.join());
    const entry = { user_ids: others, max_message_id: message.id };
    return { ...newest, recent_private_conversations: [...rest, entry] };
  },
  /** Topics are compared without case; without a policy there is no entry. */
  user_topic: (state, { stream_id: id, topic_name: name, last_updated: at, visibility_policy: policy }) => {
    const isOther = (entry: { readonly stream_id: number; readonly topic_name: string }) =>
      entry.stream_id !== id || entry.topic_name.toLowerCase() !== name.toLowerCase();
    const others = (state.user_topics ?? []).filter(isOther);
    if (policy === 0) return { user_topics: others };
    const entry = { stream_id: id, topic_name: name, last_updated: at, visibility_policy: policy };
    return { user_topics: [...others, entry] };
  },
};

const settingReducers: Reducers = {
  // After `deactivated` nothing is served until the organization is reactivated.
  realm: (state, event): Changes => {
    if (event.op !== "update_dict") return {};
    const changes = Object.fromEntries(Object.entries(event.data).map(([name, value]) => [`realm_${name}`, value]));
    const policy = changes["realm_message_edit_history_visibility_policy"];
    const isVisible = (policy ?? state.realm_message_edit_history_visibility_policy) !== "none";
    return { ...changes, realm_allow_edit_history: isVisible } as Changes;
  },
  user_settings: (state, { property, value }): Changes => {
    // When draft synchronization is switched off, the server deletes the drafts; no other event reports that.
    const isCleared = property === "enable_drafts_synchronization" && value === false && state.drafts !== undefined;
    const settings = { ...state.user_settings, [property]: value } as NonNullable<ChatState["user_settings"]>;
    return { user_settings: settings, ...(isCleared ? { drafts: [] } : {}) };
  },
  realm_user_settings_defaults: (state, { property, value }): Changes => {
    const next = { ...state.realm_user_settings_defaults, [property]: value };
    return { realm_user_settings_defaults: next as NonNullable<ChatState["realm_user_settings_defaults"]> };
  },
};

const tables: readonly Reducers[] = [
  conversationReducers,
  unreadReducers,
  channelReducers,
  peopleReducers,
  listReducers,
  settingReducers,
];

/** The types of events that change the state. */
export const reducedTypes: readonly string[] = [...new Set(tables.flatMap((table) => Object.keys(table)))];

/** @throws Error if an event contradicts the state, such as a channel that is created twice */
export function applyEvent(state: ChatState, event: Events[keyof Events], options: ReducerOptions): ChatState {
  let next = state;
  for (const table of tables) {
    const reduce = table[event.type as keyof Events] as Reducer<keyof Events> | undefined;
    if (reduce !== undefined) next = { ...next, ...reduce(next, event, options) };
  }
  return next;
}
