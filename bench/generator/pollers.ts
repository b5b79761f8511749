// Long polls: one connection per queue, which polls again as soon as it has its response, as clients do. This file
// checks that event ids increase; the job processes the events.

import { type Address, HttpConnection } from "../lib/http-connection.ts";
import { buildRequest } from "../lib/http-request.ts";
import type { Response } from "../lib/http-response.ts";
import type { MixedJob } from "../lib/job.ts";
import { RECONNECTS_MAX } from "../lib/limits.ts";

export interface PolledEvent {
  readonly id: number;
  readonly type: string;
  readonly message?: { readonly content: string };
}

export interface PollerEvents {
  /** A poll of queue `index` was answered with 200. */
  onAnswer(now: number): void;
  onEvent(index: number, event: PolledEvent, now: number): void;
}

interface Poller {
  readonly index: number;
  readonly queue: MixedJob["queues"][number];
  connection: HttpConnection;
  lastEventId: number;
}

export class Pollers {
  readonly #address: Address;
  readonly #events: PollerEvents;
  readonly #pollers: Poller[];
  #isClosing = false;
  #broken = 0;
  #disordered = 0;
  #firstTrouble = "";

  constructor(address: Address, queues: MixedJob["queues"], events: PollerEvents) {
    this.#address = address;
    this.#events = events;
    this.#pollers = queues.map((queue, index) => {
      const poller: Omit<Poller, "connection"> = { index, queue, lastEventId: queue.lastEventId };
      // Connection and poller refer to each other. The poller is complete when `connect` returns.
      const whole = poller as Poller;
      whole.connection = this.#connect(whole);
      return whole;
    });
  }

  /** Polls that were not answered with 200 or lost their connection, and the first error. */
  get broken(): number {
    return this.#broken;
  }

  get firstTrouble(): string {
    return this.#firstTrouble;
  }

  /** Events whose id was not above the previous one. */
  get disordered(): number {
    return this.#disordered;
  }

  close(): void {
    this.#isClosing = true;
    for (const { connection } of this.#pollers) connection.close();
  }

  #connect(poller: Poller): HttpConnection {
    return new HttpConnection(
      this.#address,
      {
        onConnect: () => this.#poll(poller),
        onResponse: (response) => this.#onResponse(poller, response),
        onClose: (reason) => {
          if (this.#isClosing) return;
          this.#fail(reason);
          if (this.#broken < RECONNECTS_MAX) poller.connection = this.#connect(poller);
        },
      },
      { keepsBodies: true },
    );
  }

  #poll({ connection, queue, lastEventId }: Poller): void {
    const query = new URLSearchParams({ queue_id: queue.id, last_event_id: String(lastEventId) });
    const { host, port } = this.#address;
    const path = `/api/v1/events?${query}`;
    const parts = { method: "GET", path, authorization: queue.authorization, host: `${host}:${port}` } as const;
    connection.send(Buffer.from(buildRequest(parts), "latin1"));
  }

  /** A rejected queue is not polled again; the receipt tracker reports its missing events. */
  #onResponse(poller: Poller, response: Response): void {
    if (response.status !== 200) {
      this.#fail(`${response.status} ${response.failureBody}`);
      return;
    }
    const now = performance.now();
    this.#events.onAnswer(now);
    const { events } = JSON.parse(response.body ?? "") as { readonly events: readonly PolledEvent[] };
    for (const event of events) {
      if (event.id <= poller.lastEventId) this.#disordered += 1;
      poller.lastEventId = event.id;
      this.#events.onEvent(poller.index, event, now);
    }
    if (!this.#isClosing) this.#poll(poller);
  }

  #fail(trouble: string): void {
    this.#broken += 1;
    if (this.#firstTrouble === "") this.#firstTrouble = trouble;
  }
}
