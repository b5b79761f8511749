/**
 * Brings what is left in the journal into the stores, before anybody opens them: at a start after a crash, and for tools
 * that work on a data folder without a server. Each store is opened once for all its records, up to a bound of memory
 * that a server does not exceed.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Recorded } from "./journal.ts";
import { LaggingStore } from "./lagging-store.ts";
import { turnOf } from "./record.ts";

/**
 * @param storeOf the folder of a realm's store, whose pages are checked; null: its records are skipped
 * @param bytesMax how many bytes of records are in memory at a time
 * @throws JournalDamaged when a realm lacks a turn that is not in the journal
 */
export async function applyRecords(
  records: Iterable<Recorded>,
  storeOf: (realmId: number) => string | null,
  bytesMax: number = limits.journal_applied_bytes_max,
): Promise<void> {
  const byRealm = new Map<number, Uint8Array[]>();
  /** The last turn of each store that was opened. An archive keeps records that the stores had long ago. */
  const applied = new Map<number, number>();
  let bytes = 0;
  const applyAll = async () => {
    for (const [realmId, ofRealm] of byRealm) {
      const folder = storeOf(realmId);
      applied.set(realmId, folder === null ? Number.POSITIVE_INFINITY : await applyToRealm(folder, ofRealm));
    }
    byRealm.clear();
    bytes = 0;
  };
  for (const record of records) {
    const known = applied.get(record.realmId);
    if (known !== undefined && turnOf(record.bytes) <= known) continue;
    const ofRealm = byRealm.get(record.realmId);
    if (ofRealm === undefined) byRealm.set(record.realmId, [record.bytes]);
    else ofRealm.push(record.bytes);
    bytes += record.bytes.length;
    if (bytes >= bytesMax) await applyAll();
  }
  await applyAll();
}

/** @returns the last turn that the store has now */
async function applyToRealm(folder: string, records: readonly Uint8Array[]): Promise<number> {
  const store = new LaggingStore(folder);
  try {
    for (const record of records) store.add(record);
    store.write();
    return store.turn;
  } finally {
    await store.close();
  }
}
