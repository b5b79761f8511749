/**
 * The messages that the page has, and the lists that it shows of them: a pure reducer over fetched pages and events. A
 * list is a window without holes; what lies beyond its ends is fetched when somebody scrolls there.
 */
import type { Events, Message } from "../../../client/src/api/index.ts";
import {
  channelOf,
  dependsOnMuting,
  type Matcher,
  matcherFor,
  movedTerms,
  narrowKey,
  type Reader,
  type Term,
  topicOf,
} from "./narrow.ts";

export const messageLimits = {
  /** Lists that are kept besides the visible one. */
  lists_max: 30,
  /** Messages of a list, all of which are rendered; more are dropped at the end that is farther away. */
  list_messages_max: 400,
  /** The same for a list that grows by new messages while nobody scrolls; beyond it the oldest are dropped. */
  list_grown_messages_max: 800,
  /** Messages of events that are kept for pages that were on their way meanwhile. */
  recent_messages_max: 200,
  /** Events that are kept for a page that is on its way; after more the page is fetched again. */
  recorded_events_max: 1_000,
} as const;

export interface MessageList {
  readonly key: string;
  readonly terms: readonly Term[];
  readonly ids: readonly number[];
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
  /** Where the list was opened. */
  readonly anchor: number | null;
  /** Events were missed, or a move brought messages that are not here: it must be fetched again. */
  readonly isStale: boolean;
}

export interface MessageStore {
  readonly byId: ReadonlyMap<number, Message>;
  readonly lists: ReadonlyMap<string, MessageList>;
  /** The last messages that arrived as events, ascending. */
  readonly recent: readonly Message[];
}

export const noMessages: MessageStore = { byId: new Map(), lists: new Map(), recent: [] };

export interface FetchedPage {
  readonly messages: readonly Message[];
  readonly anchor?: number;
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
}

/** `around`: the page replaces the list. `older`, `newer`: it continues the list from the message of its anchor. */
export type Side = "around" | "older" | "newer";

export function withPage(
  store: MessageStore,
  { key, terms }: Pick<MessageList, "key" | "terms">,
  page: FetchedPage,
  side: Side,
  reader: Reader,
): MessageStore {
  const fetched = page.messages.map(({ id }) => id);
  const known = store.lists.get(key);
  let list: MessageList;
  if (side === "around") {
    const ends = { foundOldest: page.found_oldest, foundNewest: page.found_newest };
    list = { key, terms, ids: fetched, ...ends, anchor: page.anchor ?? null, isStale: false };
  } else {
    // The list may have been replaced or cut meanwhile: a page that does not begin at its end would leave a hole.
    const edge = side === "older" ? known?.ids[0] : known?.ids.at(-1);
    if (known === undefined || edge !== page.anchor) return store;
    list = continued(known, page, fetched, side);
  }
  const byId = new Map(store.byId);
  for (const message of page.messages) byId.set(message.id, message);
  if (list.foundNewest) {
    // Events may overtake the page that was fetched before them.
    const matches = matcherFor(terms, reader);
    const last = list.ids.at(-1) ?? 0;
    const overtaken = store.recent.filter((message) => message.id > last && matches?.(message) === true);
    for (const message of overtaken) if (!byId.has(message.id)) byId.set(message.id, message);
    list = { ...list, ids: [...list.ids, ...overtaken.map(({ id }) => id)] };
  }
  // The newest list is the last one.
  const lists = new Map(store.lists);
  lists.delete(key);
  lists.set(key, list);
  return bounded({ ...store, byId, lists });
}

function continued(known: MessageList, page: FetchedPage, fetched: readonly number[], side: Side): MessageList {
  const isOlder = side === "older";
  const merged = [...new Set([...known.ids, ...fetched])].sort((a, b) => a - b);
  const { list_messages_max: most } = messageLimits;
  const cut = merged.length > most;
  return {
    ...known,
    ids: cut ? (isOlder ? merged.slice(0, most) : merged.slice(-most)) : merged,
    foundOldest: isOlder ? page.found_oldest : known.foundOldest && !cut,
    foundNewest: isOlder ? known.foundNewest && !cut : page.found_newest,
  };
}

/** Messages that no list shows are dropped when there are so many that looking for them is worth it. */
const unusedMax = 1_000;

/** Drops the oldest lists, and the messages that no list shows. */
function bounded(store: MessageStore): MessageStore {
  const shown = [...store.lists.values()].reduce((sum, { ids }) => sum + ids.length, 0);
  if (store.lists.size <= messageLimits.lists_max && store.byId.size <= shown + unusedMax) return store;
  const lists = new Map([...store.lists].slice(-messageLimits.lists_max));
  const used = new Set([...lists.values()].flatMap(({ ids }) => ids));
  return { ...store, lists, byId: new Map([...store.byId].filter(([id]) => used.has(id))) };
}

/** All lists must be fetched again, for example because events were lost. What they have stays visible. */
export function markedStale(store: MessageStore): MessageStore {
  return { ...store, lists: new Map([...store.lists].map(([key, list]) => [key, { ...list, isStale: true }])) };
}

function changedLists(store: MessageStore, change: (list: MessageList) => MessageList): MessageStore["lists"] {
  let lists: Map<string, MessageList> | null = null;
  for (const [key, list] of store.lists) {
    const next = change(list);
    if (next === list) continue;
    lists ??= new Map(store.lists);
    lists.set(key, next);
  }
  return lists ?? store.lists;
}

function changedMessages(
  store: MessageStore,
  ids: readonly number[],
  change: (message: Message) => Message,
): MessageStore["byId"] {
  let byId: Map<number, Message> | null = null;
  for (const id of ids) {
    const message = store.byId.get(id);
    if (message === undefined) continue;
    byId ??= new Map(store.byId);
    byId.set(id, change(message));
  }
  return byId ?? store.byId;
}

function withNew(store: MessageStore, event: Events["message"], reader: Reader): MessageStore {
  const message = { ...event.message, flags: event.flags } as Message;
  const belongs = (list: MessageList) =>
    list.foundNewest && (list.ids.at(-1) ?? 0) < message.id && matcherFor(list.terms, reader)?.(message) === true;
  const lists = changedLists(store, (list) => (belongs(list) ? grown(list, message.id) : list));
  const recent = [...store.recent, message].slice(-messageLimits.recent_messages_max);
  // A message that no list shows is fetched when it is needed.
  const byId = lists === store.lists ? store.byId : new Map(store.byId).set(message.id, message);
  return { lists, byId, recent };
}

function grown(list: MessageList, id: number): MessageList {
  if (list.ids.length < messageLimits.list_grown_messages_max) return { ...list, ids: [...list.ids, id] };
  // Recent conversations are not shown by their messages.
  const isRendered = list.terms[0]?.operator !== "in";
  const most = isRendered ? messageLimits.list_messages_max : messageLimits.list_grown_messages_max;
  return { ...list, ids: [...list.ids.slice(1 - most), id], foundOldest: false };
}

function withUpdate(store: MessageStore, event: Events["update_message"], reader: Reader): MessageStore {
  let next = store;
  const { rendered_content: content, orig_subject: before, new_stream_id: newChannelId, subject } = event;
  if (content !== undefined) {
    const edited = event.rendering_only ? {} : { last_edit_timestamp: event.edit_timestamp };
    const byId = changedMessages(next, [event.message_id], (message) => ({ ...message, content, ...edited }));
    next = { ...next, byId };
  }
  if (before === undefined) return next;
  const place = {
    ...(subject === undefined ? {} : { subject }),
    ...(newChannelId === undefined ? {} : { stream_id: newChannelId }),
    ...(event.topic_links === undefined ? {} : { topic_links: event.topic_links }),
    last_moved_timestamp: event.edit_timestamp,
  };
  const byId = changedMessages(next, event.message_ids, (message) => ({ ...message, ...place }));
  if (event.propagate_mode === "change_all") next = { ...next, lists: withRenamed(next.lists, event) };
  const lists = changedLists(next, (list) => moved(list, event, byId, reader));
  return { byId, lists, recent: next.recent.filter(({ id }) => !event.message_ids.includes(id)) };
}

/** A list of a topic that is renamed or moved as a whole keeps its messages, and is fetched again under its new name. */
function withRenamed(lists: MessageStore["lists"], event: Events["update_message"]): MessageStore["lists"] {
  const { stream_id: channelId = 0, orig_subject: before = "", subject = before } = event;
  const next = new Map(lists);
  for (const [key, list] of lists) {
    const isHere = channelOf(list.terms) === channelId && topicOf(list.terms)?.toLowerCase() === before.toLowerCase();
    if (!isHere) continue;
    const terms = movedTerms(list.terms, event.new_stream_id ?? channelId, subject);
    next.delete(key);
    const there = next.get(narrowKey(terms)) ?? { ...list, key: narrowKey(terms), terms };
    next.set(there.key, { ...joined(there, list), isStale: true });
  }
  return next;
}

/** Somebody may be reading either list. Until it is fetched again, the one that was there has the rows of both. */
function joined(there: MessageList, moved: MessageList): MessageList {
  const ids = [...new Set([...there.ids, ...moved.ids])].sort((a, b) => a - b);
  if (ids.length > messageLimits.list_grown_messages_max) return there;
  // Beyond an end that one list has not found, messages of its topic may be missing between those of the other.
  const foundOldest = there.foundOldest && moved.foundOldest;
  return { ...there, ids, foundOldest, foundNewest: there.foundNewest && moved.foundNewest };
}

/** Moved messages leave the lists of their former place. Lists of the new one are fetched again. */
function moved(
  list: MessageList,
  event: Events["update_message"],
  byId: MessageStore["byId"],
  reader: Reader,
): MessageList {
  const matches = matcherFor(list.terms, reader);
  if (matches === null) return list;
  const isMoved = new Set(event.message_ids);
  const stays = (id: number) => {
    const message = byId.get(id);
    return !isMoved.has(id) || message === undefined || matches(message);
  };
  const ids = list.ids.filter(stays);
  const channelId = event.new_stream_id ?? event.stream_id ?? 0;
  const subject = event.subject ?? event.orig_subject ?? "";
  const unknown = {
    ...({ id: 0, sender_id: 0, type: "stream", display_recipient: "", flags: [] } as const),
    ...{ stream_id: channelId, subject },
  };
  // Nothing says who sent a message that is not known here.
  const isBySender = list.terms.some(({ operator }) => operator === "sender") && channelOf(list.terms) === channelId;
  const arrives = (id: number) => matches(byId.get(id) ?? unknown) || (isBySender && !byId.has(id));
  const mayArrive = event.message_ids.some((id) => !list.ids.includes(id) && arrives(id));
  if (ids.length === list.ids.length && !mayArrive) return list;
  return { ...list, ids, isStale: list.isStale || mayArrive };
}

function withoutMessages(store: MessageStore, ids: readonly number[]): MessageStore {
  const gone = new Set(ids);
  const byId = new Map(store.byId);
  for (const id of ids) byId.delete(id);
  const lists = changedLists(store, (list) => {
    const rest = list.ids.filter((id) => !gone.has(id));
    return rest.length === list.ids.length ? list : { ...list, ids: rest };
  });
  return { byId, lists, recent: store.recent.filter(({ id }) => !gone.has(id)) };
}

function withFlags(store: MessageStore, event: Events["update_message_flags"]): MessageStore {
  const { flag, op } = event;
  const ids = event.op === "add" && event.all ? [...store.byId.keys()] : event.messages;
  const byId = changedMessages(store, ids, (message) => {
    if (message.flags.includes(flag) === (op === "add")) return message;
    const others = message.flags.filter((one) => one !== flag);
    return { ...message, flags: op === "add" ? [...others, flag] : others };
  });
  const isBrought = (list: MessageList) =>
    flag === "starred" &&
    op === "add" &&
    list.terms.some(({ operator, operand }) => operator === "is" && operand === "starred") &&
    ids.some((id) => !list.ids.includes(id));
  const lists = changedLists(store, (list) => (isBrought(list) ? { ...list, isStale: true } : list));
  return { ...store, byId, lists };
}

function withReaction(store: MessageStore, event: Events["reaction"]): MessageStore {
  const { emoji_code, emoji_name, reaction_type, user_id } = event;
  const isSame = (one: Message["reactions"][number]) =>
    one.emoji_code === emoji_code && one.reaction_type === reaction_type && one.user_id === user_id;
  const byId = changedMessages(store, [event.message_id], (message) => {
    const others = message.reactions.filter((one) => !isSame(one));
    if (event.op === "remove") return { ...message, reactions: others };
    // Adding twice keeps the first place.
    if (others.length < message.reactions.length) return message;
    return { ...message, reactions: [...others, { emoji_code, emoji_name, reaction_type, user_id }] };
  });
  return { ...store, byId };
}

function withSubmessage(store: MessageStore, event: Events["submessage"]): MessageStore {
  const { submessage_id: id, message_id, sender_id, msg_type, content } = event;
  const byId = changedMessages(store, [message_id], (message) => {
    if (message.submessages.some((one) => one.id === id)) return message;
    return { ...message, submessages: [...message.submessages, { id, message_id, sender_id, msg_type, content }] };
  });
  return { ...store, byId };
}

/** Events since a page was asked for: it may show what was before them. */
export class Recording {
  readonly events: Events[keyof Events][] = [];
  /** If not, the page cannot be brought up to date. */
  isWhole = true;

  add(event: Events[keyof Events]): void {
    if (this.events.length < messageLimits.recorded_events_max) this.events.push(event);
    else this.isWhole = false;
  }
}

export function applyToMessages(store: MessageStore, event: Events[keyof Events], reader: Reader): MessageStore {
  switch (event.type) {
    case "message":
      return withNew(store, event, reader);
    case "update_message":
      return withUpdate(store, event, reader);
    case "delete_message":
      return withoutMessages(store, "message_ids" in event ? event.message_ids : [event.message_id]);
    case "update_message_flags":
      return withFlags(store, event);
    case "reaction":
      return withReaction(store, event);
    case "submessage":
      return withSubmessage(store, event);
    default:
      return store;
  }
}

export function withoutList(store: MessageStore, key: string): MessageStore {
  const lists = new Map(store.lists);
  lists.delete(key);
  return { ...store, lists };
}

/** What is muted now leaves the lists that hide it. What is not muted any more is fetched. */
export function remuted(store: MessageStore, reader: Reader): MessageStore {
  const lists = changedLists(store, (list) => {
    if (!dependsOnMuting(list.terms)) return list;
    const matches = matcherFor(list.terms, reader);
    const stays = (message: Message | undefined) => message === undefined || matches?.(message) !== false;
    return { ...list, ids: list.ids.filter((id) => stays(store.byId.get(id))), isStale: true };
  });
  return { ...store, lists };
}

/** The messages of a list. */
export function messagesOf(store: MessageStore, key: string): readonly Message[] {
  const list = store.lists.get(key);
  return list?.ids.flatMap((id) => store.byId.get(id) ?? []) ?? [];
}

export type { Matcher };
