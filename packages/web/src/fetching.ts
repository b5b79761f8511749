/** Fetches pages of messages into the store. */
import { client } from "./api.ts";
import { messagesOf, withPage } from "./state/message-lists.ts";
import { narrowKey, type Term } from "./state/narrow.ts";
import { messages, myId } from "./store.ts";

export const fetchLimits = {
  /** Messages around the place where a list opens, on either side. */
  opening_messages: 50,
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
export function openList(terms: readonly Term[], anchor: number | "first_unread" | "newest"): Promise<void> {
  const key = narrowKey(terms);
  return once(`${key} ${anchor}`, async () => {
    const page = await client.call("GET /messages", {
      ...common,
      anchor: String(anchor),
      num_before: fetchLimits.opening_messages,
      num_after: fetchLimits.opening_messages,
      narrow: terms,
    });
    messages.value = withPage(messages.peek(), { key, terms }, page, "around", myId.peek());
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
    messages.value = withPage(messages.peek(), { key, terms }, page, side, myId.peek());
  });
}

/** Fetches a list that somebody will probably open: the pointer rests on its link. */
export function prefetch(terms: readonly Term[]): void {
  const list = messages.peek().lists.get(narrowKey(terms));
  if (list !== undefined && !list.isStale) return;
  // Opening the list repeats it, and reports failures.
  openList(terms, "first_unread").catch(() => undefined);
}

export { messagesOf };
