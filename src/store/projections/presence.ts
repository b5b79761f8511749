/**
 * The latest presence of every user. Volatile reports change it at once; rows follow in batches (E4). Rows are also
 * listed by update id, so a poll for updates after an id reads only those, however many users there are.
 */
import type { PresenceRecord } from "../../../schemas/presence.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

/** Shorter lists are not worth compacting. */
const listed_min = 64;

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
