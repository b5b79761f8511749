/**
 * The soak (issue "Proof that nothing is lost"): half load for `MINUTES`, memory and latency watched; above a bound it fails. Without
 * `MINUTES` a few hundred requests, which only prove that it measures: a short time on a busy machine proves nothing else.
 */
import { join } from "node:path";
import t from "tap";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { faultsOf, reportOf, type Sample, slopePerSecond, soakBounds } from "./measures.ts";
import { soak } from "./soak.ts";

const given = Number(process.env["MINUTES"] ?? "");
const minutes = given > 0 ? given : null;

t.test("[issue, Soak] half load: what the server holds does not grow, and it does not get slower", async (t) => {
  const { program, owner } = await startProgram(t, join(temporaryFolder(t), "data"));
  const report = await soak({
    owner,
    pid: program.pid,
    burst: minutes === null ? 60 : 2000,
    minutes,
    requests: 240,
    samples: minutes === null ? 8 : 40,
    ...(minutes === null ? {} : { onSample: (sample: Sample) => t.comment(JSON.stringify(sample)) }),
  });
  const { samples, ...summary } = report;
  t.comment(JSON.stringify(summary));
  t.ok(samples.length >= 8 && samples.every(({ rssMib, p50Ms, p99Ms }) => rssMib > 0 && p50Ms > 0 && p99Ms >= p50Ms));
  t.equal(report.refused, 0, "every request is answered well");
  if (minutes !== null) t.strictSame(faultsOf(report), []);
});

/** A life of forty samples, one a minute. */
function lifeOf(rssMib: (minute: number) => number, latencyMs: (minute: number) => number): Sample[] {
  return Array.from({ length: 40 }, (_, minute) => ({
    atS: minute * 60,
    rssMib: rssMib(minute),
    p50Ms: latencyMs(minute),
    p99Ms: latencyMs(minute) * 4,
  }));
}

t.test("[issue, Soak] the judgement can fail: memory that grows, latency that drifts, requests that fail", (t) => {
  const still = () => 100;
  t.equal(
    slopePerSecond([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    2,
  );
  t.strictSame(
    faultsOf(
      reportOf(
        lifeOf(still, () => 2),
        10,
        0,
      ),
    ),
    [],
  );
  const { rssMibPerHourMax: most } = soakBounds;
  t.match(
    faultsOf(
      reportOf(
        lifeOf(
          (minute) => 100 + (minute * (most + 1)) / 60,
          () => 2,
        ),
        10,
        0,
      ),
    ),
    [/^memory/],
  );
  t.strictSame(
    faultsOf(
      reportOf(
        lifeOf(
          (minute) => 100 + (minute * (most - 1)) / 60,
          () => 2,
        ),
        10,
        0,
      ),
    ),
    [],
  );
  t.match(
    faultsOf(
      reportOf(
        lifeOf(still, (minute) => 1 + minute),
        10,
        0,
      ),
    ),
    [/^drift of the median/],
  );
  t.match(
    faultsOf(
      reportOf(
        lifeOf(still, () => 2),
        10,
        1,
      ),
    ),
    [/^requests that failed/],
  );
  t.end();
});
