/** Linkifiers in order, because every new message needs them. */
import type { LinkifierRecord } from "../../../schemas/linkifiers.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

export class LinkifiersProjection implements Projection {
  readonly tables = ["linkifiers"] as const;
  readonly #byId = new Map<number, LinkifierRecord>();
  #inOrder: readonly LinkifierRecord[] = [];

  apply(delta: Delta): void {
    const row = delta.row as LinkifierRecord | null;
    if (row === null) this.#byId.delete(delta.key as number);
    else this.#byId.set(row.id, row);
    this.#inOrder = [...this.#byId.values()].sort((a, b) => a.order - b.order || a.id - b.id);
  }

  get inOrder(): readonly LinkifierRecord[] {
    return this.#inOrder;
  }

  snapshot(): unknown {
    return sortedEntries(this.#byId);
  }
}
