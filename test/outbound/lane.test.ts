/** The lane that rows go out in, whoever receives them (src/outbound/lane.ts). */
import t from "tap";
import { Lane, type LaneRow } from "../../src/outbound/lane.ts";

function startLane() {
  const clock = { now: 1000 };
  const rows = new Map<number, LaneRow>([[1, { dueAt: 0, attempts: 0 }]]);
  const carried: number[] = [];
  const lane = new Lane({
    now: () => clock.now,
    read: (start) => [...rows].filter(([id]) => id >= start).map(([id, row]) => ({ id, row })),
    waitingMax: 4,
    concurrentMax: 1,
    carry: (id) => carried.push(id),
  });
  const write = (id: number, row: LaneRow | null) => {
    if (row === null) rows.delete(id);
    else rows.set(id, row);
    lane.noticed(id, row);
    lane.handOver();
  };
  lane.handOver();
  return { clock, lane, write, carried };
}

t.test("[D31] what is under way is not carried again when its row is written as it is", async (t) => {
  const { write, carried, lane } = startLane();
  write(1, { dueAt: 0, attempts: 0 });
  t.strictSame(carried, [1]);
  write(1, null);
  t.strictSame(carried, [1]);
  t.ok(lane.isIdle);
});

t.test("[D31] what failed is carried again when it is due, and holds up nobody until then", async (t) => {
  const { clock, write, carried } = startLane();
  write(2, { dueAt: 0, attempts: 0 });
  t.strictSame(carried, [1], "one at a time");
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 2]);
  write(2, null);
  clock.now = 2000;
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 2, 1]);
});

t.test("[D31] what failed is carried again also where word of it comes when it is due already", async (t) => {
  const { clock, write, carried } = startLane();
  // The machine slept, or the flush took longer than the pause before the next attempt.
  clock.now = 9000;
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 1]);
});
