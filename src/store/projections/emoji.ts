/** Custom emoji by id, and the active ones by name (public API: /realm/emoji). */
import type { RealmEmojiRecord } from "../../../schemas/emoji.ts";
import { type Delta, type Projection, sortedEntries } from "./projection.ts";

export class RealmEmojiProjection implements Projection {
  readonly tables = ["realmEmoji"] as const;
  readonly #byId = new Map<number, RealmEmojiRecord>();
  readonly #activeByName = new Map<string, number>();

  apply(delta: Delta<"realmEmoji">): void {
    const id = delta.key;
    const before = this.#byId.get(id);
    if (before?.isActive === true) this.#activeByName.delete(before.name);
    const after = delta.row;
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
    if (after.isActive) this.#activeByName.set(after.name, id);
  }

  get(id: number): RealmEmojiRecord | undefined {
    return this.#byId.get(id);
  }

  active(name: string): RealmEmojiRecord | undefined {
    const id = this.#activeByName.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  all(): Iterable<RealmEmojiRecord> {
    return this.#byId.values();
  }

  snapshot(): unknown {
    return { byId: sortedEntries(this.#byId), active: sortedEntries(this.#activeByName) };
  }
}
