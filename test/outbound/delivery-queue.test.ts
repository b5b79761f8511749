/** The queue of rows to deliver, for any kind of receiver (src/outbound/delivery-queue.ts). */
import t from "tap";
import { DeliveryQueue, type DeliveryQueueRow } from "../../src/outbound/delivery-queue.ts";

function startQueue() {
  const clock = { now: 1000 };
  const rows = new Map<number, DeliveryQueueRow>([[1, { dueAt: 0, attempts: 0 }]]);
  const carried: number[] = [];
  const queue = new DeliveryQueue({
    now: () => clock.now,
    read: (start) => [...rows].filter(([id]) => id >= start).map(([id, row]) => ({ id, row })),
    waitingMax: 4,
    concurrentMax: 1,
    deliver: (id) => carried.push(id),
  });
  const write = (id: number, row: DeliveryQueueRow | null) => {
    if (row === null) rows.delete(id);
    else rows.set(id, row);
    queue.noticed(id, row);
    queue.handOver();
  };
  queue.handOver();
  return { clock, queue, write, carried };
}

t.test("[D31] a delivery in progress is not started again when its row is written unchanged", async (t) => {
  const { write, carried, queue } = startQueue();
  write(1, { dueAt: 0, attempts: 0 });
  t.strictSame(carried, [1]);
  write(1, null);
  t.strictSame(carried, [1]);
  t.ok(queue.isIdle);
});

t.test("[D31] a failed delivery is retried when it is due, and delays no other until then", async (t) => {
  const { clock, write, carried } = startQueue();
  write(2, { dueAt: 0, attempts: 0 });
  t.strictSame(carried, [1], "one at a time");
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 2]);
  write(2, null);
  clock.now = 2000;
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 2, 1]);
});

t.test("[D31] a failed delivery is retried even if its failure is recorded only after the retry is due", async (t) => {
  const { clock, write, carried } = startQueue();
  // The machine slept, or the flush took longer than the pause before the next attempt.
  clock.now = 9000;
  write(1, { dueAt: 2000, attempts: 1 });
  t.strictSame(carried, [1, 1]);
});
