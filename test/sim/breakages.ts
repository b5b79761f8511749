/**
 * Servers that are broken in one way each, at one of their interfaces: the store, the hub, the projections. Every bug
 * finder must find these (positive control).
 */
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { StagedEvent } from "../../src/runtime/stage-effects.ts";
import type { Environment, PreparedWrite } from "../../src/store/environment.ts";
import { areaCases } from "../areas/index.ts";
import type { Breakage } from "./machine.ts";
import { StoreTap } from "./store-tap.ts";

/** Keeps the state before the last commit, which a power cut restores: nothing was flushed. */
class Unflushed extends StoreTap {
  readonly #folder: string;

  constructor(inner: Environment, folder: string) {
    super(inner);
    this.#folder = folder;
  }

  override transaction<R>(work: () => R): R {
    if (this.isWriting) return super.transaction(work);
    const { now, next, before } = imagesIn(this.#folder);
    copyFileSync(now, next);
    const result = super.transaction(work);
    renameSync(next, before);
    return result;
  }
}

function imagesIn(folder: string) {
  return { now: join(folder, "data.mdb"), next: join(folder, "next.image"), before: join(folder, "before.image") };
}

function losesLastCommit(folder: string): void {
  const { now, before } = imagesIn(folder);
  if (existsSync(before)) copyFileSync(before, now);
}

/** Mailbox rows are removed before their commands run. */
class EarlyMailboxRemoval extends StoreTap {
  #kept: number[] = [];

  override put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number {
    if (table === "mailbox") this.#kept.push(key as number);
    return super.put(table, key, row);
  }

  override transaction<R>(work: () => R): R {
    if (!this.isWriting && this.#kept.length > 0) {
      const early = this.#kept;
      this.#kept = [];
      super.transaction(() => {
        for (const key of early) this.remove("mailbox", key);
      });
    }
    return super.transaction(work);
  }
}

class ForgottenKeys extends StoreTap {
  override put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number {
    return table === "idempotency" ? 0 : super.put(table, key, row);
  }
}

/** A timer that fired stays, and fires again at the next start. */
class UnremovedTimers extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (prepared.table !== "timers" || prepared.bytes !== null) super.write(prepared);
  }
}

/** All rows of a command are written except its last one. */
class HalfWritten extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (prepared.table !== "conversationMessages") super.write(prepared);
  }
}

const factTables: ReadonlySet<TableName> = new Set(areaCases.flatMap(({ facts }) => facts?.tables ?? []));

/** Acknowledges a row without storing it. */
class FalseAcknowledgements extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (!factTables.has(prepared.table) || prepared.bytes === null) super.write(prepared);
  }
}

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
  "a flush that is skipped": {
    breakage: { disk: (inner, folder) => new Unflushed(inner, folder), afterCrash: losesLastCommit },
    breaks: ["M1"],
  },
  "a process that outlives a failed commit": { breakage: { ignoresFailedCommit: true }, breaks: ["M5"] },
  "a mailbox row that is removed too early": {
    breakage: { store: (inner) => new EarlyMailboxRemoval(inner) },
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
    breakage: { store: (inner) => new ForgottenKeys(inner) },
    breaks: ["D25"],
  },
  "a timer that fires twice": {
    breakage: { store: (inner) => new UnremovedTimers(inner) },
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
    breakage: { store: (inner) => new FalseAcknowledgements(inner) },
    // A client that received the event may be compared with the store before the fact is.
    breaks: ["M1", "E2"],
    mustReport: ["M1"],
  },
  "a command of which only a part is written": {
    breakage: { store: (inner) => new HalfWritten(inner) },
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
