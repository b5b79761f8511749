/**
 * Servers that are broken in one way each, by what stands at their seams: the store, the hub, the projections. Whoever looks for
 * bugs must find these (positive control).
 */
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import type { StagedEvent } from "../../src/runtime/effects-applier.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { Environment, PreparedWrite } from "../../src/store/environment.ts";
import type { Breakage } from "./machine.ts";
import { StoreTap } from "./store-tap.ts";

/** Keeps what was on disk before the last commit, which a power cut brings back: nothing was flushed. */
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

/** Told commands lose their row before they are carried out. */
class HastyMailbox extends StoreTap {
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

/** A timer that rang stays, and rings again at the next start. */
class StickyTimers extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (prepared.table !== "timers" || prepared.bytes !== null) super.write(prepared);
  }
}

/** A command's rows are written but for its last one. */
class HalfWritten extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (prepared.table !== "conversationMessages") super.write(prepared);
  }
}

/** Says that it has kept something, and has not. */
class EmptyPromises extends StoreTap {
  override write(prepared: PreparedWrite): void {
    if (prepared.table !== "savedSnippets" || prepared.bytes === null) super.write(prepared);
  }
}

function sinkOf(hub: EventSink, stage: (event: StagedEvent) => void): EventSink {
  return { changed: (delta) => hub.changed(delta), stage, publish: () => hub.publish() };
}

/** Of each two messages of a topic in one turn, each is shown where the other should be. */
function swapping(hub: EventSink): EventSink {
  let held: StagedEvent | null = null;
  const release = () => {
    if (held !== null) hub.stage(held);
    held = null;
  };
  return {
    changed: (delta) => hub.changed(delta),
    stage: (event) => {
      const { record } = event;
      if (held === null && record.type === "message") held = event;
      else if (held !== null && record.type === "message") {
        const bodies = [record.body, held.record.body] as const;
        hub.stage({ ...held, record: { ...held.record, body: bodies[0] } });
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

/** Every so many rows of subscriptions, memory does not follow. */
function forgetful(realm: Realm): void {
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

/** Each with the promises of which one must be found broken. */
export const breakages: Readonly<Record<string, { readonly breakage: Breakage; readonly breaks: readonly string[] }>> =
  {
    "a flush that is skipped": {
      breakage: { disk: (inner, folder) => new Unflushed(inner, folder), afterCrash: losesLastCommit },
      breaks: ["M1"],
    },
    "a process that outlives a failed commit": { breakage: { goesOn: true }, breaks: ["M5"] },
    "a mailbox row that goes too early": { breakage: { store: (inner) => new HastyMailbox(inner) }, breaks: ["M3"] },
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
    "a timer that rings twice": {
      breakage: { store: (inner) => new StickyTimers(inner) },
      // The timer of an announcement outlives the row that went with its last slice.
      breaks: ["M8", "M2"],
    },
    "a jump of the clock that is believed at once": { breakage: { believesJumps: true }, breaks: ["D26", "D25", "M8"] },
    "a change that is acknowledged and not written": {
      breakage: { store: (inner) => new EmptyPromises(inner) },
      breaks: ["M1"],
    },
    "a command that is written by half": {
      breakage: { store: (inner) => new HalfWritten(inner) },
      // What a direct message lacks in the store, its reader's next fetch lacks, too.
      breaks: ["M2", "M6", "E2"],
    },
    "a projection that does not follow": { breakage: { opened: forgetful }, breaks: ["M9", "S1", "E2", "M6"] },
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
      // Whoever may see the one and not the other never gets it.
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
