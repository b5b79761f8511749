/**
 * Servers that are broken in one way each, at one of their interfaces: the journal, the gate, the overlay, checkpoints,
 * recovery, the rows, the hub, the projections. Every bug finder must find these (positive control).
 */
import type { TableName } from "../../schemas/records.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import type { Writer } from "../../src/durability/journal/checkpoint-worker.ts";
import type { DurableTables } from "../../src/durability/journal/durability.ts";
import { alwaysDurable, type DurabilityGate, ReadTracker } from "../../src/durability/journal/durability-gate.ts";
import type { Recorded } from "../../src/durability/journal/journal.ts";
import { OverlayTables } from "../../src/durability/journal/overlay-tables.ts";
import { decodeRecord } from "../../src/durability/journal/record.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { StagedEvent } from "../../src/runtime/turn.ts";
import { nameOfKey } from "../../src/store/codec.ts";
import { lmdbOf } from "../../src/store/lmdb.ts";
import { StoreWriter } from "../../src/store/store-writer.ts";
import { turnKey, turnNumberIn } from "../../src/store/turn-number.ts";
import { areaCases } from "../areas/index.ts";
import type { Breakage } from "./machine.ts";
import { TablesTap } from "./tables-tap.ts";

/** The realm has this gate instead of its own. */
function withGate(durable: DurableTables, gate: DurabilityGate): DurableTables {
  return Object.create(durable, { gate: { value: gate } }) as DurableTables;
}

/** Lets out what shows a turn with the flush before the turn's own. */
function earlyBy(records: number, gate: DurabilityGate, reads = gate.reads): DurabilityGate {
  return {
    get isOpen() {
      return gate.isOpenFor(gate.newestRecord - records);
    },
    get newestRecord() {
      return gate.newestRecord;
    },
    reads,
    isOpenFor: (position) => gate.isOpenFor(position - records),
    waitFor: (leave, seen = gate.newestRecord) => gate.waitFor(leave, seen - records),
    get hasRoom() {
      return gate.hasRoom;
    },
    onceRoom: (goOn) => gate.onceRoom(goOn),
    passes: gate.passes,
  };
}

/** Reads show nothing that could be undone, they say. */
class BlindReads extends ReadTracker {
  override get newestRecord() {
    return this.isWatched ? 0 : null;
  }
}

/** Drops the rows of a turn as soon as its record is durable, although the store does not have them yet. */
function droppingEarly(durable: DurableTables): DurableTables {
  const { tables, gate } = durable;
  let turn = turnNumberIn(lmdbOf(tables));
  class Dropping extends TablesTap {
    override transaction<R>(work: () => R): R {
      const result = super.transaction(work);
      if (this.isWriting || !(tables instanceof OverlayTables)) return result;
      turn++;
      const ended = turn;
      gate.waitFor(() => tables.checkpointed(ended));
      return result;
    }
  }
  return Object.create(durable, { tables: { value: new Dropping(tables) } }) as DurableTables;
}

/** Stores the number of the last turn in a transaction of its own, before the rows. */
function numberFirst(writer: Writer): Writer {
  const isNumber = ({ table, key }: { readonly table: string; readonly key: string }) =>
    table === "meta" && key === nameOfKey(turnKey);
  return {
    write: (rows, guards) => {
      const all = [...rows];
      return writer.write(all.filter(isNumber), guards) && writer.write(all, []);
    },
    close: () => writer.close(),
  };
}

/** Writes the rows of the first record that the journal still has once more. */
async function appliesAgain(folder: string, records: readonly Recorded[]): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  const writer = new StoreWriter(folder);
  writer.write(decodeRecord(first.bytes).writes, []);
  await writer.close();
}

/** Mailbox rows are removed before their commands run. */
class EarlyMailboxRemoval extends TablesTap {
  #kept: unknown[] = [];

  override write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    if (table === "mailbox" && bytes !== null) this.#kept.push(key);
    super.write(table, key, bytes);
  }

  override transaction<R>(work: () => R): R {
    if (!this.isWriting && this.#kept.length > 0) {
      const early = this.#kept;
      this.#kept = [];
      super.transaction(() => {
        for (const key of early) super.write("mailbox", key, null);
      });
    }
    return super.transaction(work);
  }
}

/** Does not write some rows. */
class Forgetful extends TablesTap {
  readonly #isForgotten: (table: TableName, bytes: Uint8Array | null) => boolean;

  constructor(inner: TablesTap["inner"], isForgotten: (table: TableName, bytes: Uint8Array | null) => boolean) {
    super(inner);
    this.#isForgotten = isForgotten;
  }

  override write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    if (!this.#isForgotten(table, bytes)) super.write(table, key, bytes);
  }
}

const factTables: ReadonlySet<TableName> = new Set(areaCases.flatMap(({ facts }) => facts?.tables ?? []));

function sinkOf(hub: EventSink, stage: (event: StagedEvent) => void): EventSink {
  return { apply: (delta) => hub.apply(delta), stage, publish: () => hub.publish() };
}

/** Swaps each two messages of a topic in one turn. */
function swapping(hub: EventSink): EventSink {
  let held: { readonly staged: StagedEvent; readonly record: EventRecord<"message"> } | null = null;
  const release = () => {
    if (held !== null) hub.stage(held.staged);
    held = null;
  };
  return {
    apply: (delta) => hub.apply(delta),
    stage: (event) => {
      const { record } = event;
      if (held === null && record.type === "message") held = { staged: event, record };
      else if (held !== null && record.type === "message") {
        const bodies = [record.body, held.record.body] as const;
        hub.stage({ ...held.staged, record: { ...held.record, body: bodies[0] } });
        hub.stage({ ...event, record: { ...record, body: bodies[1] } });
        held = null;
      } else {
        release();
        hub.stage(event);
      }
    },
    publish: () => {
      release();
      hub.publish();
    },
  };
}

/** Memory misses one of every few subscription rows. */
function withoutSomeRows(realm: Realm): void {
  const { projections } = realm;
  const apply = projections.apply.bind(projections);
  let rows = 0;
  Object.assign(projections, {
    apply(delta: Parameters<typeof apply>[0]): void {
      if (delta.table === "subscriptions") rows++;
      if (delta.table !== "subscriptions" || rows % 5 !== 0) apply(delta);
    },
  });
}

interface Control {
  readonly breakage: Breakage;
  /** Promises that a run may report as broken, and no other. */
  readonly breaks: readonly string[];
  /** Some run must report one of these. Absent: any of `breaks`. */
  readonly mustReport?: readonly string[];
}

export const breakages: Readonly<Record<string, Control>> = {
  // The store lacks a turn, whose rows may have been written again.
  "a journal that does not flush": { breakage: { journal: { skipsFlush: true } }, breaks: ["M1", "M2"] },
  "a journal that acknowledges before it flushes": {
    breakage: { journal: { acknowledgesEarly: true } },
    breaks: ["M1"],
  },
  "a process that outlives a failed flush": { breakage: { ignoresFailedFlush: true }, breaks: ["M5"] },
  "an answer that leaves early": { breakage: { answers: (gate) => earlyBy(1, gate) }, breaks: ["M1"] },
  "a read that leaves early": {
    breakage: { durable: (durable) => withGate(durable, earlyBy(0, durable.gate, new BlindReads())) },
    // What a crash took back is a message that its reader may not see, or one that is missing or changed.
    breaks: ["M1", "S1", "M9"],
  },
  "a gate that is left out": { breakage: { durable: (durable) => withGate(durable, alwaysDurable) }, breaks: ["M1"] },
  "an overlay that drops rows before their checkpoint": {
    breakage: { durable: droppingEarly },
    // What a command does not find in the store, it rejects or makes again.
    breaks: ["M1", "M2", "M3", "M6", "M7", "M9", "D25", "E1", "E2", "S1"],
  },
  "a checkpoint that stores its number too early": { breakage: { writer: numberFirst }, breaks: ["M1"] },
  "a record that is skipped at the start": {
    breakage: { recovered: (records) => records.slice(0, -1) },
    breaks: ["M1", "M2"],
  },
  "a record that is applied again, behind later ones": { breakage: { afterRecovery: appliesAgain }, breaks: ["M1"] },
  "a mailbox row that is removed too early": {
    breakage: { tables: (inner) => new EarlyMailboxRemoval(inner) },
    breaks: ["M3"],
  },
  "an event that is published before the commit": {
    breakage: {
      sink: (hub) =>
        sinkOf(hub, (event) => {
          hub.stage(event);
          hub.publish();
        }),
    },
    breaks: ["M1"],
  },
  "an Idempotency-Key that is not stored": {
    breakage: { tables: (inner) => new Forgetful(inner, (table, bytes) => table === "idempotency" && bytes !== null) },
    // A repeat is executed again: when the answer to one leaves, the turn of the other is not on disk yet.
    breaks: ["D25", "M1"],
    mustReport: ["D25"],
  },
  "a timer that fires twice": {
    breakage: { tables: (inner) => new Forgetful(inner, (table, bytes) => table === "timers" && bytes === null) },
    // The timer of an announcement survives the row that its last slice removed.
    breaks: ["M8", "M2"],
  },
  "a jump of the clock that is trusted at once": {
    breakage: { trustsJumps: true },
    // Channels become inactive with the jump, before an event reports it.
    breaks: ["D26", "D25", "M8", "E2"],
    mustReport: ["D26", "D25", "M8"],
  },
  "a change that is acknowledged and not written": {
    breakage: { tables: (inner) => new Forgetful(inner, (table, bytes) => factTables.has(table) && bytes !== null) },
    // A client that received the event may be compared with the store before the fact is.
    breaks: ["M1", "E2"],
    mustReport: ["M1"],
  },
  "a command of which only a part is written": {
    breakage: { tables: (inner) => new Forgetful(inner, (table) => table === "conversationMessages") },
    // A direct message missing in the store is also missing in its reader's next fetch.
    breaks: ["M2", "M6", "E2"],
  },
  "a projection that is not updated": { breakage: { opened: withoutSomeRows }, breaks: ["M9", "S1", "E2", "M6"] },
  "a message that is shown to everybody": {
    breakage: {
      sink: (hub) =>
        sinkOf(hub, ({ record, replaces }) =>
          hub.stage({
            record: record.type === "message" ? { ...record, audience: { to: "realm" } } : record,
            replaces,
          }),
        ),
    },
    breaks: ["S1"],
  },
  "messages that change places": {
    breakage: { sink: swapping },
    // A user who may see only one of the two never receives it.
    breaks: ["M7", "E1", "S1", "E2"],
  },
  "an event that gets lost": {
    breakage: {
      sink: (hub) =>
        sinkOf(hub, (event) => {
          if (event.record.position % 7 !== 0) hub.stage(event);
        }),
    },
    breaks: ["E2"],
  },
};
