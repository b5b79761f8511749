/**
 * The facts that all nodes know: who serves each organization, what operators want, and the key that nodes show each
 * other. Each fact is the last message of a subject. A change is stored only if it follows the fact that its writer has
 * read, so of two nodes that want the same organization one gets it.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { StoredMsg } from "@nats-io/jetstream";
import { limits } from "../../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";

/** The node that serves an organization, or that it was handed over to. */
export interface OwnerFact {
  readonly node: string;
  /** The process: a node that was started again is another one. */
  readonly instance: string;
  /** The epoch of its claim in the organization's stream. */
  readonly epoch: number;
  readonly label: string;
  readonly hosts: readonly string[];
  /** The node is creating it: no other node may take its number or its names. */
  readonly isReserved?: boolean;
  /** No node serves it again, and its number is never used again. */
  readonly erased?: Erasure;
}

export interface Erasure {
  readonly at: number;
  /** Nothing of it is left in the streams and in the object store. */
  readonly isCleared: boolean;
}

interface Facts {
  readonly key: { readonly key: string };
  readonly owner: OwnerFact;
  /** Where an operator wants an organization to be; null: anywhere. */
  readonly pin: { readonly node: string | null };
  readonly drain: { readonly isDraining: boolean };
}
type FactKind = keyof Facts;

export interface Fact<T> {
  /** The sequence number of its message; a change must follow it. */
  readonly sequence: number;
  readonly value: T;
}

type OwnedRealm = readonly [realmId: number, fact: Fact<OwnerFact>];

const stream = "directory";
const wrongLastSequence = 10071;

export class Directory {
  readonly #nats: Nats;
  readonly #facts = new Map<string, Fact<unknown>>();
  readonly #subscription: { unsubscribe(): void };
  #readUpTo = 0;
  #refreshed: Promise<void> = Promise.resolve();
  /** The owners of the organizations in the order of their numbers. The list is read more often than it changes. */
  #sorted: { readonly version: number; readonly owners: readonly OwnedRealm[] } | null = null;
  /** Changes whenever a fact does. */
  version = 0;

  private constructor(nats: Nats, onNews: () => void) {
    this.#nats = nats;
    // A message that is refused arrives here, too: it only says that it is time to read.
    this.#subscription = nats.connection.subscribe(`${stream}.>`, { callback: () => onNews() });
  }

  /** @param onNews something may have changed: `refresh` reads it */
  static async open(nats: Nats, onNews: () => void): Promise<Directory> {
    await requested(nats, () =>
      nats.manager.streams.add({
        name: stream,
        subjects: [`${stream}.>`],
        storage: "file",
        num_replicas: limits.cluster_replicas,
        max_msgs_per_subject: 1,
        deny_delete: true,
      }),
    );
    const directory = new Directory(nats, onNews);
    await directory.refresh();
    if (directory.key === "") await directory.put("key", "all", { key: randomBytes(24).toString("base64url") }, 0);
    return directory;
  }

  /** Without creating anything. @returns null if there is no directory */
  static async find(nats: Nats): Promise<Directory | null> {
    try {
      await requested(nats, () => nats.manager.streams.info(stream));
    } catch (error) {
      if ((error as { code?: unknown }).code === streamNotFound) return null;
      throw error;
    }
    const directory = new Directory(nats, () => undefined);
    await directory.refresh();
    return directory;
  }

  /** A secret of the nodes. */
  get key(): string {
    return this.#get("key", "all")?.value.key ?? "";
  }

  owner(realmId: number): Fact<OwnerFact> | null {
    return this.#get("owner", String(realmId));
  }

  /** Without organizations that are being created, in the order of their numbers. */
  owners(): readonly OwnedRealm[] {
    return this.all().filter(([, { value }]) => value.isReserved !== true);
  }

  /** With organizations that are being created, in the order of their numbers. */
  all(): readonly OwnedRealm[] {
    return this.#everything().filter(([, { value }]) => value.erased === undefined);
  }

  isErased(realmId: number): boolean {
    return this.owner(realmId)?.value.erased !== undefined;
  }

  erased(): readonly (readonly [realmId: number, erasure: Erasure])[] {
    return this.#everything().flatMap(([id, { value }]) =>
      value.erased === undefined ? [] : [[id, value.erased] as const],
    );
  }

  /**
   * From now on the organization does not exist. Its names may be used again, its number may not.
   * @param after the number of the fact that it follows; 0: there is none
   * @returns false if there is another one by now
   */
  erase(realmId: number, node: string, erased: Erasure, after: number): Promise<boolean> {
    const fact = { node, instance: "", epoch: 0, label: "", hosts: [], erased };
    return this.put("owner", String(realmId), fact, after);
  }

  #everything(): readonly OwnedRealm[] {
    if (this.#sorted?.version !== this.version) this.#sorted = { version: this.version, owners: this.#sort() };
    return this.#sorted.owners;
  }

  #sort(): OwnedRealm[] {
    const prefix = `${stream}.owner.`;
    return [...this.#facts]
      .filter(([subject]) => subject.startsWith(prefix))
      .map(([subject, fact]) => [Number(subject.slice(prefix.length)), fact as Fact<OwnerFact>] as const)
      .toSorted(([a], [b]) => a - b);
  }

  pin(realmId: number): string | null {
    return this.#get("pin", String(realmId))?.value.node ?? null;
  }

  isDraining(node: string): boolean {
    return this.#get("drain", node)?.value.isDraining ?? false;
  }

  /** Stores the request of an operator and replaces an earlier one. */
  async wish<K extends "pin" | "drain">(kind: K, name: string, value: Facts[K]): Promise<void> {
    for (;;) {
      await this.refresh();
      if (await this.put(kind, name, value, this.#get(kind, name)?.sequence ?? 0)) return;
    }
  }

  /**
   * @param after the number of the fact that it follows; 0: there is none
   * @returns false if there is another one by now
   */
  async put<K extends FactKind>(kind: K, name: string, value: Facts[K], after: number): Promise<boolean> {
    const subject = `${stream}.${kind}.${name}`;
    const by = randomBytes(9).toString("base64url");
    const bytes = JSON.stringify({ ...value, by });
    for (;;) {
      await this.#nats.onceConnected();
      try {
        const { seq } = await this.#nats.jetStream.publish(subject, bytes, {
          msgID: by,
          expect: { lastSubjectSequence: after },
          timeout: limits.cluster_acknowledgement_ms_max,
        });
        this.#take(subject, seq, { ...value, by });
        return true;
      } catch (error) {
        // An attempt without an answer may have been stored.
        await this.refresh();
        const now = this.#facts.get(subject);
        if (now !== undefined && (now.value as { by?: string }).by === by) return true;
        if ((now?.sequence ?? 0) !== after) return false;
        if ((error as { code?: unknown }).code !== wrongLastSequence) await wait(limits.cluster_retry_ms_min);
      }
    }
  }

  /** Reads what has changed. */
  refresh(): Promise<void> {
    this.#refreshed = this.#refreshed.then(
      () => this.#readOn(),
      () => this.#readOn(),
    );
    return this.#refreshed;
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  async #readOn(): Promise<void> {
    for (;;) {
      const query = { seq: this.#readUpTo + 1, next_by_subj: `${stream}.>` };
      const found = await requested<StoredMsg | null>(this.#nats, () =>
        this.#nats.manager.streams.getMessage(stream, query),
      );
      if (found === null) return;
      this.#readUpTo = found.seq;
      this.#take(found.subject, found.seq, found.json());
    }
  }

  #take(subject: string, sequence: number, value: unknown): void {
    if ((this.#facts.get(subject)?.sequence ?? 0) >= sequence) return;
    this.#facts.set(subject, { sequence, value });
    this.version++;
  }

  #get<K extends FactKind>(kind: K, name: string): Fact<Facts[K]> | null {
    return (this.#facts.get(`${stream}.${kind}.${name}`) as Fact<Facts[K]> | undefined) ?? null;
  }
}

const streamNotFound = 10059;
