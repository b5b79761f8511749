/** The messages of one realm in its stream: what a journal and its readers need of JetStream. */
import type { StoredMsg } from "@nats-io/jetstream";
import { limits } from "../../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import type { StreamMessage } from "./log-chain.ts";
import { requested } from "./request.ts";
import type { Streams } from "./streams.ts";

export type Appended =
  /** It is on a majority of the servers, flushed. */
  | { readonly kind: "stored"; readonly sequence: number }
  /** The last message is another one. A hint only: a server that just became the leader may not know all of them. */
  | { readonly kind: "refused" }
  /** It may be stored or not. */
  | { readonly kind: "unknown"; readonly error: unknown };

const wrongLastSequence = 10071;

export class RealmLog {
  readonly realmId: number;
  readonly #nats: Nats;
  readonly #stream: string;
  readonly #subject: string;

  constructor(nats: Nats, streams: Streams, realmId: number) {
    this.realmId = realmId;
    this.#nats = nats;
    this.#stream = streams.nameOf(realmId);
    this.#subject = streams.subjectOf(realmId);
  }

  /** @param after the number of the message that must be the last one. @param id the same for each attempt */
  async append(message: Uint8Array, after: number, id: string): Promise<Appended> {
    await this.#nats.onceConnected();
    try {
      const { seq } = await this.#nats.jetStream.publish(this.#subject, message, {
        msgID: `${this.realmId}-${id}`,
        expect: { lastSubjectSequence: after },
        timeout: limits.cluster_acknowledgement_ms_max,
      });
      return { kind: "stored", sequence: seq };
    } catch (error) {
      return (error as { code?: unknown }).code === wrongLastSequence
        ? { kind: "refused" }
        : { kind: "unknown", error };
    }
  }

  /** The last message; null if there is none. */
  last(): Promise<StreamMessage | null> {
    return this.#get({ last_by_subj: this.#subject });
  }

  /** The first message from this number on. */
  next(from: number): Promise<StreamMessage | null> {
    return this.#get({ seq: Math.max(from, 1), next_by_subj: this.#subject });
  }

  async #get(query: { last_by_subj: string } | { seq: number; next_by_subj: string }): Promise<StreamMessage | null> {
    const found = await requested<StoredMsg | null>(this.#nats, () =>
      this.#nats.manager.streams.getMessage(this.#stream, query),
    );
    return found === null ? null : { sequence: found.seq, bytes: found.data };
  }

  /** Messages before this number may be forgotten. */
  async purge(before: number): Promise<void> {
    await requested(this.#nats, () =>
      this.#nats.manager.streams.purge(this.#stream, { filter: this.#subject, seq: before }),
    );
  }

  /** From a number on, up to another one, which must be there. */
  async *read(from: number, upTo: number): AsyncGenerator<StreamMessage> {
    for (let next = from; next <= upTo; ) {
      const message = await this.next(next);
      if (message === null || message.sequence > upTo) return;
      yield message;
      next = message.sequence + 1;
    }
  }
}
