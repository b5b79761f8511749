/**
 * Gives memory back when the process rests. V8 collects garbage while a heap grows, so the garbage of
 * thousands of clients that connected would stay until others come.
 *
 * A collection on demand stops the event loop while the whole heap is visited. If memory outside of its heap grows by
 * 64 MB, V8 begins one whose work is done by other threads, and stops the loop only for its end. An array that
 * is never touched is such memory and takes none.
 */
import { constants, PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { limits } from "../../schemas/limits.ts";

export interface RestCollectorTools {
  /** The size of the heap, and of the objects in it, which may be garbage. */
  readonly heap: () => { readonly totalBytes: number; readonly usedBytes: number };
  /** For how long the event loop has worked so far. */
  readonly activeMs: () => number;
  /** Begins a collection. Calls `ended` with the time for which it has stopped the loop. */
  readonly collect: (ended: (pauseMs: number) => void) => void;
}

export class RestCollector {
  readonly #tools: RestCollectorTools;
  #activeMs: number;
  #restS = 0;
  /** The smallest size of the heap so far. */
  #keptBytes: number;
  /** Looks for which nothing is collected. */
  #waitS = 0;
  #isCollecting = false;

  constructor(tools: RestCollectorTools = processTools) {
    this.#tools = tools;
    this.#activeMs = tools.activeMs();
    this.#keptBytes = tools.heap().totalBytes;
  }

  /** Called each second. */
  look(): void {
    const activeMs = this.#tools.activeMs();
    const isResting = activeMs - this.#activeMs <= limits.collection_rest_active_ms_max;
    this.#activeMs = activeMs;
    this.#restS = isResting ? this.#restS + 1 : 0;
    if (this.#waitS > 0) this.#waitS--;
    if (this.#restS < limits.collection_rest_s || this.#isCollecting || this.#waitS > 0) return;
    const { totalBytes, usedBytes } = this.#tools.heap();
    this.#keptBytes = Math.min(this.#keptBytes, totalBytes);
    if (totalBytes - this.#keptBytes < limits.collection_growth_bytes_min) return;
    if (usedBytes > limits.collection_heap_bytes_max) return;
    this.#isCollecting = true;
    this.#tools.collect((pauseMs) => {
      this.#isCollecting = false;
      this.#keptBytes = this.#tools.heap().totalBytes;
      if (pauseMs > limits.collection_pause_ms_max) this.#waitS = limits.collection_wait_s;
    });
  }
}

export const processTools: RestCollectorTools = {
  heap() {
    const { total_heap_size: totalBytes, used_heap_size: usedBytes } = getHeapStatistics();
    return { totalBytes, usedBytes };
  },
  activeMs: () => performance.eventLoopUtilization().active,
  collect(ended) {
    let pauseMs = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const kind = kindOf(entry);
        // The beginning of the collection stops the loop, too.
        if (kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) pauseMs += entry.duration;
        if (kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
        observer.disconnect();
        ended(pauseMs + entry.duration);
        return;
      }
    });
    observer.observe({ entryTypes: ["gc"] });
    void new ArrayBuffer(limits.collection_trigger_bytes);
  },
};

/** The typings lack `detail`. */
function kindOf(entry: object): number | undefined {
  return (entry as { readonly detail?: { readonly kind?: number } }).detail?.kind;
}
