/** Fetches pages of messages into the store. */
import { batch } from "@preact/signals";
import { channelKey, directKey } from "../../client/src/state/index.ts";
import { client } from "./api.ts";
import { noteOldUnread } from "./reading.ts";
import { type FetchedPage, messagesOf, type Side, withPage } from "./state/message-lists.ts";
import { channelOf, directOf, isConversation, narrowKey, type Term, topicOf } from "./state/narrow.ts";
import { messages, myId, unread } from "./store.ts";

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

const common = { client_gravatar: false, allow_empty_topic_name: true } as const;

/** @param anchor a message, or where to open: at the first unread message, or at the end */
export function openList(
  terms: readonly Term[],
  anchor: number | "first_unread" | "newest",
  before: number = fetchLimits.opening_messages,
  after: number = fetchLimits.opening_messages,
): Promise<void> {
  const key = narrowKey(terms);
  return once(`${key} ${anchor}`, async () => {
    const page = await client.call("GET /messages", {
      ...common,
      anchor: String(anchor),
      num_before: before,
      num_after: after,
      narrow: terms,
    });
    take(terms, page, "around");
  });
}

function take(terms: readonly Term[], page: FetchedPage, side: Side): void {
  batch(() => {
    messages.value = withPage(messages.peek(), { key: narrowKey(terms), terms }, page, side, myId.peek());
    noteOldUnread(page.messages);
  });
}

export function extendList(terms: readonly Term[], side: "older" | "newer"): Promise<void> {
  const key = narrowKey(terms);
  return once(`${key} ${side}`, async () => {
    const list = messages.peek().lists.get(key);
    const edge = side === "older" ? list?.ids[0] : list?.ids.at(-1);
    if (list === undefined || edge === undefined) return;
    const page = await client.call("GET /messages", {
      ...common,
      anchor: String(edge),
      include_anchor: false,
      num_before: side === "older" ? fetchLimits.page_messages : 0,
      num_after: side === "newer" ? fetchLimits.page_messages : 0,
      narrow: terms,
    });
    take(terms, page, side);
  });
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
  const list = messages.peek().lists.get(narrowKey(terms));
  if (list !== undefined && !list.isStale) return;
  const after = messagesAfter(terms);
  // The first unread message is one of them.
  const before = fetchLimits.prefetched_messages - (after === 0 ? 0 : after + 1);
  // Opening the list repeats it, and reports failures.
  openList(terms, "first_unread", before, after).catch(() => undefined);
}

export { messagesOf };
