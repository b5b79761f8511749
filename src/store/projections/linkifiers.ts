/** Linkifiers in order, because every new message needs them. */
import type { LinkifierRecord } from "../../../schemas/linkifiers.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

export class LinkifiersProjection implements Projection {
  readonly tables = ["linkifiers"] as const;
  readonly #byId = new Map<number, LinkifierRecord>();
  /** Sorted lazily; null after a change. */
  #inOrder: readonly LinkifierRecord[] | null = null;

  apply(delta: Delta<"linkifiers">): void {
    const row = delta.row;
    if (row === null) this.#byId.delete(delta.key);
    else this.#byId.set(row.id, row);
    this.#inOrder = null;
  }

  get inOrder(): readonly LinkifierRecord[] {
    this.#inOrder ??= [...this.#byId.values()].sort((a, b) => a.order - b.order || a.id - b.id);
    return this.#inOrder;
  }

  snapshot(): unknown {
    return sortedEntries(this.#byId);
  }
}
