/** A realm whose turns do not become durable: its gate is shut as by a turn whose record is never flushed. */
import { rowFields, type TableName } from "../../schemas/records.ts";
import type { RealmDurabilityGate } from "../../src/durability/journal/durability-gate.ts";
import { OverlayTables } from "../../src/durability/journal/overlay-tables.ts";
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

/**
 * What is durable now stays all that is: turns from now on wait, as on a disk that stands still.
 * @returns a function that makes them durable
 */
export function freezeGate(server: TestServer): () => void {
  const gate = server.realm.gate as RealmDurabilityGate;
  const durable = gate.newestRecord;
  const { isOpenFor } = gate;
  const waiting: (() => void)[] = [];
  const waitFor = gate.waitFor.bind(gate);
  gate.isOpenFor = (position) => position <= durable && isOpenFor.call(gate, position);
  gate.waitFor = (leave, seen = gate.newestRecord) => {
    if (gate.isOpenFor(seen)) leave();
    else waiting.push(leave);
  };
  // The journal flushes them nevertheless. Their rows must look as if it had not.
  const { checkpointed } = OverlayTables.prototype;
  OverlayTables.prototype.checkpointed = () => false;
  Object.defineProperty(gate, "isOpen", { configurable: true, get: () => gate.isOpenFor(gate.newestRecord) });
  return () => {
    OverlayTables.prototype.checkpointed = checkpointed;
    gate.isOpenFor = isOpenFor;
    gate.waitFor = waitFor;
    Reflect.deleteProperty(gate, "isOpen");
    for (const leave of waiting) waitFor(leave);
  };
}
