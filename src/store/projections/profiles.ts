/** Custom profile fields and all users' values for them, because lists of users include both (spec 2.6). */
import type { ProfileFieldRecord, ProfileValueRecord } from "../../../schemas/profile-fields.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

const noValues: ReadonlyMap<number, ProfileValueRecord> = new Map();
const nobody: ReadonlySet<number> = new Set();

export class ProfilesProjection implements Projection {
  readonly tables = ["profileFields", "profileValues"] as const;
  readonly #fields = new Map<number, ProfileFieldRecord>();
  readonly #values = new Map<number, Map<number, ProfileValueRecord>>();
  readonly #holders = new Map<number, Set<number>>();
  /** Sorted lazily; null after a field has changed. */
  #inOrder: readonly ProfileFieldRecord[] | null = null;

  apply(delta: Delta<"profileFields" | "profileValues">): void {
    if (delta.table === "profileFields") this.#applyField(delta.key, delta.row);
    else this.#applyValue(delta.key, delta.row);
  }

  #applyField(id: number, row: ProfileFieldRecord | null): void {
    this.#inOrder = null;
    if (row === null) this.#fields.delete(id);
    else this.#fields.set(id, row);
  }

  #applyValue([userId, fieldId]: readonly [number, number], row: ProfileValueRecord | null): void {
    const values = this.#values.get(userId) ?? new Map<number, ProfileValueRecord>();
    const holders = this.#holders.get(fieldId) ?? new Set<number>();
    if (row === null) {
      values.delete(fieldId);
      holders.delete(userId);
    } else {
      values.set(fieldId, row);
      holders.add(userId);
    }
    if (values.size === 0) this.#values.delete(userId);
    else this.#values.set(userId, values);
    if (holders.size === 0) this.#holders.delete(fieldId);
    else this.#holders.set(fieldId, holders);
  }

  field(id: number): ProfileFieldRecord | undefined {
    return this.#fields.get(id);
  }

  get fields(): readonly ProfileFieldRecord[] {
    this.#inOrder ??= [...this.#fields.values()].sort((a, b) => a.order - b.order || a.id - b.id);
    return this.#inOrder;
  }

  valuesOf(userId: number): ReadonlyMap<number, ProfileValueRecord> {
    return this.#values.get(userId) ?? noValues;
  }

  holders(fieldId: number): ReadonlySet<number> {
    return this.#holders.get(fieldId) ?? nobody;
  }

  snapshot(): unknown {
    return {
      fields: sortedEntries(this.#fields),
      values: sortedEntries(this.#values).map(([id, values]) => [id, sortedEntries(values)]),
      holders: sortedEntries(this.#holders).map(([id, people]) => [id, sortedNumbers(people)]),
    };
  }
}
