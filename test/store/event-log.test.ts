/**
 * The event log's bounds (architecture, Event log): bytes and age, at least fifteen minutes kept, pruned in slices, and
 * a start position that survives a restart, so that a client with a gap gets an error (E2).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import { encodeRow } from "../../src/store/codec.ts";
import { EventLog } from "../../src/store/event-log.ts";
import { type Lmdb, openLmdb } from "../../src/store/lmdb.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

const now = Date.UTC(2026, 5, 1, 12);

function openTemporary(t: Teardown): Lmdb {
  const lmdb = openLmdb(temporaryFolder(t));
  t.teardown(() => lmdb.close());
  return lmdb;
}

function eventAt(position: number, at: number): EventRecord {
  return { position, at, type: "message", audience: { to: "realm" }, body: { message_id: position } };
}

/** Positions ten apart: volatile events took those between. @returns the bytes of all of them */
function fill(lmdb: Lmdb, ages: readonly number[]): number {
  let bytes = 0;
  lmdb.transaction(() => {
    ages.forEach((age, index) => {
      const event = eventAt((index + 1) * 10, now - age);
      bytes += lmdb.put("events", event.position, event);
    });
  });
  return bytes;
}

function prune(lmdb: Lmdb, log: EventLog, bytes: number): number {
  return lmdb.transaction(() => log.prune(now, bytes));
}

function positions(log: EventLog): number[] {
  return log.read(0, 10_000).map(({ position }) => position);
}

t.test("[E2] a log that was never pruned can replay everything, whatever its first position is", async (t) => {
  const lmdb = openTemporary(t);
  t.equal(new EventLog(lmdb).startsAt, 0);
  fill(lmdb, [5, 4, 3]);
  const log = new EventLog(lmdb);
  t.equal(log.startsAt, 0);
  t.strictSame(positions(log), [10, 20, 30]);
  const found = log.read(11, 1).map(({ position }) => position);
  t.strictSame(found, [20], "from a position between two events");
  t.strictSame(log.read(31, 10), []);
});

t.test("events older than event_log_kept_ms_max are pruned; those exactly as old stay", async (t) => {
  const lmdb = openTemporary(t);
  const max = limits.event_log_kept_ms_max;
  const bytes = fill(lmdb, [max + 2, max + 1, max, 5]);
  const log = new EventLog(lmdb);
  const removed = prune(lmdb, log, bytes);
  t.strictSame(positions(log), [30, 40]);
  const left = log.read(0, 10).reduce((sum, row) => sum + encodeRow("events", row.position, row).length, 0);
  t.equal(removed, bytes - left, "it reports what it removed, to the byte");
  t.equal(log.startsAt, 21, "everything after the last pruned event");
  t.equal(new EventLog(lmdb).startsAt, 21, "a restart reads it from the log");
  t.equal(prune(lmdb, log, bytes - removed), 0, "nothing left to do");
  t.equal(log.startsAt, 21);
});

t.test("above event_log_bytes_max the oldest events are pruned, but never the last 15 minutes", async (t) => {
  const lmdb = openTemporary(t);
  const min = limits.event_log_kept_ms_min;
  t.equal(min, 15 * 60 * 1000);
  fill(lmdb, [min + 4, min + 3, min + 2, min + 1, min, 5]);
  const log = new EventLog(lmdb);
  const each = encodeRow("events", 10, eventAt(10, now)).length;
  t.equal(prune(lmdb, log, limits.event_log_bytes_max), 0, "at the bound nothing is pruned");
  prune(lmdb, log, limits.event_log_bytes_max + 1);
  t.strictSame(positions(log), [20, 30, 40, 50, 60], "one byte above: one row is pruned");
  prune(lmdb, log, limits.event_log_bytes_max + each + 1);
  t.strictSame(positions(log), [40, 50, 60], "two rows");
  prune(lmdb, log, 100 * limits.event_log_bytes_max);
  t.strictSame(positions(log), [50, 60], "recent rows stay, however large the log is");
});

t.test("[S3] a slice of pruning removes at most event_log_prune_rows_max rows", async (t) => {
  const lmdb = openTemporary(t);
  const count = limits.event_log_prune_rows_max + 1;
  const bytes = fill(lmdb, new Array<number>(count).fill(limits.event_log_kept_ms_max + 1));
  const log = new EventLog(lmdb);
  const removed = prune(lmdb, log, bytes);
  t.strictSame(positions(log), [count * 10]);
  prune(lmdb, log, bytes - removed);
  t.strictSame(positions(log), []);
  t.equal(log.startsAt, count * 10 + 1, "an empty log has a start position");
  t.equal(new EventLog(lmdb).startsAt, count * 10 + 1);
});

t.test("[M2] pruning rolls back with its transaction", async (t) => {
  const lmdb = openTemporary(t);
  const bytes = fill(lmdb, [limits.event_log_kept_ms_max + 1, 5]);
  t.throws(() =>
    lmdb.transaction(() => {
      new EventLog(lmdb).prune(now, bytes);
      throw new Error("no");
    }),
  );
  t.strictSame(positions(new EventLog(lmdb)), [10, 20]);
  t.equal(new EventLog(lmdb).startsAt, 0);
});
