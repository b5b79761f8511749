/**
 * Large things that all nodes need, in the object store of JetStream: snapshots of stores, and files. Each is a list of
 * chunks under a name that is used once. Writing waits for the acknowledgement of each chunk, reading for each chunk, so
 * one of them is in memory at a time. The library's own reader would take a whole object into memory when its consumer
 * is slow (pitfalls 6).
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ObjectInfo, ObjectStore } from "@nats-io/obj";
import { limits } from "../../../schemas/limits.ts";
import { ClusterSilent } from "./cluster-unusable.ts";
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";

export interface StoredObject {
  readonly name: string;
  readonly bytes: number;
  /** The hash of all bytes, base64url. */
  readonly sha256: string;
  /** When it was written, by the clock of the node that did. */
  readonly writtenAt: number;
}

/** It is not what was written. */
export class ObjectDamaged extends Error {
  override readonly name = "ObjectDamaged";
}

export class ObjectBucket {
  readonly #nats: Nats;
  readonly #store: ObjectStore;
  readonly #name: string;

  private constructor(nats: Nats, store: ObjectStore, name: string) {
    this.#nats = nats;
    this.#store = store;
    this.#name = name;
  }

  /** Creates the bucket if the cluster does not have it yet. */
  static async open(nats: Nats, name: string): Promise<ObjectBucket> {
    const { Objm, setSha256Backend } = await import("@nats-io/obj");
    setSha256Backend("native");
    const manager = new Objm(nats.jetStream);
    const { StorageType } = await import("@nats-io/jetstream");
    const options = { replicas: limits.cluster_replicas, storage: StorageType.File };
    return new ObjectBucket(nats, await requested(nats, () => manager.create(name, options)), name);
  }

  /**
   * Resolves when all of it is on a majority of the servers, flushed. Nothing of it is seen before.
   * @param source called again for another attempt
   * @throws ClusterSilent when the servers do not acknowledge it
   */
  async put(name: string, source: () => AsyncIterable<Uint8Array>): Promise<StoredObject> {
    for (let attempt = 1; ; attempt++) {
      await this.#nats.onceConnected();
      try {
        const options = { max_chunk_size: limits.cluster_object_chunk_bytes };
        const timeout = limits.cluster_object_ms_max;
        return storedOf(await this.#store.put({ name, options }, ReadableStream.from(source()), { timeout }));
      } catch (error) {
        if (attempt < limits.cluster_object_attempts_max) await wait(attempt * limits.cluster_retry_ms_max);
        else throw new ClusterSilent(`The NATS servers do not store ${name}: ${(error as Error).message}`);
      }
    }
  }

  /** @returns null if there is none */
  async find(name: string): Promise<StoredObject | null> {
    const info = await this.#info(name);
    return info === null ? null : storedOf(info);
  }

  /** The names of all complete objects. */
  async names(): Promise<string[]> {
    const prefix = `$O.${this.#name}.M.`;
    const options = { subjects_filter: `${prefix}>` };
    const { state } = await requested(this.#nats, () => this.#nats.manager.streams.info(this.#stream, options));
    const tokens = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
    return tokens.map((token) => Buffer.from(token, "base64url").toString());
  }

  /**
   * The bytes of an object, chunk by chunk.
   * @throws ObjectDamaged at its end at the latest, if it is not what was written, or is not there
   */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const info = await this.#info(name);
    if (info === null) throw new ObjectDamaged(`${name} is not there`);
    const hash = createHash("sha256");
    const subject = `$O.${this.#name}.C.${info.nuid}`;
    let bytes = 0;
    for (let chunk = 0, next = 1; chunk < info.chunks; chunk++) {
      const from = next;
      const message = await requested(this.#nats, () =>
        this.#nats.manager.streams.getMessage(this.#stream, after(from, subject)),
      );
      if (message === null) throw new ObjectDamaged(`${name} ends after ${bytes} of ${info.size} bytes`);
      next = message.seq + 1;
      bytes += message.data.length;
      hash.update(message.data);
      yield message.data;
    }
    if (bytes !== info.size || `SHA-256=${hash.digest("base64url")}` !== withoutPadding(info.digest)) {
      throw new ObjectDamaged(`${name} is not what was written: the hash differs`);
    }
  }

  /** Nothing of it is left. */
  async remove(name: string): Promise<void> {
    const info = await this.#info(name);
    if (info === null) return;
    await requested(this.#nats, () => this.#purge(`$O.${this.#name}.C.${info.nuid}`));
    await requested(this.#nats, () => this.#purge(`$O.${this.#name}.M.${tokenOf(name)}`));
  }

  /**
   * Removes the chunks of objects that were never finished: their writer died.
   * @param before those that are younger may still be written
   * @returns of how many objects
   */
  async removeUnfinished(before: number): Promise<number> {
    const prefix = `$O.${this.#name}.C.`;
    const options = { subjects_filter: `${prefix}>` };
    const { state } = await requested(this.#nats, () => this.#nats.manager.streams.info(this.#stream, options));
    // After the chunks: an object that is finished meanwhile is known.
    const finished = await this.#finished();
    let removed = 0;
    for (const subject of Object.keys(state.subjects ?? {})) {
      if (finished.has(subject.slice(prefix.length))) continue;
      const query = { last_by_subj: subject };
      const last = await requested(this.#nats, () => this.#nats.manager.streams.getMessage(this.#stream, query));
      if (last === null || last.time.getTime() >= before) continue;
      await requested(this.#nats, () => this.#purge(subject));
      removed++;
    }
    return removed;
  }

  /** The names of the chunks of complete objects. */
  async #finished(): Promise<Set<string>> {
    const found = new Set<string>();
    for (let from = 1; ; ) {
      const query = after(from, `$O.${this.#name}.M.>`);
      const message = await requested(this.#nats, () => this.#nats.manager.streams.getMessage(this.#stream, query));
      if (message === null) return found;
      found.add(message.json<ObjectInfo>().nuid);
      from = message.seq + 1;
    }
  }

  #purge(filter: string) {
    return this.#nats.manager.streams.purge(this.#stream, { filter });
  }

  get #stream(): string {
    return `OBJ_${this.#name}`;
  }

  async #info(name: string): Promise<ObjectInfo | null> {
    const info = await requested(this.#nats, () => this.#store.info(name));
    return info === null || info.deleted ? null : info;
  }
}

function after(sequence: number, subject: string): { seq: number; next_by_subj: string } {
  return { seq: sequence, next_by_subj: subject };
}

/** The name as it is in a subject. */
function tokenOf(name: string): string {
  return Buffer.from(name).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

function storedOf({ name, size, digest, mtime }: ObjectInfo): StoredObject {
  const sha256 = withoutPadding(digest).slice("SHA-256=".length);
  return { name, bytes: size, sha256, writtenAt: Date.parse(mtime) };
}

function withoutPadding(digest: string): string {
  return digest.replace(/=+$/, "");
}
