/**
 * Latest presence of everybody. Volatile reports change it at once; rows follow in batches (E4). A poll for what is newer than an
 * update id reads just that, however many people there are: rows stand in a list in order of their ids, too.
 */
import type { PresenceRecord } from "../../../schemas/records.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

/** Shorter lists are not worth a clean-up. */
const listed_min = 64;

export class PresenceProjection implements Projection {
  readonly tables = ["presence"] as const;
  readonly #byUser = new Map<number, PresenceRecord>();
  /** Ascending update ids. Rows that were replaced since stay until there are more of them than of the others. */
  #listed: PresenceRecord[] = [];

  apply(delta: Delta): void {
    const userId = delta.key as number;
    const after = delta.row as PresenceRecord | null;
    if (after === null) {
      this.#byUser.delete(userId);
      return;
    }
    const before = this.#byUser.get(userId);
    // A batch that was written says again what is known here.
    if (before !== undefined && before.updateId >= after.updateId) return;
    this.#byUser.set(userId, after);
    let at = this.#listed.length;
    // Mostly none: ids rise, but for rows that are read from the disk in order of people.
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

  /** In order of update ids. */
  newerThan(updateId: number): PresenceRecord[] {
    const newer: PresenceRecord[] = [];
    for (let index = this.#listed.length - 1; index >= 0; index--) {
      const row = this.#listed[index] as PresenceRecord;
      if (row.updateId <= updateId) break;
      if (this.#isLatest(row)) newer.push(row);
    }
    return newer.reverse();
  }

  picture(): unknown {
    return sortedEntries(this.#byUser);
  }
}
