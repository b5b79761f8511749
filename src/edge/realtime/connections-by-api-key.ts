/**
 * Open sockets and held polls by the API key or session that authenticated them. When it ends, its connections are
 * closed after the flush that ended it (M1). Their queues remain, so a client with valid credentials can resume.
 */

import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import type { CloseCause } from "../../../schemas/close-codes.ts";
import type { RealmRecord } from "../../../schemas/realm-settings.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Delta } from "../../runtime/dispatcher.ts";

/** Why a key is no longer valid. */
export type KeyEnd = Extract<CloseCause, "notAuthenticated" | "deactivated"> | "realmDeactivated";

export interface ApiKeyConnection {
  keyEnded(cause: KeyEnd): void;
}

export class ConnectionsByApiKey {
  readonly #view: View;
  readonly #byKey = new Map<string, Set<ApiKeyConnection>>();
  /** Keys that were revoked in this turn, by hash. */
  readonly #ended = new Map<string, KeyEnd>();

  constructor(view: View) {
    this.#view = view;
  }

  add(keyHash: string, holder: ApiKeyConnection): void {
    const holders = this.#byKey.get(keyHash);
    if (holders === undefined) this.#byKey.set(keyHash, new Set([holder]));
    else holders.add(holder);
  }

  remove(keyHash: string, holder: ApiKeyConnection): void {
    const holders = this.#byKey.get(keyHash);
    holders?.delete(holder);
    if (holders?.size === 0) this.#byKey.delete(keyHash);
  }

  /** Follows the rows that decide which keys are valid. */
  changed(delta: Delta): void {
    if (delta.table === "apiKeys" || delta.table === "sessions") {
      const hash = delta.key as string;
      if ((delta.row as ApiKeyRecord | SessionRecord | null) === null) this.#ended.set(hash, "notAuthenticated");
      else this.#ended.delete(hash);
    } else if (delta.table === "users") {
      const user = delta.row as UserRecord | null;
      if (user === null || user.isActive) return;
      for (const { hash } of this.#view.apiKeysOf(user.id)) this.#ended.set(hash, "deactivated");
      for (const { hash } of this.#view.sessionsOf(user.id)) this.#ended.set(hash, "deactivated");
    } else if (delta.table === "realm" && ((delta.row as RealmRecord | null)?.deactivatedAt ?? null) !== null) {
      for (const hash of this.#byKey.keys()) this.#ended.set(hash, "realmDeactivated");
    }
  }

  /** Called after the turn. */
  endConnections(): void {
    if (this.#ended.size === 0) return;
    const ended = [...this.#ended];
    this.#ended.clear();
    for (const [hash, cause] of ended) {
      for (const holder of [...(this.#byKey.get(hash) ?? [])]) holder.keyEnded(cause);
    }
  }
}
