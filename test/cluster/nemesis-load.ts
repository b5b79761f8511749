/** What clients of a cluster do while parts of it fail, and what they must never see. */
import { setTimeout as wait } from "node:timers/promises";
import type { Client, Queue } from "../support/client.ts";

const lanes = 6;
const requestMsMax = 20_000;
const pauseMs = 20;
/** How long a cluster may take until it is well again after a fault. */
export const settleMsMax = 60_000;

/** Calls nodes at random, and the next one when one does not answer. */
export class NemesisLoad {
  /** Contents of posts by the ids under which they were acknowledged. */
  readonly acknowledged = new Map<number, string>();
  readonly violations: string[] = [];
  readonly #clients: readonly Client[];
  readonly #random: () => number;
  #isRunning = false;
  #working: Promise<unknown> = Promise.resolve();
  #posts = 0;
  #giveUpAt = Number.POSITIVE_INFINITY;

  constructor(clients: readonly Client[], random: () => number) {
    this.#clients = clients;
    this.#random = random;
  }

  start(): void {
    this.#isRunning = true;
    this.#giveUpAt = Number.POSITIVE_INFINITY;
    this.#working = Promise.all(Array.from({ length: lanes }, (_, lane) => this.#post(lane)));
  }

  /** Resolves when every post is acknowledged. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#giveUpAt = performance.now() + settleMsMax;
    await this.#working;
  }

  #client(): Client {
    return this.#clients[Math.floor(this.#random() * this.#clients.length)] as Client;
  }

  async #post(lane: number): Promise<void> {
    while (this.#isRunning) {
      const content = `post ${++this.#posts}`;
      const id = await this.#send(content, lane);
      if (id === null) return;
      const before = this.acknowledged.get(id);
      if (before !== undefined) this.violations.push(`${before} and ${content} were acknowledged as message ${id}`);
      this.acknowledged.set(id, content);
      await this.#read(id);
    }
  }

  /** Repeats it under the same key until it is acknowledged (D25). */
  async #send(content: string, lane: number): Promise<number | null> {
    const params = { type: "channel", to: "kitchen", topic: `lane ${lane}`, content };
    for (;;) {
      const answer = await bounded(this.#client().post("/messages", params, { "Idempotency-Key": content }));
      if (answer?.status === 200) return answer.body.id as number;
      if (answer !== null && answer.status < 500 && answer.status !== 429) {
        this.violations.push(`${content} got ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      if (performance.now() > this.#giveUpAt) {
        this.violations.push(`${content} is not acknowledged, although everything is well again`);
        return null;
      }
      await wait(pauseMs);
    }
  }

  /** Whichever node answers: what was acknowledged is there (a stale owner would not have it). */
  async #read(id: number): Promise<void> {
    const client = this.#client();
    const answer = await bounded(client.get(`/messages/${id}`));
    if (answer === null || answer.status === 200 || answer.status >= 500) return;
    this.violations.push(`${client.url} does not have message ${id}, which was acknowledged: ${answer.status}`);
  }
}

/** @returns null if there is no answer */
export async function bounded<T>(answer: Promise<T>): Promise<T | null> {
  const late = new AbortController();
  const silence = wait(requestMsMax, null, { signal: late.signal }).catch(() => null);
  try {
    return await Promise.race([answer.catch(() => null), silence]);
  } finally {
    late.abort();
  }
}

/** A client that follows its queue by long polls, at whichever node answers. */
export class NemesisReader {
  /** Messages in the order of their events. */
  readonly received: { readonly id: number; readonly content: string }[] = [];
  readonly violations: string[] = [];
  readonly #clients: readonly Client[];
  #isRunning = true;

  private constructor(clients: readonly Client[]) {
    this.#clients = clients;
  }

  static start(clients: readonly Client[], { queue_id, last_event_id }: Queue): NemesisReader {
    const reader = new NemesisReader(clients);
    void reader.#follow(queue_id, last_event_id);
    return reader;
  }

  stop(): void {
    this.#isRunning = false;
  }

  async #follow(queue_id: string, first: number): Promise<void> {
    for (let last_event_id = first, turn = 0; this.#isRunning; ) {
      const client = this.#clients[turn % this.#clients.length] as Client;
      const answer = await bounded(client.get("/events", { queue_id, last_event_id }));
      if (answer?.status !== 200) {
        if (answer !== null && answer.status < 500) {
          this.violations.push(`a queue got ${answer.status} ${JSON.stringify(answer.body)}`);
          return;
        }
        turn++;
        await wait(pauseMs);
        continue;
      }
      for (const event of answer.body.events as { id: number; message?: { id: number; content: string } }[]) {
        if (event.id <= last_event_id) this.violations.push(`event ${event.id} came after ${last_event_id}`);
        last_event_id = event.id;
        if (event.message !== undefined) this.received.push({ id: event.message.id, content: event.message.content });
      }
    }
  }
}
