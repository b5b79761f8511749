/** Memory that is given back when the process rests (S3): when a collection begins, and what bounds its pause. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { processTools, RestCollector } from "../../src/app/rest-collector.ts";

const megabyte = 1024 * 1024;
const startBytes = 30 * megabyte;

/** A process whose heap and event loop are as the test says. A collection ends when the test calls `end`. */
function opened() {
  const heap = { totalBytes: startBytes, usedBytes: 20 * megabyte };
  let activeMs = 0;
  const begun: ((pauseMs: number) => void)[] = [];
  const collector = new RestCollector({
    heap: () => heap,
    activeMs: () => activeMs,
    collect: (ended) => void begun.push(ended),
  });
  const pass = (seconds: number, activeMsEach = 0) => {
    for (let second = 0; second < seconds; second++) {
      activeMs += activeMsEach;
      collector.look();
    }
  };
  return { heap, begun, pass };
}

t.test("[S3] collection_growth_bytes_min: a resting process collects once its heap takes that much more", async (t) => {
  const { heap, begun, pass } = opened();
  heap.totalBytes = startBytes + limits.collection_growth_bytes_min - 1;
  pass(2 * limits.collection_rest_s);
  t.equal(begun.length, 0);
  heap.totalBytes++;
  pass(limits.collection_rest_s);
  t.equal(begun.length, 1, "and not again before it has ended");
  heap.totalBytes = startBytes + 2 * megabyte;
  begun[0]?.(1);
  pass(2 * limits.collection_rest_s);
  t.equal(begun.length, 1, "nor before the heap has grown again");
  heap.totalBytes += limits.collection_growth_bytes_min;
  pass(1);
  t.equal(begun.length, 2);
});

t.test("[S3] collection_rest_s, collection_rest_active_ms_max: a process that works is left alone", async (t) => {
  const { heap, begun, pass } = opened();
  heap.totalBytes = 2 * startBytes;
  pass(100, limits.collection_rest_active_ms_max + 1);
  pass(limits.collection_rest_s - 1, limits.collection_rest_active_ms_max);
  t.equal(begun.length, 0);
  pass(1, limits.collection_rest_active_ms_max);
  t.equal(begun.length, 1);
});

t.test("[S3] collection_heap_bytes_max: a heap at the bound is collected, a larger one is not", async (t) => {
  const { heap, begun, pass } = opened();
  heap.totalBytes = 2 * limits.collection_heap_bytes_max;
  heap.usedBytes = limits.collection_heap_bytes_max + 1;
  pass(2 * limits.collection_rest_s);
  t.equal(begun.length, 0);
  heap.usedBytes--;
  pass(1);
  t.equal(begun.length, 1);
});

t.test(
  "[S3] collection_pause_ms_max, collection_wait_s: after a longer pause there is none for some time",
  async (t) => {
    const { heap, begun, pass } = opened();
    const grow = () => {
      heap.totalBytes += limits.collection_growth_bytes_min;
      pass(limits.collection_rest_s);
    };
    grow();
    begun[0]?.(limits.collection_pause_ms_max);
    grow();
    t.equal(begun.length, 2);
    begun[1]?.(limits.collection_pause_ms_max + 1);
    grow();
    t.equal(begun.length, 2);
    pass(limits.collection_wait_s - limits.collection_rest_s - 1);
    t.equal(begun.length, 2);
    pass(1);
    t.equal(begun.length, 3);
  },
);

t.test("the process begins a collection, which V8 ends", async (t) => {
  // A server has a socket, which keeps the event loop alive.
  const socket = setInterval(() => undefined, 1000);
  const pauseMs = await new Promise<number>((ended) => processTools.collect(ended));
  clearInterval(socket);
  t.ok(pauseMs > 0);
});
