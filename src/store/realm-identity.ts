/** The identity of an organization, also stored in its own environment, so that a lost root can be rebuilt. */
import type { Lmdb } from "./lmdb.ts";

export interface RealmIdentity {
  readonly id: number;
  /** First label of its host; "" for the default realm (D4). */
  readonly label: string;
  /** Exact hosts in addition to the label. */
  readonly hosts: readonly string[];
  readonly createdAt: number;
}

const identityKey = "identity";

/** Writes the identity if it differs from the stored one. */
export function keepIdentity(lmdb: Lmdb, { id, label, hosts, createdAt }: RealmIdentity): void {
  const identity: RealmIdentity = { id, label, hosts, createdAt };
  const stored = lmdb.get("meta", identityKey)?.value;
  if (JSON.stringify(stored) === JSON.stringify(identity)) return;
  lmdb.transaction(() => lmdb.put("meta", identityKey, { value: identity }));
}

/** Returns null if the store has no identity. */
export function readIdentity(lmdb: Lmdb): RealmIdentity | null {
  return (lmdb.get("meta", identityKey)?.value as RealmIdentity | undefined) ?? null;
}
