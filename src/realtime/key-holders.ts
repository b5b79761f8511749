/**
 * What keys have opened and what is still open, sockets and held polls: when a key ends, so does what it authenticated, after
 * the flush that ended it (M1). The queues stay: whoever comes back with a good key goes on.
 */
import type { ApiKeyRecord, RealmRecord, UserRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";
import type { Delta } from "../runtime/dispatcher.ts";
import type { CloseCause } from "./close-codes.ts";

/** Why a key opens nothing any more. */
export type KeyEnd = Extract<CloseCause, "notAuthenticated" | "deactivated"> | "realmDeactivated";

export interface KeyHolder {
  keyEnded(cause: KeyEnd): void;
}

export class KeyHolders {
  readonly #view: View;
  readonly #byKey = new Map<string, Set<KeyHolder>>();
  /** Keys that ended in this turn, by hash. */
  readonly #ended = new Map<string, KeyEnd>();

  constructor(view: View) {
    this.#view = view;
  }

  add(keyHash: string, holder: KeyHolder): void {
    const holders = this.#byKey.get(keyHash);
    if (holders === undefined) this.#byKey.set(keyHash, new Set([holder]));
    else holders.add(holder);
  }

  remove(keyHash: string, holder: KeyHolder): void {
    const holders = this.#byKey.get(keyHash);
    holders?.delete(holder);
    if (holders?.size === 0) this.#byKey.delete(keyHash);
  }

  /** Follows the rows that say which keys are good. */
  changed(delta: Delta): void {
    if (delta.table === "apiKeys") {
      const hash = delta.key as string;
      if ((delta.row as ApiKeyRecord | null) === null) this.#ended.set(hash, "notAuthenticated");
      else this.#ended.delete(hash);
    } else if (delta.table === "users") {
      const user = delta.row as UserRecord | null;
      if (user === null || user.isActive) return;
      for (const { hash } of this.#view.apiKeysOf(user.id)) this.#ended.set(hash, "deactivated");
    } else if (delta.table === "realm" && ((delta.row as RealmRecord | null)?.deactivatedAt ?? null) !== null) {
      for (const hash of this.#byKey.keys()) this.#ended.set(hash, "realmDeactivated");
    }
  }

  /** Called after the flush. */
  publish(): void {
    if (this.#ended.size === 0) return;
    const ended = [...this.#ended];
    this.#ended.clear();
    for (const [hash, cause] of ended) {
      for (const holder of [...(this.#byKey.get(hash) ?? [])]) holder.keyEnded(cause);
    }
  }
}
