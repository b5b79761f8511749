/**
 * The soak: half load for `MINUTES`, with memory and latency measured; it fails above a bound. Without `MINUTES` it
 * sends a few hundred requests, which test only the measurement: a short run on a busy machine proves nothing about the
 * server.
 */
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { faultsOf, reportOf, type Sample, slope, soakBounds } from "./measures.ts";
import { inspect, inspectable } from "./memory.ts";
import { soak } from "./soak.ts";

const given = Number(process.env["MINUTES"] ?? "");
const minutes = given > 0 ? given : null;

/** The maximum number of cached messages (runtime/caches.ts): with these, the caches of small rows are full, too. */
const messagesKept = Math.ceil(limits.cached_messages_characters_max / limits.cached_message_overhead_characters);

t.test("[S3] at half load the server's memory does not grow, and it does not get slower", async (t) => {
  const { program, owner } = await startProgram(t, join(temporaryFolder(t), "data"), inspectable);
  const report = await soak({
    owner,
    memory: await inspect(t, program),
    filling: minutes === null ? 60 : messagesKept,
    burst: minutes === null ? 60 : 2000,
    minutes,
    requests: 240,
    samples: minutes === null ? 8 : 40,
    ...(minutes === null ? {} : { onSample: (sample: Sample) => t.comment(JSON.stringify(sample)) }),
  });
  const { samples, ...summary } = report;
  t.comment(JSON.stringify(summary));
  t.ok(samples.length >= 8 && samples.every(({ p50Ms, p99Ms }) => p50Ms > 0 && p99Ms >= p50Ms));
  t.ok(
    samples.every(({ heapMib, anonMib, fileMib, rssMib }) => heapMib > 1 && anonMib > heapMib / 2 && rssMib > fileMib),
  );
  t.equal(report.refused, 0, "every request succeeds");
  if (minutes !== null) t.strictSame(faultsOf(report), []);
});

interface Life {
  /** By minute. */
  readonly heapMib?: (minute: number) => number;
  readonly besideMib?: (minute: number) => number;
  readonly fileMib?: (minute: number) => number;
  readonly latencyMs?: (minute: number) => number;
  readonly requestsPerMinute?: number;
}

const still = () => 100;

/** Forty samples, one a minute; values that are not given stay constant. */
function faultsOfLife(life: Life, refused = 0): string[] {
  const { heapMib = still, besideMib = still, fileMib = still, latencyMs = still, requestsPerMinute = 60_000 } = life;
  const samples = Array.from({ length: 40 }, (_, minute) => ({
    atS: minute * 60,
    requests: minute * requestsPerMinute,
    heapMib: heapMib(minute),
    anonMib: heapMib(minute) + besideMib(minute),
    fileMib: fileMib(minute),
    rssMib: heapMib(minute) + besideMib(minute) + fileMib(minute),
    p50Ms: latencyMs(minute),
    p99Ms: latencyMs(minute) * 4,
  }));
  return faultsOf(reportOf(samples, 10, refused));
}

/** Grows by that much per hour. */
const growing = (mibPerHour: number) => (minute: number) => 100 + (minute * mibPerHour) / 60;

t.test("[S3] the soak fails for memory that grows, latency that drifts and requests that fail", async (t) => {
  const points = [
    [0, 1],
    [1, 3],
    [2, 5],
  ] as const;
  t.equal(slope(points), 2);
  t.strictSame(faultsOfLife({}), []);
  const most = soakBounds.heapMibPerHourMax;
  const busy = { requestsPerMinute: 1_000_000 };
  t.match(faultsOfLife({ heapMib: growing(most + 1), ...busy }), [/^own memory/, /^heap, MiB/]);
  t.strictSame(faultsOfLife({ heapMib: growing(most - 1), ...busy }), []);
  t.match(faultsOfLife({ besideMib: growing(soakBounds.anonMibPerHourMax + 1) }), [/^own memory/]);
  t.strictSame(faultsOfLife({ besideMib: growing(soakBounds.anonMibPerHourMax - 1) }), []);
  t.strictSame(faultsOfLife({ fileMib: growing(1000) }), [], "pages of files do not count");
  // Over the measured 29 minutes: all samples except the first quarter.
  const quiet = { requestsPerMinute: 10_000 };
  const leaking = (bytesPerRequest: number, stepsMib: number) =>
    growing(60 * ((bytesPerRequest * quiet.requestsPerMinute) / 2 ** 20 + stepsMib / 29));
  const { heapBytesPerRequestMax: bytes, heapStepsMib: steps } = soakBounds;
  t.match(faultsOfLife({ heapMib: leaking(bytes + 1, steps), ...quiet }), [/^heap, bytes/]);
  t.strictSame(faultsOfLife({ heapMib: leaking(bytes - 1, steps), ...quiet }), []);
  t.match(faultsOfLife({ latencyMs: (minute) => 1 + minute }), [/^drift of the median/]);
  t.match(faultsOfLife({}, 1), [/^requests that failed/]);
});
