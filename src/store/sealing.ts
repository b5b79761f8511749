/**
 * The migration from version 6 to 7: seals every row (seal.ts). It runs in slices with one transaction each, so that a
 * large store needs little memory. A crash between slices loses nothing, because sealed rows are recognized by their
 * first byte and the version is raised last.
 */
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { sealedSince } from "./seal.ts";
import type { Environment } from "./store.ts";

export function sealStore(environment: Environment): void {
  for (const table of Object.keys(rowFields) as TableName[]) sealTable(environment, table);
  environment.transaction(() => environment.put("meta", "version", { value: sealedSince }));
  environment.requireSeals();
}

function sealTable(environment: Environment, table: TableName): void {
  let from: unknown;
  do {
    environment.transaction(() => {
      const slice = environment.sealRows(table, from, limits.sealing_rows_per_slice);
      if (table === "events" && slice.bytesAdded > 0) countEventBytes(environment, slice.bytesAdded);
      from = slice.next;
    });
  } while (from !== undefined);
}

/** The realm's counters include the size of the event log with its seals. */
function countEventBytes(environment: Environment, bytesAdded: number): void {
  const realmCounters = environment.get("meta", "ledger")?.value as { readonly eventBytes: number } | undefined;
  if (realmCounters === undefined) return;
  environment.put("meta", "ledger", { value: { ...realmCounters, eventBytes: realmCounters.eventBytes + bytesAdded } });
}
