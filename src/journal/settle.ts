/**
 * Brings what is left in the journal into the stores, before anybody opens them: at a start after a crash, and for tools
 * that work on a data folder without a server.
 */
import { limits } from "../../schemas/limits.ts";
import { storedName } from "../../schemas/records.ts";
import { encodeRow } from "../store/codec.ts";
import { environmentOf } from "../store/environment.ts";
import { nameOfKey } from "../store/key-encoding.ts";
import { LmdbTables } from "../store/lmdb-tables.ts";
import { StoreWriter } from "../store/store-writer.ts";
import { turnKey, turnNumberIn } from "../store/turn-number.ts";
import { latestOf, turnsAfter } from "./checkpoint.ts";
import type { Recorded } from "./journal.ts";
import type { TurnRecord } from "./record.ts";

/**
 * @param folderOf the folder of a realm's store; null: its records are skipped
 * @throws JournalDamaged when a realm lacks a turn that is not in the journal
 */
export async function settle(records: Iterable<Recorded>, folderOf: (realmId: number) => string | null): Promise<void> {
  const byRealm = new Map<number, Uint8Array[]>();
  let bytes = 0;
  const settleAll = async () => {
    for (const [realmId, ofRealm] of byRealm) {
      const folder = folderOf(realmId);
      if (folder !== null) await settleRealm(folder, ofRealm);
    }
    byRealm.clear();
    bytes = 0;
  };
  for (const record of records) {
    const ofRealm = byRealm.get(record.realmId);
    if (ofRealm === undefined) byRealm.set(record.realmId, [record.bytes]);
    else ofRealm.push(record.bytes);
    bytes += record.bytes.length;
    if (bytes >= limits.checkpoint_bytes) await settleAll();
  }
  await settleAll();
}

async function settleRealm(folder: string, records: readonly Uint8Array[]): Promise<void> {
  const turns = await missingTurns(folder, records);
  const last = turns.at(-1);
  if (last === undefined) return;
  const turnRow = {
    table: storedName("meta"),
    key: nameOfKey(turnKey),
    bytes: encodeRow("meta", turnKey, { value: last.turn }),
  };
  const writer = new StoreWriter(folder);
  writer.write([...latestOf(turns), turnRow], []);
  await writer.close();
}

async function missingTurns(folder: string, records: readonly Uint8Array[]): Promise<TurnRecord[]> {
  const tables = new LmdbTables(folder, "whole");
  try {
    return turnsAfter(turnNumberIn(environmentOf(tables)), records, folder);
  } finally {
    await tables.close();
  }
}
