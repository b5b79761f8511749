/**
 * The fence on disk: at most one process writes to an environment, whatever process ids and locks say. The owner stores
 * its token in each environment before it reads from it, and every write transaction of LMDB (turns reach it with a
 * checkpoint) first compares the token. LMDB serializes writers across processes, so a new owner's transactions see
 * everything that the earlier one wrote.
 */
import { join } from "node:path";
import type { Lmdb } from "./lmdb.ts";
import { OwnershipLost, PathGuard } from "./path-guard.ts";

export const ownerKey = "owner";

export interface FencedEnvironment extends Lmdb {
  /** @throws OwnershipLost when another process took the folder over, or the files were replaced */
  assertOwned(): void;
}

export function takenOver(folder: string): OwnershipLost {
  return new OwnershipLost(
    `Another process took over ${folder}. This one stops: nothing that it acknowledged is lost, and nothing more is written.`,
  );
}

/** Takes over an environment. From now on its previous owner cannot commit (M5). */
export function fenced(lmdb: Lmdb, folder: string, token: string): FencedEnvironment {
  const place = new PathGuard(join(folder, "data.mdb"));
  const isOwned = () => lmdb.get("meta", ownerKey)?.value === token;
  // One that this process had open before needs no write, for which a full disk has no space.
  if (!isOwned()) lmdb.transaction(() => lmdb.put("meta", ownerKey, { value: token }));
  const check = () => {
    if (!isOwned()) throw takenOver(folder);
  };
  return Object.assign(Object.create(lmdb) as Lmdb, {
    transaction<R>(work: () => R): R {
      if (lmdb.isWriting) return lmdb.transaction(work);
      const result = lmdb.transaction(() => {
        check();
        return work();
      });
      // Checked after the flush and before any answer: if the file has been removed by now, the data is lost (M1).
      place.verify();
      return result;
    },
    // Called every second: an idle process reads nothing from LMDB, which would also set a timer.
    assertOwned() {
      if (!place.mayHaveChanged()) return;
      lmdb.refresh();
      check();
    },
  });
}
