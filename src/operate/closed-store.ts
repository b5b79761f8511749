/** Reads the store of an organization that no process has open. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dataFile } from "../store/data-file.ts";
import { type Lmdb, openLmdb } from "../store/lmdb.ts";
import { AdminFailure } from "./admin/operation.ts";

/**
 * @param folder of a realm that no process writes to
 * @throws AdminFailure when it is gone
 */
export async function readClosed<T>(folder: string, work: (lmdb: Lmdb) => T): Promise<T> {
  // Opening creates what is missing, and the organization may have been erased a moment ago.
  if (!existsSync(dataFile(folder))) throw new AdminFailure("refused", `${folder} does not exist any more`);
  const lmdb = openLmdb(folder);
  try {
    return work(lmdb);
  } finally {
    await lmdb.close();
  }
}

/** @throws AdminFailure */
export function requireStore(dataDir: string): void {
  if (existsSync(join(dataDir, "root"))) return;
  throw new AdminFailure("input", `${dataDir} has no data: start the server first, or set DATA_DIR`);
}
