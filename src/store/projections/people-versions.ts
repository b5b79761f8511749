/**
 * Versions of the data in lists of users, for caches of encoded lists (spec 4.15). Users are versioned in blocks of
 * neighbouring ids, so that a change of one user invalidates little of a long list. Opening a realm reads nothing for
 * it: the numbers are valid only within one process.
 */
import { limits } from "../../../schemas/limits.ts";
import type { TableName } from "../../../schemas/records.ts";
import type { Delta } from "./projection.ts";

/** The user whose row a delta is, or null if it may affect all users. */
const ownerOf: Readonly<Partial<Record<TableName, (key: unknown) => number | null>>> = {
  users: (key) => key as number,
  profileValues: (key) => (key as readonly [number, number])[0],
  profileFields: () => null,
};

export class PeopleVersions {
  readonly tables = Object.keys(ownerOf) as TableName[];
  readonly #byPiece = new Map<number, number>();
  #ofAll = 0;
  #latest = 0;

  apply({ table, key }: Delta): void {
    this.#latest++;
    const id = ownerOf[table]?.(key) ?? null;
    if (id === null) this.#ofAll = this.#latest;
    else this.#byPiece.set(Math.floor(id / limits.encoded_users_per_piece), this.#latest);
  }

  get latest(): number {
    return this.#latest;
  }

  ofPiece(piece: number): number {
    return Math.max(this.#byPiece.get(piece) ?? 0, this.#ofAll);
  }
}
