/**
 * How the turns of a process's realms become durable. With the journal a turn's rows are in memory and its record is in
 * the journal; the stores get them later, many turns at once. Without it a turn ends with a flush of its store.
 */
import type { Tables } from "../store/tables.ts";
import { type Gate, openGate } from "./gate.ts";

export const durabilityKinds = ["journal", "store"] as const;

/** What DURABILITY selects: the journal, or a flush of the realm's store for each turn. */
export type DurabilityKind = (typeof durabilityKinds)[number];

/** A realm's store. Nobody else writes to it while it is adopted. */
export interface RealmTables {
  readonly id: number;
  readonly folder: string;
  readonly tables: Tables;
}

/** The tables that a realm works on, and the gate for what shows them. */
export interface DurableTables {
  readonly tables: Tables;
  readonly gate: Gate;
  /** Nothing waits to become durable, and the realm's store has every turn. */
  readonly isSettled: boolean;
  /** Resolves when the realm's store has every turn: at once if it is settled. */
  close(): Promise<void>;
}

/** How far disk and stores are behind memory. */
export interface Lag {
  /** Of turns that are not durable yet. */
  readonly unflushedBytes: number;
  /** Of records that the stores do not have yet. */
  readonly uncheckpointedBytes: number;
}

export interface Durability {
  readonly lag: Lag;
  adopt(realm: RealmTables): DurableTables;
  /** @returns whether the archive, if there is one, has everything that was written before this call */
  archiveMark(): () => boolean;
  /** Resolves when everything is in the stores. Every realm must be closed by then. */
  close(): Promise<void>;
}

/** A turn ends with a flush of its store: for tools, and for a realm that is being created. */
export const synchronous: Durability = {
  lag: { unflushedBytes: 0, uncheckpointedBytes: 0 },
  adopt: ({ tables }) => ({ tables, gate: openGate, isSettled: true, close: () => Promise.resolve() }),
  archiveMark: () => () => true,
  close: () => Promise.resolve(),
};
