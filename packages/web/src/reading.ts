/** Marks messages as read: at once on the page, and in batches at the server. */
import type { Message } from "../../client/src/api/index.ts";
import { ConnectionError, client } from "./api.ts";
import { complain } from "./notices.ts";
import { requestedTerms, type Term } from "./state/narrow.ts";
import { applyToStore, chat, connection, myId, reader, unread, unreadIds } from "./store.ts";

const batchMs = 400;
/** A request of this many ids is far below the limit of a body. */
const batchIdsMax = 1_000;

const waiting = new Set<number>();
/** On their way to the server. */
const sent = new Set<number>();
/** Marked as unread by the person: not read again by looking at them. */
const keptUnread = new Set<number>();
let isTimed = false;

/** The person has seen these messages. */
export function markSeen(ids: readonly number[]): void {
  const fresh = ids.filter((id) => !keptUnread.has(id) && !waiting.has(id) && unreadIds.peek().has(id));
  if (fresh.length === 0) return;
  for (const id of fresh) waiting.add(id);
  applyToStore({
    type: "update_message_flags",
    id: 0,
    op: "add",
    operation: "add",
    flag: "read",
    messages: fresh,
    all: false,
  });
  wait();
}

function wait(): void {
  if (!isTimed) setTimeout(flush, batchMs);
  isTimed = true;
}

async function flush(): Promise<void> {
  isTimed = false;
  // What was read offline is marked when the server is back.
  if (connection.peek().state !== "live") {
    wait();
    return;
  }
  const ids = [...waiting].slice(0, batchIdsMax);
  if (ids.length === 0) return;
  for (const id of ids) {
    waiting.delete(id);
    sent.add(id);
  }
  if (waiting.size > 0) wait();
  try {
    await client.call("POST /messages/flags", { flag: "read", op: "add", messages: ids });
  } catch (error) {
    if (!(error instanceof ConnectionError)) {
      complain("The messages were not marked as read", error);
      return;
    }
    for (const id of ids) waiting.add(id);
    wait();
  } finally {
    for (const id of ids) sent.delete(id);
  }
}

/**
 * A registration names only the newest unread messages if there are very many. Older ones are known as unread when they
 * are fetched: a list opens at them, and they can be read.
 */
export function noteOldUnread(fetched: readonly Message[]): void {
  if (chat.peek()?.unread_msgs?.old_unreads_missing !== true) return;
  const isKnown = ({ id, flags }: Message) =>
    flags.some((flag) => flag === "read" || flag === "historical") ||
    unreadIds.peek().has(id) ||
    waiting.has(id) ||
    sent.has(id);
  const old = fetched.filter((message) => !isKnown(message));
  if (old.length === 0) return;
  applyToStore({
    type: "update_message_flags",
    id: 0,
    op: "remove",
    operation: "remove",
    flag: "read",
    messages: old.map(({ id }) => id),
    all: false,
    message_details: Object.fromEntries(old.map((message) => [String(message.id), detailOf(message)])),
  });
}

function detailOf({ stream_id: channelId, subject, display_recipient: people, flags }: Message) {
  const mentioned = flags.some((flag) => flag.endsWith("mentioned"));
  if (channelId !== undefined) return { type: "stream" as const, stream_id: channelId, topic: subject, mentioned };
  const ids = typeof people === "string" ? [] : people.map(({ id }) => id);
  return { type: "private" as const, user_ids: ids.filter((id) => id !== myId.peek()), mentioned };
}

/** Everything from a message on is unread again, in its narrow. */
export async function markUnreadFrom(id: number, terms: readonly Term[]): Promise<void> {
  const answer = await client.call("POST /messages/flags/narrow", {
    flag: "read",
    op: "remove",
    anchor: String(id),
    include_anchor: true,
    num_before: 0,
    num_after: 5_000,
    narrow: requestedTerms(terms, reader.peek()),
  });
  for (const ids of unread.peek().values()) for (const one of ids) if (one >= id) keptUnread.add(one);
  keptUnread.add(id);
  if (keptUnread.size > 20_000) keptUnread.clear();
  if (answer.updated_count === 0) return;
}

/** Another person has read nothing of it. */
export function forgetMarks(): void {
  waiting.clear();
  keptUnread.clear();
}

/** Looking at a place again reads it. */
export function forgetKeptUnread(): void {
  keptUnread.clear();
}
