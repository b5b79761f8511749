/**
 * Finds the organizations that have messages in the streams, and those with more since the last look, with one question
 * for each stream.
 */
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";
import type { Streams } from "./streams.ts";

export class StreamNews {
  readonly #nats: Nats;
  readonly #streams: Streams;
  /** The last message of each stream at the last look. */
  readonly #lastOf = new Map<string, number>();
  /** How many messages each organization had. */
  readonly #countOf = new Map<number, number>();

  constructor(nats: Nats, streams: Streams) {
    this.#nats = nats;
    this.#streams = streams;
  }

  /** The ids of organizations whose number of messages has changed. */
  async changed(): Promise<number[]> {
    const changed: number[] = [];
    for (const { name, subjects } of this.#streams.all) {
      const { state } = await requested(this.#nats, () => this.#nats.manager.streams.info(name));
      if (state.last_seq === this.#lastOf.get(name)) continue;
      for (const [id, count] of await countsIn(this.#nats, name, subjects)) {
        if (this.#countOf.get(id) === count) continue;
        this.#countOf.set(id, count);
        changed.push(id);
      }
      this.#lastOf.set(name, state.last_seq);
    }
    return changed;
  }
}

/** The organizations that have messages. */
export async function realmIdsIn(nats: Nats, streams: Streams): Promise<number[]> {
  const ids: number[] = [];
  for (const { name, subjects } of streams.all) ids.push(...(await countsIn(nats, name, subjects)).keys());
  return ids;
}

async function countsIn(nats: Nats, stream: string, subjects: string): Promise<Map<number, number>> {
  const { state } = await requested(nats, () => nats.manager.streams.info(stream, { subjects_filter: subjects }));
  const counts = Object.entries(state.subjects ?? {}) as [string, number][];
  return new Map(counts.map(([subject, count]) => [Number(subject.split(".")[2]), count]));
}
