/** The room that the journals of a process share: its bounds hold in sum, and whoever waits is woken by any of them. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Backlog, BacklogLimit } from "../../src/durability/journal/durability-gate.ts";

function opened() {
  const bugs: unknown[] = [];
  const backlog = new BacklogLimit((error) => bugs.push(error));
  const checkpoints: string[] = [];
  const member = (name: string) => {
    const given = { unflushedBytes: 0, uncheckpointedBytes: 0, recordMemoryBytes: 0 };
    const share = backlog.join({
      get backlog() {
        return { ...given };
      },
      checkpoint: () => void checkpoints.push(name),
    });
    const lacks = (changed: Partial<Backlog>) => {
      Object.assign(given, changed);
      share.count();
      backlog.advanced();
    };
    return { lacks, leave: () => share.leave() };
  };
  return { room: backlog, bugs, checkpoints, member };
}

t.test("[S3] turns wait for room, and go on when any journal of the process has made some", async (t) => {
  const { room: backlog, member, bugs } = opened();
  const [a, b] = [member("a"), member("b")];
  const left: string[] = [];
  a.lacks({ unflushedBytes: limits.journal_unflushed_bytes_max - 1 });
  t.ok(backlog.hasRoom, "below the bound");
  b.lacks({ unflushedBytes: 1 });
  t.notOk(backlog.hasRoom, "at the bound, in sum");
  backlog.once(() => {
    left.push("first");
    throw new Error("broken");
  });
  backlog.once(() => void left.push("second"));
  backlog.advanced();
  t.strictSame(left, []);
  b.lacks({ unflushedBytes: 0 });
  t.strictSame(left, ["first", "second"]);
  t.match(bugs, [{ message: "broken" }]);
  backlog.advanced();
  t.strictSame(left, ["first", "second"], "once");
});

t.test("[S3] overlay_bytes_max holds for rows and records of all stores together", async (t) => {
  const { room: backlog, member } = opened();
  const [a, b] = [member("a"), member("b")];
  backlog.overlays.bytes = limits.overlay_bytes_max / 2;
  a.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 });
  b.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 - 1 });
  t.ok(backlog.hasRoom, "below the bound");
  b.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 });
  t.notOk(backlog.hasRoom, "at the bound");
  b.leave();
  t.ok(backlog.hasRoom, "a journal that is closed lacks nothing");
  t.equal(backlog.memoryBytes, 0.75 * limits.overlay_bytes_max);
});

t.test("[S3] turns wait at gate_bytes_max of what waits at all gates, and go on below it", async (t) => {
  const { room: backlog } = opened();
  const left: string[] = [];
  backlog.atGates.bytes = limits.gate_bytes_max;
  t.notOk(backlog.hasRoom, "at the bound");
  backlog.once(() => void left.push("turn"));
  backlog.advanced();
  t.strictSame(left, []);
  backlog.atGates.bytes--;
  t.ok(backlog.hasRoom, "below it");
  backlog.advanced();
  t.strictSame(left, ["turn"]);
});

t.test("[S3] checkpoint_bytes holds in sum: every store that lacks something gets it at once", async (t) => {
  const { room: backlog, member, checkpoints } = opened();
  const [a, b] = [member("a"), member("b")];
  member("idle");
  a.lacks({ uncheckpointedBytes: limits.checkpoint_bytes - 1 });
  t.strictSame([backlog.isUrgent, checkpoints], [false, []]);
  b.lacks({ uncheckpointedBytes: 1 });
  t.strictSame([backlog.isUrgent, checkpoints], [true, ["a", "b"]]);
  b.lacks({ uncheckpointedBytes: 2 });
  t.strictSame(checkpoints, ["a", "b"], "told once");
  a.lacks({ uncheckpointedBytes: 0 });
  a.lacks({ uncheckpointedBytes: limits.checkpoint_bytes });
  t.strictSame(checkpoints, ["a", "b", "a", "b"], "and again when it was not urgent meanwhile");
});

t.test("[S3] at checkpoint_memory_bytes of what they lack, the stores get it at once", async (t) => {
  const { room: backlog, member, checkpoints } = opened();
  const a = member("a");
  backlog.overlays.bytes = limits.checkpoint_memory_bytes - 2;
  a.lacks({ uncheckpointedBytes: 1, recordMemoryBytes: 1 });
  t.strictSame([backlog.isUrgent, checkpoints], [false, []]);
  a.lacks({ recordMemoryBytes: 2 });
  t.strictSame([backlog.isUrgent, checkpoints], [true, ["a"]]);
});
