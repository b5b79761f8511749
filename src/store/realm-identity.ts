/** Who an organization is: kept in its own store, too, so that a root that was lost can be rebuilt. */
import type { Environment } from "./environment.ts";

export interface RealmIdentity {
  readonly id: number;
  /** First label of its host; "" for the default realm (D4). */
  readonly label: string;
  /** Exact hosts beside the label. */
  readonly hosts: readonly string[];
  readonly createdAt: number;
}

const identityKey = "identity";

/** Writes it where it differs from what is stored: stores of older programs have none. */
export function keepIdentity(environment: Environment, { id, label, hosts, createdAt }: RealmIdentity): void {
  const identity: RealmIdentity = { id, label, hosts, createdAt };
  const stored = environment.get("meta", identityKey)?.value;
  if (JSON.stringify(stored) === JSON.stringify(identity)) return;
  environment.transaction(() => environment.put("meta", identityKey, { value: identity }));
}

/** null: the store does not say. */
export function readIdentity(environment: Environment): RealmIdentity | null {
  const stored = environment.get("meta", identityKey)?.value;
  if (stored !== undefined) return stored as RealmIdentity;
  // Stores of older programs: only the first organization of a folder has an empty label, and that one has no hosts.
  const realm = environment.get("realm", "realm");
  return realm?.label === "" ? { id: 1, label: "", hosts: [], createdAt: realm.createdAt } : null;
}
