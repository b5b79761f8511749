/**
 * Thousands of sockets, built on the bench's lightweight reader: each follows its own queue and keeps the ids of its
 * events and messages.
 */
import { WebSocketReceiver } from "../../bench/lib/websocket.ts";
import type { Client } from "./client.ts";

/** Both ends of every connection are in this process, so each socket needs two descriptors. */
export function lacksDescriptors(sockets: number): string | false {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  const needed = 2 * sockets + 200;
  if (typeof soft !== "number" || soft >= needed) return false;
  return `needs ${needed} file descriptors, and there are ${soft} (ulimit -n)`;
}

export class Receiver {
  readonly messageIds: number[] = [];
  /** false: an id was not higher than the previous one. */
  isAscending = true;
  queueId = "";
  lastEventId = -1;
  /** Why the last connection ended; null: it is open. */
  ended: string | null = null;
  readonly #client: Client;
  #connection: WebSocketReceiver | null = null;
  #replied: ((reply: Record<string, unknown>) => void) | null = null;
  #awaited: { readonly id: number; readonly done: () => void } | null = null;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Connects and resumes, or registers. */
  async open(): Promise<void> {
    const { hostname, port } = new URL(this.#client.url);
    this.ended = null;
    await new Promise<void>((opened, refused) => {
      this.#connection = new WebSocketReceiver(
        {
          address: { host: hostname, port: Number(port) },
          path: "/api/v1/events/ws",
          authorization: this.#client.authorization,
          localAddress: null,
        },
        {
          onOpen: opened,
          onText: (bytes, from, to) => this.#take(JSON.parse(bytes.toString("utf8", from, to))),
          onClose: (reason) => {
            this.ended = reason;
            refused(new Error(reason));
          },
        },
      );
    });
    const isNew = this.queueId === "";
    const reply = await this.#ask(
      isNew
        ? { type: "register", event_types: ["message"], fetch_event_types: [] }
        : { type: "resume", queue_id: this.queueId, last_event_id: this.lastEventId },
    );
    if (reply["result"] !== "success") throw new Error(JSON.stringify(reply));
    this.queueId = String(reply["queue_id"]);
    if (isNew) this.lastEventId = Number(reply["last_event_id"]);
  }

  #ask(frame: Record<string, unknown>): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      this.#replied = resolve;
      this.#connection?.sendText(JSON.stringify({ ...frame, ref: "r" }));
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: frames have any shape that the server sends
  #take(frame: any): void {
    if (frame.ref === "r") this.#replied?.(frame);
    for (const event of frame.type === "event" ? [frame.event] : (frame.events ?? [])) {
      if (event.id <= this.lastEventId) this.isAscending = false;
      this.lastEventId = event.id;
      if (event.type !== "message") continue;
      this.messageIds.push(event.message.id);
      const awaited = this.#awaited;
      if (event.message.id === awaited?.id) awaited?.done();
    }
  }

  /** Resolves when it has the message, or when its connection has ended. */
  got(id: number): Promise<void> {
    if (this.messageIds.includes(id)) return Promise.resolve();
    return new Promise((done) => {
      this.#awaited = { id, done };
    });
  }

  drop(): void {
    this.#connection?.destroy();
  }
}

/** Receivers whose ids differ from these or are in another order; compares thousands of receivers in one assertion. */
export function mismatched(receivers: readonly Receiver[], ids: readonly number[]): unknown[] {
  const expected = ids.join();
  return receivers
    .filter((receiver) => !receiver.isAscending || receiver.messageIds.join() !== expected)
    .map(({ messageIds, isAscending, ended }) => ({ got: messageIds.length, isAscending, ended }));
}
