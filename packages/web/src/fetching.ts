/** Fetches pages of messages into the store. */
import { batch } from "@preact/signals";
import { channelKey, directKey } from "../../client/src/state/index.ts";
import { client } from "./api.ts";
import { replacePlace } from "./navigation.ts";
import { noteOldUnread } from "./reading.ts";
import {
  applyToMessages,
  type FetchedPage,
  messagesOf,
  type Recording,
  type Side,
  withPage,
} from "./state/message-lists.ts";
import {
  channelOf,
  directOf,
  isConversation,
  memberOf,
  movedTerms,
  narrowKey,
  requestedTerms,
  type Term,
  topicOf,
} from "./state/narrow.ts";
import { messages, myId, place, reader, recordEvents, unread } from "./store.ts";

export const fetchLimits = {
  /** Messages around the place where a list opens, on either side. */
  opening_messages: 50,
  /** Messages of a list that will probably be opened. */
  prefetched_messages: 100,
  /** Messages of a further page: few, because all of them are rendered in one frame. */
  page_messages: 40,
} as const;

const running = new Map<string, Promise<void>>();

/** One request for the same page at a time. */
function once(name: string, run: () => Promise<void>): Promise<void> {
  const known = running.get(name);
  if (known !== undefined) return known;
  const promise = run().finally(() => running.delete(name));
  running.set(name, promise);
  return promise;
}

type Anchor = number | "first_unread" | "newest";

/** Where each list that is on its way was asked to open last. Answers for other places come too late. */
const wanted = new Map<string, Anchor>();

interface Range {
  readonly anchor: Anchor;
  readonly before: number;
  readonly after: number;
}

interface PageRequest {
  readonly terms: readonly Term[];
  readonly range: Range;
  readonly side: Side;
  /** Whether the page is still of use. */
  readonly isWanted: () => boolean;
  /** A message of the topic, which the place follows if the topic is elsewhere now. */
  readonly member: number | null;
}

/** Fetches a page and takes it, with the events that came meanwhile, until it lacks none. */
async function fetchPage({ terms, range, side, isWanted, member }: PageRequest): Promise<void> {
  const isFollowing = member !== null && topicOf(terms) !== null && isConversation(terms);
  for (;;) {
    const [recording, stop] = recordEvents();
    const requested = requestedTerms(terms, reader.peek());
    const page = await client
      .call("GET /messages", {
        client_gravatar: false,
        allow_empty_topic_name: true,
        anchor: String(range.anchor),
        include_anchor: side === "around",
        num_before: range.before,
        num_after: range.after,
        narrow: isFollowing ? [...requested, { operator: "with", operand: member }] : requested,
      })
      .finally(stop);
    if (!isWanted()) return;
    if (!recording.isWhole) continue;
    const [first] = page.messages;
    const isTopic = isFollowing && first?.stream_id !== undefined;
    const found = isTopic ? movedTerms(terms, first.stream_id, first.subject) : terms;
    batch(() => {
      take(found, page, side, recording);
      if (isFollowing) followTo(terms, found, member);
    });
    if (side !== "around" || messages.peek().lists.get(narrowKey(found))?.isStale !== true) return;
  }
}

/** The place that asked for a message's topic has the address where the topic is. */
function followTo(terms: readonly Term[], found: readonly Term[], member: number): void {
  const now = place.peek();
  const key = narrowKey(terms);
  const isHere = now.kind === "narrow" && narrowKey(now.terms) === key && memberOf(now) === member;
  if (isHere && narrowKey(found) !== key) replacePlace({ ...now, terms: found });
}

function take(terms: readonly Term[], page: FetchedPage, side: Side, { events }: Recording): void {
  batch(() => {
    let next = withPage(messages.peek(), { key: narrowKey(terms), terms }, page, side, reader.peek());
    // New messages are there already. A change that the page has, too, may be repeated.
    for (const event of events) if (event.type !== "message") next = applyToMessages(next, event, reader.peek());
    messages.value = next;
    noteOldUnread(page.messages.flatMap(({ id }) => next.byId.get(id) ?? []));
  });
}

/**
 * @param anchor a message, or where to open: at the first unread message, or at the end
 * @param member a message of the topic: if it is elsewhere now, the place follows it there
 */
export function openList(
  terms: readonly Term[],
  anchor: Anchor,
  before: number = fetchLimits.opening_messages,
  after: number = fetchLimits.opening_messages,
  member: number | null = null,
): Promise<void> {
  const key = narrowKey(terms);
  wanted.set(key, anchor);
  const isWanted = () => wanted.get(key) === anchor;
  return once(`${key} ${anchor} ${member}`, () =>
    fetchPage({ terms, range: { anchor, before, after }, side: "around", isWanted, member }).finally(() => {
      if (isWanted()) wanted.delete(key);
    }),
  );
}

export function extendList(terms: readonly Term[], side: "older" | "newer"): Promise<void> {
  const key = narrowKey(terms);
  const edgeOf = () => {
    const list = messages.peek().lists.get(key);
    return side === "older" ? list?.ids[0] : list?.ids.at(-1);
  };
  const edge = edgeOf();
  if (edge === undefined) return Promise.resolve();
  const { page_messages: count } = fetchLimits;
  const range = { anchor: edge, before: side === "older" ? count : 0, after: side === "newer" ? count : 0 };
  const isWanted = () => edgeOf() === edge;
  return once(`${key} ${side} ${edge}`, () => fetchPage({ terms, range, side, isWanted, member: null }));
}

/** How many of the prefetched messages follow the first unread one: as many as are unread, and some before it. */
function messagesAfter(terms: readonly Term[]): number {
  if (!isConversation(terms)) return fetchLimits.opening_messages;
  const channelId = channelOf(terms);
  const key =
    channelId === null
      ? directKey((directOf(terms) ?? []).filter((id) => id !== myId.peek()))
      : channelKey(channelId, topicOf(terms) ?? "");
  const count = unread.peek().get(key)?.length ?? 0;
  // Messages that were read on another device may be among the unread ones.
  return count === 0 ? 0 : Math.min(80, count + 20);
}

/** Fetches a list that somebody will probably open: the pointer rests on its link. */
export function prefetch(terms: readonly Term[]): void {
  const key = narrowKey(terms);
  const list = messages.peek().lists.get(key);
  if ((list !== undefined && !list.isStale) || wanted.has(key)) return;
  const after = messagesAfter(terms);
  // The first unread message is one of them.
  const before = fetchLimits.prefetched_messages - (after === 0 ? 0 : after + 1);
  // Opening the list repeats it, and reports failures.
  openList(terms, "first_unread", before, after).catch(() => undefined);
}

export { messagesOf };
