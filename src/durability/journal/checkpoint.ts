/**
 * Brings turns into the store of a realm: many of them in one transaction, which also stores the number of the last one.
 * So a store always has whole turns, and knows which (M2); a record that is applied again changes nothing. This file
 * knows no schemas, because a thread of its own runs it (checkpoint-thread.ts).
 */
import { JournalDamaged } from "./journal.ts";
import { decodeRecord, type RecordedWrite, type TurnRecord } from "./record.ts";

/**
 * The turns that a store lacks.
 * @param from the last turn that it has
 * @param folder for the message
 * @throws JournalDamaged when a turn is missing
 */
export function turnsAfter(from: number, records: Iterable<Uint8Array>, folder: string): TurnRecord[] {
  const turns: TurnRecord[] = [];
  let last = from;
  for (const bytes of records) {
    const record = decodeRecord(bytes);
    if (record.turn <= last) continue;
    last = nextTurn(last, record.turn, folder);
    turns.push(record);
  }
  return turns;
}

/** @throws JournalDamaged when it does not follow the last one */
export function nextTurn(last: number, turn: number, folder: string): number {
  if (turn === last + 1) return turn;
  throw new JournalDamaged(
    `${folder} has turn ${last}, and the next one in the journal is ${turn}. Put the missing files back, or restore a backup.`,
  );
}

/** The last state of each row that was written, one table after the other. */
export function latestOf(turns: readonly TurnRecord[]): RecordedWrite[] {
  const latest = new Map<string, Map<string, RecordedWrite>>();
  let table = "";
  let rows = new Map<string, RecordedWrite>();
  for (const { writes } of turns) {
    for (const write of writes) {
      // The rows of a table follow each other in a record.
      if (write.table !== table) {
        table = write.table;
        rows = latest.get(table) ?? new Map<string, RecordedWrite>();
        latest.set(table, rows);
      }
      rows.set(write.key, write);
    }
  }
  return [...latest.values()].flatMap((ofTable) => [...ofTable.values()]);
}
