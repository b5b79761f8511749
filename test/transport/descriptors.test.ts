/** Descriptors for connections and files of requests (D43), in this process and with the limits of others. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { connectionAdmission } from "../../src/app/transports.ts";
import { Descriptors } from "../../src/store/descriptors.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { checkout } from "../support/process.ts";
import { tracingObstacle } from "../support/strace.ts";

t.test(
  "[S3] descriptors_reserved: the reserve is a share of a low limit, descriptors_max bounds a high one",
  async (t) => {
    const { descriptors_reserved: reserved, descriptors_reserved_share: share, descriptors_max: max } = limits;
    const atShare = reserved / share;
    for (const limit of [64, atShare - 4]) t.equal(new Descriptors(limit).bound, limit * (1 - share), String(limit));
    for (const limit of [atShare, atShare + 1, max])
      t.equal(new Descriptors(limit).bound, limit - reserved, String(limit));
    for (const limit of [max + 1, Number.POSITIVE_INFINITY]) {
      t.equal(new Descriptors(limit).bound, max - reserved, String(limit));
    }
  },
);

t.test("[D43] a look at the descriptors finds room until the numbers of the reserve begin", async (t) => {
  const taken: number[] = [];
  t.teardown(() => {
    for (const file of taken) closeSync(file);
  });
  // The lowest free numbers of this process are taken first.
  const first = openSync("/", "r");
  closeSync(first);
  const descriptors = new Descriptors(Math.ceil((first + 20) / (1 - limits.descriptors_reserved_share)));
  while (descriptors.hasRoom() && taken.length < 1000) taken.push(openSync("/", "r"));
  t.ok(taken.length > 0);
  t.ok(Math.max(...taken) < descriptors.bound, "no number of the reserve was taken");
  for (const file of taken.splice(0, 1)) closeSync(file);
  t.ok(descriptors.hasRoom(), "one was released");
});

/** A look at the descriptors in a process whose `open` of these files fails. */
function lookWhile(error: string, paths: readonly string[]): string {
  const module = join(checkout, "src/store/descriptors.ts");
  const script = `
    import { Descriptors } from ${JSON.stringify(module)};
    console.log(new Descriptors(1000).hasRoom());
  `;
  const flags = ["-f", "-o", "/dev/null", ...paths.flatMap((path) => ["-P", path])];
  const fault = ["-e", "trace=open,openat", "-e", `inject=open,openat:error=${error}`];
  const node = [process.execPath, "--import=tsx", "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync("strace", [...flags, ...fault, ...node], { cwd: checkout, encoding: "utf8" });
  return stdout.trim() || stderr;
}

t.test("[D43] a look at the descriptors finds none left only where the kernel says so", async (t) => {
  const obstacle = tracingObstacle();
  if (obstacle === null) {
    t.equal(lookWhile("EACCES", ["/"]), "true", "a root folder that the process may not read");
    for (const error of ["EACCES", "ENOENT"]) t.equal(lookWhile(error, ["/dev/null"]), "true", `no device: ${error}`);
    for (const error of ["EMFILE", "ENFILE"]) t.equal(lookWhile(error, ["/", "/dev/null"]), "false", error);
  } else t.comment(`skipped: ${obstacle}`);
});

t.test("[S3] connections_refused_log_ms: refused connections are counted, and logged once in that time", async (t) => {
  const clock = new ManualClock(0);
  const lines: unknown[] = [];
  let hasRoom = false;
  const log = { warn: (fields: unknown) => void lines.push(fields) };
  const admits = connectionAdmission(log as never, clock, { limit: 64, hasRoom: () => hasRoom });
  for (let count = 0; count < 3; count++) t.equal(admits(), false);
  t.strictSame(lines, [{ refused: 1 }]);
  clock.advance(limits.connections_refused_log_ms - 1);
  admits();
  t.equal(lines.length, 1);
  clock.advance(1);
  admits();
  t.strictSame(lines.at(-1), { refused: 4 });
  hasRoom = true;
  t.equal(admits(), true);
  t.equal(lines.length, 2);
});
