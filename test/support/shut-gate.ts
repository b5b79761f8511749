/** A realm whose turns do not become durable: its gate is shut as by a turn whose record is never flushed. */
import { rowFields, type TableName } from "../../schemas/records.ts";
import type { RealmDurabilityGate } from "../../src/durability/journal/durability-gate.ts";
import type { TestServer } from "./server.ts";

const tables = Object.keys(rowFields) as TableName[];

/**
 * @param position the record that it waits for
 * @returns a function that opens the gate again
 */
export function shutGate(server: TestServer, position = Number.MAX_SAFE_INTEGER): () => void {
  const gate = server.realm.gate as RealmDurabilityGate;
  gate.appended(position, tables);
  // Turns of these requests are flushed by the real journal; they must not open the gate again.
  const appended = gate.appended.bind(gate);
  gate.appended = () => undefined;
  return () => appended(0, tables);
}

/** Holds what passes the gate from now on. @returns a function that lets it leave */
export function holdGate(server: TestServer): () => void {
  const gate = server.realm.gate as RealmDurabilityGate;
  const held: (() => void)[] = [];
  const pass = gate.waitFor.bind(gate);
  gate.waitFor = (leave) => void held.push(leave);
  return () => {
    gate.waitFor = pass;
    for (const leave of held) leave();
  };
}
