/** User groups by id, system groups by name (spec 2.5). Membership by role is a rule, not rows: domain/permissions.ts. */
import type { GroupRecord } from "../../../schemas/records.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

export class GroupsProjection implements Projection {
  readonly tables = ["groups"] as const;
  readonly #byId = new Map<number, GroupRecord>();
  readonly #systemByName = new Map<string, number>();

  apply(delta: Delta): void {
    const id = delta.key as number;
    const after = delta.row as GroupRecord | null;
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
    if (after.isSystem && after.name !== null) this.#systemByName.set(after.name, id);
  }

  get(id: number): GroupRecord | undefined {
    return this.#byId.get(id);
  }

  system(name: string): GroupRecord | undefined {
    const id = this.#systemByName.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  all(): Iterable<GroupRecord> {
    return this.#byId.values();
  }

  picture(): unknown {
    return { byId: sortedEntries(this.#byId), system: sortedEntries(this.#systemByName) };
  }
}
