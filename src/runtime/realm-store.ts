/**
 * Opens the store of a realm: takes it over from its previous owner, upgrades it, and then leaves it to what makes turns
 * durable (journal/durability.ts). Up to there, each write is flushed to the store at once.
 */
import { randomBytes } from "node:crypto";
import { type Durability, offline } from "../durability/journal/durability.ts";
import { alwaysDurable, type DurabilityGate } from "../durability/journal/durability-gate.ts";
import { fenced } from "../store/fence.ts";
import { type Lmdb, lmdbOf } from "../store/lmdb.ts";
import type { CheckDepth } from "../store/lmdb-check.ts";
import { LmdbTables } from "../store/lmdb-tables.ts";
import {
  knownVersion,
  migrateStore,
  refuseUnknownTables,
  refuseWithoutHead,
  storeVersion,
} from "../store/migrations.ts";

export interface RealmStoreOptions {
  /** The organization is being created: its store is flushed as a whole when it is complete. */
  readonly isDraft?: boolean;
  readonly id?: number;
  readonly folder: string;
  /** How much of the file is checked before it is opened. */
  readonly extent?: CheckDepth;
  /** Token of the process that owns the data folder. Once the realm is open, no other process can write to it. */
  readonly owner?: string | null;
  readonly durability: Durability;
}

export interface RealmStore {
  readonly lmdb: Lmdb;
  readonly gate: DurabilityGate;
  /** Part of every queue id; a restored backup gets a new one (E1). */
  readonly epoch: string;
  /** Nothing waits to become durable, and the store has every turn. */
  readonly isStored: boolean;
  /** @throws OwnershipLost when another process took the folder over, or the files were replaced */
  assertOwned(): void;
  /** Resolves when the store has every turn and is closed. */
  close(): Promise<void>;
}

/** @throws Error when the store is damaged or newer than the program */
export function openRealmStore(options: RealmStoreOptions): RealmStore {
  const { folder, durability } = options;
  const tables = new LmdbTables(folder, options.extent, options.isDraft);
  const store = prepared(tables, options);
  if (durability === offline) return store;
  const durable = durability.adopt({ id: options.id ?? 0, folder, tables });
  return {
    ...store,
    lmdb: lmdbOf(durable.tables),
    gate: durable.gate,
    get isStored() {
      return durable.isStored;
    },
    async close() {
      await durable.close();
      await tables.close();
    },
  };
}

function prepared(tables: LmdbTables, options: RealmStoreOptions): RealmStore {
  const store = lmdbOf(tables);
  try {
    knownVersion(store);
    refuseUnknownTables(store, tables.unknownTables);
    const [lmdb, assertOwned] = owned(store, options);
    const epoch = prepare(lmdb);
    return { lmdb, gate: alwaysDurable, epoch, isStored: true, assertOwned, close: () => lmdb.close() };
  } catch (error) {
    void store.close();
    throw error;
  }
}

/** The store that this realm writes to, and a check that it is still owned. */
function owned(store: Lmdb, { folder, owner }: RealmStoreOptions): [Lmdb, () => void] {
  if (owner === undefined || owner === null) return [store, () => undefined];
  const environment = fenced(store, folder, owner);
  return [environment, () => environment.assertOwned()];
}

/**
 * A start that changes nothing writes nothing, because the disk may be full.
 * @returns the realm's epoch
 * @throws UnknownFormat
 */
function prepare(lmdb: Lmdb): string {
  const version = knownVersion(lmdb);
  const stored = lmdb.get("meta", "epoch")?.value as string | undefined;
  refuseWithoutHead(lmdb);
  if (version !== undefined) migrateStore(lmdb, version);
  if (version !== undefined && stored !== undefined) return stored;
  const epoch = stored ?? randomBytes(6).toString("hex");
  lmdb.transaction(() => {
    lmdb.put("meta", "format", { value: storeVersion });
    lmdb.put("meta", "epoch", { value: epoch });
  });
  return epoch;
}
