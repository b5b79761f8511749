/** Event queues by id and by user (docs/realtime.md), and the realm's own row. */

import type { PresenceRecord } from "../../../schemas/presence.ts";
import type { QueueRecord } from "../../../schemas/queues.ts";
import type { RealmRecord } from "../../../schemas/realm-settings.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

/** Shorter lists are not worth compacting. */
const listed_min = 64;

/**
 * The latest presence of every user. Volatile reports change it at once; rows follow in batches (E4). Rows are also
 * listed by update id, so a poll for updates after an id reads only those, however many users there are.
 */
export class PresenceProjection implements Projection {
  readonly tables = ["presence"] as const;
  readonly #byUser = new Map<number, PresenceRecord>();
  /** Ascending update ids. Replaced rows stay until they outnumber the current ones. */
  #listed: PresenceRecord[] = [];

  apply(delta: Delta<"presence">): void {
    const userId = delta.key;
    const after = delta.row;
    if (after === null) {
      this.#byUser.delete(userId);
      return;
    }
    const before = this.#byUser.get(userId);
    // A batch that was written repeats what is already known.
    if (before !== undefined && before.updateId >= after.updateId) return;
    this.#byUser.set(userId, after);
    let at = this.#listed.length;
    // Usually no steps: ids are ascending, except for rows read from disk in order of user id.
    while (at > 0 && (this.#listed[at - 1] as PresenceRecord).updateId > after.updateId) at--;
    this.#listed.splice(at, 0, after);
    if (this.#listed.length > Math.max(listed_min, 2 * this.#byUser.size)) {
      this.#listed = this.#listed.filter((row) => this.#isLatest(row));
    }
  }

  #isLatest(row: PresenceRecord): boolean {
    return this.#byUser.get(row.userId) === row;
  }

  get(userId: number): PresenceRecord | undefined {
    return this.#byUser.get(userId);
  }

  all(): Iterable<PresenceRecord> {
    return this.#byUser.values();
  }

  /** Whether `newerThan` returns anything. */
  hasNewerThan(updateId: number): boolean {
    // The newest listed row is always the latest of its user, unless the user has none any more.
    return (this.#listed.at(-1)?.updateId ?? 0) > updateId;
  }

  /** Ordered by update id. */
  newerThan(updateId: number): PresenceRecord[] {
    const newer: PresenceRecord[] = [];
    for (let index = this.#listed.length - 1; index >= 0; index--) {
      const row = this.#listed[index] as PresenceRecord;
      if (row.updateId <= updateId) break;
      if (this.#isLatest(row)) newer.push(row);
    }
    return newer.reverse();
  }

  snapshot(): unknown {
    return sortedEntries(this.#byUser);
  }
}

const none: ReadonlySet<string> = new Set();

type Options = QueueRecord["options"];

/**
 * Shares equal options as one object: clients register alike, and many thousands of queues would otherwise hold the
 * same lists of names. It holds only options that queues use.
 */
class SharedOptions {
  readonly #byText = new Map<string, { readonly options: Options; uses: number }>();

  take(options: Options): Options {
    const text = JSON.stringify(options);
    const known = this.#byText.get(text);
    if (known === undefined) this.#byText.set(text, { options, uses: 1 });
    else known.uses++;
    return known?.options ?? options;
  }

  giveBack(options: Options): void {
    const text = JSON.stringify(options);
    const known = this.#byText.get(text);
    if (known === undefined) return;
    known.uses--;
    if (known.uses === 0) this.#byText.delete(text);
  }
}

export class QueuesProjection implements Projection {
  readonly tables = ["queues"] as const;
  readonly #options = new SharedOptions();
  readonly #byId = new Map<string, QueueRecord>();
  readonly #byUser = new Map<number, Set<string>>();

  apply(delta: Delta<"queues">): void {
    const id = delta.key;
    const before = this.#byId.get(id);
    if (before !== undefined) this.#forget(before);
    const after = delta.row;
    if (after === null) return;
    this.#byId.set(id, { ...after, options: this.#options.take(after.options) });
    const own = this.#byUser.get(after.userId);
    if (own === undefined) this.#byUser.set(after.userId, new Set([id]));
    else own.add(id);
  }

  #forget(record: QueueRecord): void {
    this.#byId.delete(record.id);
    this.#options.giveBack(record.options);
    const own = this.#byUser.get(record.userId);
    own?.delete(record.id);
    if (own?.size === 0) this.#byUser.delete(record.userId);
  }

  get(id: string): QueueRecord | undefined {
    return this.#byId.get(id);
  }

  ofUser(userId: number): ReadonlySet<string> {
    return this.#byUser.get(userId) ?? none;
  }

  all(): Iterable<QueueRecord> {
    return this.#byId.values();
  }

  snapshot(): unknown {
    return {
      byId: sortedEntries(this.#byId),
      byUser: sortedEntries(this.#byUser).map(([id, own]) => [id, [...own].sort()]),
    };
  }
}

export class RealmProjection implements Projection {
  readonly tables = ["realm"] as const;
  #record: RealmRecord | null = null;

  apply(delta: Delta<"realm">): void {
    this.#record = delta.row;
  }

  get record(): RealmRecord {
    if (this.#record === null) throw new Error("the realm has no row of its own: the store is damaged");
    return this.#record;
  }

  snapshot(): unknown {
    return this.#record;
  }
}
