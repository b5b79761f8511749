/** Clients that post to the channel `kitchen`, each one message after the other under keys, until they are told to end. */
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "../support/client.ts";

export class Posting {
  /** What was answered with 200. */
  readonly sent: string[] = [];
  /** Of the posts since this was set to 0. */
  longestMs = 0;
  readonly #pauseMs: number;
  readonly #posters: readonly Promise<void>[];
  #isOver = false;

  /** @param clients by the word that their messages begin with */
  constructor(clients: Readonly<Record<string, Client>>, pauseMs = 0) {
    this.#pauseMs = pauseMs;
    this.#posters = Object.entries(clients).map(([word, client]) => this.#post(word, client));
  }

  /** Rejects if a post was not answered with 200. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#posters);
  }

  async #post(word: string, client: Client): Promise<void> {
    for (let count = 0; !this.#isOver; count++) {
      const content = `${word} ${count}`;
      const begunAt = performance.now();
      const params = { type: "channel", to: "kitchen", topic: "soup", content };
      const { status } = await client.post("/messages", params, { "Idempotency-Key": content });
      this.longestMs = Math.max(this.longestMs, performance.now() - begunAt);
      if (status !== 200) throw new Error(`${content} was answered with ${status}`);
      this.sent.push(content);
      if (this.#pauseMs > 0) await wait(this.#pauseMs);
    }
  }
}
