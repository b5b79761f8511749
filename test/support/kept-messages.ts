/** What a client finds after a start: every message, and the events of its earlier queue. */
import type { Client } from "./client.ts";

export interface Stored {
  readonly id: number;
  readonly content: string;
}

/** Every message that the client can read, in order, as Markdown. @param after only those with higher ids */
export async function everything(client: Client, after = 0): Promise<Stored[]> {
  const found: Stored[] = [];
  for (let anchor = after; ; anchor = found.at(-1)?.id ?? after) {
    const { body } = await client.get("/messages", {
      anchor: String(anchor),
      include_anchor: false,
      num_before: 0,
      num_after: 1000,
      apply_markdown: false,
    });
    found.push(...(body.messages as Stored[]));
    if (body.found_newest === true) return found;
  }
}

export interface ReadQueue {
  /** Ids of messages in the queue's events, in order. */
  readonly messageIds: number[];
  readonly eventIds: number[];
}

/** All events of a queue; null if the queue is gone. */
export async function readQueue(client: Client, queueId: string, lastEventId: number): Promise<ReadQueue | null> {
  const messageIds: number[] = [];
  const eventIds: number[] = [];
  for (let last = lastEventId; ; last = eventIds.at(-1) ?? last) {
    const { body } = await client.get("/events", { queue_id: queueId, last_event_id: last, dont_block: true });
    if (body.result !== "success") return null;
    const events = body.events as { id: number; type: string; message?: { id: number } }[];
    if (events.length === 0) return { messageIds, eventIds };
    eventIds.push(...events.map(({ id }) => id));
    messageIds.push(...events.flatMap(({ message }) => (message === undefined ? [] : [message.id])));
  }
}

export function ascends(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}
