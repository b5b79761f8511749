/** Channels and subscriptions, changed by events as clients do (behaviour 4.5). */
import type { Channel, Subscription } from "../api/index.ts";
import { type Changes, type ChatState, noChange, type Reducers, united } from "./chat-state.ts";

const lists = ["subscriptions", "unsubscribed", "never_subscribed"] as const;
const allLists = ["streams", ...lists] as const;
type ListName = (typeof allLists)[number];
type Lists = Partial<Record<ListName, readonly Record_[]>>;
type Record_ = Channel & { readonly subscribers?: readonly number[] };

function listOf(state: ChatState, name: ListName): readonly Record_[] {
  return state[name] ?? [];
}

/** Every record of some channels, wherever the client keeps it, replaced. */
function changed(state: ChatState, ids: ReadonlySet<number>, change: (record: Record_) => Record_): Changes {
  const next: Lists = {};
  for (const name of allLists) {
    const records = listOf(state, name);
    if (!records.some(({ stream_id: id }) => ids.has(id))) continue;
    next[name] = records.map((record) => (ids.has(record.stream_id) ? change(record) : record));
  }
  return next as Changes;
}

function dropped(state: ChatState, names: readonly ListName[], ids: ReadonlySet<number>): Changes {
  const next: Lists = {};
  for (const name of names) {
    const records = listOf(state, name);
    if (records.some(({ stream_id: id }) => ids.has(id))) {
      next[name] = records.filter(({ stream_id: id }) => !ids.has(id));
    }
  }
  return next as Changes;
}

function joined(state: ChatState, record: Subscription): Changes {
  const ids = new Set([record.stream_id]);
  const rest = { ...state, ...dropped(state, lists, ids) };
  const appeared = new Set(state.appeared);
  appeared.delete(record.stream_id);
  const subscriptions = [...(rest.subscriptions ?? []), record];
  const counted = changed({ ...rest, subscriptions }, ids, (known) => ({
    ...known,
    subscriber_count: record.subscriber_count,
  }));
  return {
    ...(rest.unsubscribed === undefined ? {} : { unsubscribed: rest.unsubscribed }),
    ...(rest.never_subscribed === undefined ? {} : { never_subscribed: rest.never_subscribed }),
    subscriptions,
    appeared,
    ...counted,
  };
}

function left(state: ChatState, channelId: number): Changes {
  const record = state.subscriptions?.find(({ stream_id: id }) => id === channelId);
  // A replay may report the end of a subscription whose start the user may no longer see.
  if (record === undefined) return noChange;
  const moved = {
    subscriptions: (state.subscriptions ?? []).filter((one) => one !== record),
    unsubscribed: [...(state.unsubscribed ?? []), record],
  };
  return { ...moved, ...peers({ ...state, ...moved }, [channelId], false, [state.user_id ?? 0]) };
}

function peers(
  state: ChatState,
  channelIds: readonly number[],
  isJoining: boolean,
  userIds: readonly number[],
): Changes {
  return changed(state, new Set(channelIds), (record) => {
    const count = record.subscriber_count + (isJoining ? userIds.length : -userIds.length);
    const { subscribers: known } = record;
    if (known === undefined) return { ...record, subscriber_count: count };
    const subscribers = isJoining ? united(known, userIds) : known.filter((id) => !userIds.includes(id));
    return { ...record, subscriber_count: count, subscribers };
  });
}

/** Applies one change after the other. */
function each<T>(state: ChatState, items: readonly T[], step: (state: ChatState, item: T) => Changes): Changes {
  let all: Changes = {};
  for (const item of items) all = { ...all, ...step({ ...state, ...all }, item) };
  return all;
}

export const channelReducers: Reducers = {
  subscription: (state, event) => {
    switch (event.op) {
      case "add":
        return each(state, event.subscriptions, joined);
      case "remove":
        return each(state, event.subscriptions, (now, { stream_id: id }) => left(now, id));
      case "peer_add":
      case "peer_remove":
        return peers(state, event.stream_ids, event.op === "peer_add", event.user_ids);
      case "update": {
        const next: Lists = {};
        for (const name of lists) {
          next[name] = listOf(state, name).map((record) =>
            record.stream_id === event.stream_id ? { ...record, [event.property]: event.value } : record,
          );
        }
        return next as Changes;
      }
      default:
        return event satisfies never;
    }
  },
  stream: (state, event, { includesSubscribers }) => {
    switch (event.op) {
      case "create": {
        const known = allLists.flatMap((name) => listOf(state, name));
        const twice = event.streams.find(({ stream_id: id }) => known.some((record) => record.stream_id === id));
        if (twice !== undefined) throw new Error(`channel ${twice.stream_id} created twice`);
        const subscribers = includesSubscribers ? { subscribers: [] } : {};
        return {
          appeared: new Set([...state.appeared, ...event.streams.map(({ stream_id: id }) => id)]),
          streams: [...(state.streams ?? []), ...event.streams],
          never_subscribed: [
            ...(state.never_subscribed ?? []),
            ...event.streams.map((record) => ({ ...record, ...subscribers })),
          ],
        };
      }
      case "update": {
        // Some properties change together with others; the event has the channel's former name.
        const { type: _type, op: _op, id: _id, stream_id: channelId, name: _before, property, value, ...more } = event;
        return changed(state, new Set([channelId]), (record) => ({ ...record, ...more, [property]: value }));
      }
      case "delete":
        return dropped(state, allLists, new Set(event.stream_ids));
      default:
        return event satisfies never;
    }
  },
  default_streams: (_state, event) => ({ realm_default_streams: event.default_streams }),
};

/** Removes a deactivated user from the permissions of all channels. */
export function withoutMember(state: ChatState, dropFrom: <T extends object>(record: T) => T): Changes {
  const next: Lists = {};
  for (const name of allLists) {
    if (state[name] !== undefined) next[name] = listOf(state, name).map(dropFrom);
  }
  return next as Changes;
}
