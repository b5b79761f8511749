/**
 * The soak (issue "Proof that nothing is lost"): half load for `MINUTES`, memory and latency watched; above a bound it fails. Without
 * `MINUTES` a few hundred requests, which only prove that it measures: a short time on a busy machine proves nothing else.
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

/** As many messages as are kept at most (runtime/row-cache.ts): with them, the tables of small rows are full, too. */
const messagesKept = Math.ceil(limits.cached_messages_characters_max / limits.cached_message_characters_beside);

t.test("[issue, Soak] half load: what the server holds does not grow, and it does not get slower", async (t) => {
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
  t.equal(report.refused, 0, "every request is answered well");
  if (minutes !== null) t.strictSame(faultsOf(report), []);
});

interface Life {
  /** By the minute. */
  readonly heapMib?: (minute: number) => number;
  readonly besideMib?: (minute: number) => number;
  readonly fileMib?: (minute: number) => number;
  readonly latencyMs?: (minute: number) => number;
  readonly requestsPerMinute?: number;
}

const still = () => 100;

/** A life of forty samples, one a minute: what is not said stands still. */
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

/** So much an hour. */
const growing = (mibPerHour: number) => (minute: number) => 100 + (minute * mibPerHour) / 60;

t.test("[issue, Soak] the judgement can fail: memory that grows, latency that drifts, requests that fail", (t) => {
  const points = [
    [0, 1],
    [1, 3],
    [2, 5],
  ] as const;
  t.equal(slope(points), 2);
  t.strictSame(faultsOfLife({}), []);
  const most = soakBounds.heapMibPerHourMax;
  const busy = { requestsPerMinute: 1_000_000 };
  t.match(faultsOfLife({ heapMib: growing(most + 1), ...busy }), [/^memory of its own/, /^heap, MiB/]);
  t.strictSame(faultsOfLife({ heapMib: growing(most - 1), ...busy }), []);
  t.match(faultsOfLife({ besideMib: growing(soakBounds.anonMibPerHourMax + 1) }), [/^memory of its own/]);
  t.strictSame(faultsOfLife({ besideMib: growing(soakBounds.anonMibPerHourMax - 1) }), []);
  t.strictSame(faultsOfLife({ fileMib: growing(1000) }), [], "pages of files are not its own");
  // As sums of a whole life: all samples but the first quarter are looked at, 29 minutes of it.
  const quiet = { requestsPerMinute: 10_000 };
  const leaking = (bytesPerRequest: number, stepsMib: number) =>
    growing(60 * ((bytesPerRequest * quiet.requestsPerMinute) / 2 ** 20 + stepsMib / 29));
  const { heapBytesPerRequestMax: bytes, heapStepsMib: steps } = soakBounds;
  t.match(faultsOfLife({ heapMib: leaking(bytes + 1, steps), ...quiet }), [/^heap, bytes/]);
  t.strictSame(faultsOfLife({ heapMib: leaking(bytes - 1, steps), ...quiet }), []);
  t.match(faultsOfLife({ latencyMs: (minute) => 1 + minute }), [/^drift of the median/]);
  t.match(faultsOfLife({}, 1), [/^requests that failed/]);
  t.end();
});
