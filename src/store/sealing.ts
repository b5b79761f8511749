/**
 * The step from version 6 to 7: every row gets its seal (seal.ts). In slices with a transaction each, so that a large store needs
 * little memory; a crash between two of them loses nothing, because a row with a seal is known by its first byte and the version
 * is raised last.
 */
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import type { Environment } from "./environment.ts";
import { sealedSince } from "./seal.ts";

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

/** The ledger knows how large the event log is, seals included. */
function countEventBytes(environment: Environment, bytesAdded: number): void {
  const ledger = environment.get("meta", "ledger")?.value as { readonly eventBytes: number } | undefined;
  if (ledger === undefined) return;
  environment.put("meta", "ledger", { value: { ...ledger, eventBytes: ledger.eventBytes + bytesAdded } });
}
