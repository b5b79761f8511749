/** The room that the journals of a process share: its bounds hold in sum, and whoever waits is woken by any of them. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Backlog, BacklogLimit } from "../../src/durability/journal/backlog-limit.ts";

function opened() {
  const bugs: unknown[] = [];
  const room = new BacklogLimit((error) => bugs.push(error));
  const checkpoints: string[] = [];
  const member = (name: string) => {
    const given = { unflushedBytes: 0, uncheckpointedBytes: 0, recordMemoryBytes: 0 };
    const share = room.join({
      get backlog() {
        return { ...given };
      },
      checkpoint: () => void checkpoints.push(name),
    });
    const lacks = (changed: Partial<Backlog>) => {
      Object.assign(given, changed);
      share.count();
      room.advanced();
    };
    return { lacks, leave: () => share.leave() };
  };
  return { room, bugs, checkpoints, member };
}

t.test("[S3] turns wait for room, and go on when any journal of the process has made some", async (t) => {
  const { room, member, bugs } = opened();
  const [a, b] = [member("a"), member("b")];
  const left: string[] = [];
  a.lacks({ unflushedBytes: limits.journal_unflushed_bytes_max - 1 });
  t.ok(room.hasRoom, "below the bound");
  b.lacks({ unflushedBytes: 1 });
  t.notOk(room.hasRoom, "at the bound, in sum");
  room.once(() => {
    left.push("first");
    throw new Error("broken");
  });
  room.once(() => void left.push("second"));
  room.advanced();
  t.strictSame(left, []);
  b.lacks({ unflushedBytes: 0 });
  t.strictSame(left, ["first", "second"]);
  t.match(bugs, [{ message: "broken" }]);
  room.advanced();
  t.strictSame(left, ["first", "second"], "once");
});

t.test("[S3] overlay_bytes_max holds for rows and records of all stores together", async (t) => {
  const { room, member } = opened();
  const [a, b] = [member("a"), member("b")];
  room.overlays.bytes = limits.overlay_bytes_max / 2;
  a.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 });
  b.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 - 1 });
  t.ok(room.hasRoom, "below the bound");
  b.lacks({ recordMemoryBytes: limits.overlay_bytes_max / 4 });
  t.notOk(room.hasRoom, "at the bound");
  b.leave();
  t.ok(room.hasRoom, "a journal that is closed lacks nothing");
  t.equal(room.memoryBytes, 0.75 * limits.overlay_bytes_max);
});

t.test("[S3] turns wait at gate_bytes_max of what waits at all gates, and go on below it", async (t) => {
  const { room } = opened();
  const left: string[] = [];
  room.atGates.bytes = limits.gate_bytes_max;
  t.notOk(room.hasRoom, "at the bound");
  room.once(() => void left.push("turn"));
  room.advanced();
  t.strictSame(left, []);
  room.atGates.bytes--;
  t.ok(room.hasRoom, "below it");
  room.advanced();
  t.strictSame(left, ["turn"]);
});

t.test("[S3] checkpoint_bytes holds in sum: every store that lacks something gets it at once", async (t) => {
  const { room, member, checkpoints } = opened();
  const [a, b] = [member("a"), member("b")];
  member("idle");
  a.lacks({ uncheckpointedBytes: limits.checkpoint_bytes - 1 });
  t.strictSame([room.isUrgent, checkpoints], [false, []]);
  b.lacks({ uncheckpointedBytes: 1 });
  t.strictSame([room.isUrgent, checkpoints], [true, ["a", "b"]]);
  b.lacks({ uncheckpointedBytes: 2 });
  t.strictSame(checkpoints, ["a", "b"], "told once");
  a.lacks({ uncheckpointedBytes: 0 });
  a.lacks({ uncheckpointedBytes: limits.checkpoint_bytes });
  t.strictSame(checkpoints, ["a", "b", "a", "b"], "and again when it was not urgent meanwhile");
});

t.test("[S3] at checkpoint_memory_bytes of what they lack, the stores get it at once", async (t) => {
  const { room, member, checkpoints } = opened();
  const a = member("a");
  room.overlays.bytes = limits.checkpoint_memory_bytes - 2;
  a.lacks({ uncheckpointedBytes: 1, recordMemoryBytes: 1 });
  t.strictSame([room.isUrgent, checkpoints], [false, []]);
  a.lacks({ recordMemoryBytes: 2 });
  t.strictSame([room.isUrgent, checkpoints], [true, ["a"]]);
});
