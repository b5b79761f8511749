/**
 * How the turns of a process's realms become durable: a turn's rows are in memory and its record is in the journal; the
 * stores get them later, many turns at once.
 */
import type { StoreTables } from "../../store/tables.ts";
import { alwaysDurable, type DurabilityGate } from "./durability-gate.ts";

/** A realm's store. No other writer uses it while it is adopted. */
export interface RealmTables {
  readonly id: number;
  readonly folder: string;
  readonly tables: StoreTables;
}

/** The tables that a realm works on, and the gate for what shows them. */
export interface DurableTables {
  readonly tables: StoreTables;
  readonly gate: DurabilityGate;
  /** Nothing waits to become durable, and the realm's store has every turn. */
  readonly isStored: boolean;
  /** Resolves when the realm's store has every turn: at once if it has. */
  close(): Promise<void>;
}

/** How far disk and stores are behind memory. */
export interface Lag {
  /** The size of turns that are not durable yet. */
  readonly unflushedBytes: number;
  /** The size of records that the stores do not have yet. */
  readonly uncheckpointedBytes: number;
}

export interface Durability {
  readonly lag: Lag;
  adopt(realm: RealmTables): DurableTables;
  /** @returns whether the archive, if there is one, has everything that was written before this call */
  archiveMark(): () => boolean;
  /** @throws OwnershipLost when another process writes the journal by now, or its folder was removed or replaced */
  assertOwned(): void;
  /** Resolves when everything is in the stores. Every realm must be closed by then. */
  close(): Promise<void>;
}

/**
 * For a realm that no server serves: one that is being created, and one that a tool changes while it holds the folder's
 * lock. It writes to the store itself, because such a realm has no journal whose order its turns would have to follow.
 */
export const offline: Durability = {
  lag: { unflushedBytes: 0, uncheckpointedBytes: 0 },
  adopt: ({ tables }) => ({ tables, gate: alwaysDurable, isStored: true, close: () => Promise.resolve() }),
  archiveMark: () => () => true,
  assertOwned: () => undefined,
  close: () => Promise.resolve(),
};
