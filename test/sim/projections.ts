/** Compares what a realm keeps in memory with its rows. */
import type { Realm } from "../../src/runtime/realm.ts";
import { RealmProjections } from "../../src/store/projections/realm-projections.ts";

/** @returns where the projections differ from ones that are built anew, or null */
export function staleProjections(realm: Realm): string | null {
  const memory = snapshotOf(realm.projections);
  const rebuilt = snapshotOf(RealmProjections.rebuild(realm.lmdb));
  return memory === rebuilt ? null : difference(memory, rebuilt);
}

/** Presence is ahead of its rows by design (E4). */
function snapshotOf(projections: RealmProjections): string {
  const snapshots = projections.snapshot() as [string[], unknown][];
  return JSON.stringify(snapshots.filter(([tables]) => !tables.includes("presence")));
}

function difference(one: string, other: string): string {
  let at = 0;
  while (one[at] === other[at]) at++;
  return `...${one.slice(Math.max(0, at - 150), at + 150)} from ...${other.slice(Math.max(0, at - 150), at + 150)}`;
}
