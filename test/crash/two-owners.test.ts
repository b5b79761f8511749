/**
 * Two servers on one data folder (start-up contract, M1), in containers that do not see each other's processes, with
 * and without a shared operating system lock. One is rejected or exits, and nothing that either acknowledged is lost.
 */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { brokenCheckout } from "../support/broken-checkout.ts";
import type { Client } from "../support/client.ts";
import { containerObstacle, runContained, startContained } from "../support/containers.ts";
import { everything } from "../support/kept-messages.ts";
import { Program, startProgram } from "../support/process.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";

const unavailable = 75;

function areContainersMissing(t: Test): boolean {
  const reason = containerObstacle();
  if (reason !== null) t.pass(`no containers: ${reason}`, { skip: reason });
  return reason !== null;
}

/** The program as on a platform, or a file system, without a lock that containers share. */
function withoutSystemLock(t: Teardown): string {
  return brokenCheckout(t, [
    { file: "src/store/folder-lock.ts", from: "(extensions) => extensions.tryLock", to: "() => null" },
  ]);
}

t.test("a second server in another container is rejected, whatever its process id", async (t) => {
  if (areContainersMissing(t)) return;
  const dataDir = join(temporaryFolder(t), "data");
  const { owner, program } = await startContained(t, dataDir);
  for (const isFirst of [true, false]) {
    const second = await runContained(t, dataDir, { isFirst }).exited;
    t.strictSame([second.code, second.stdout], [unavailable, ""]);
    t.match(second.stderr, /^colloquy: process 1 is running on this data folder\n$/);
  }
  const outside = await new Program(t, process.execPath, ["colloquy.mjs"], { DATA_DIR: dataDir, PORT: "0" }).exited;
  t.strictSame([outside.code, outside.stdout], [unavailable, ""]);
  t.ok((await owner.say("general", "still", "here")) > 0);
  await program.end("SIGKILL");
  const next = await startContained(t, dataDir, { isFirst: false });
  t.ok((await next.owner.say("general", "still", "here again")) > 0, "a lock is released when its process dies");
});

t.test("[M1] without an operating system lock, the older of two servers exits at its next write", async (t) => {
  if (areContainersMissing(t)) return;
  const cwd = withoutSystemLock(t);
  const dataDir = join(temporaryFolder(t), "data");
  const older = await startContained(t, dataDir, { cwd });
  const acknowledged: string[] = [];
  let posted = 0;
  const postTo = async (owner: Client, who: string) => {
    for (let count = 0; count < 40; count++) {
      const content = `${who} ${++posted}`;
      const sent = await owner
        .post("/messages", { type: "channel", to: "general", topic: who, content })
        .catch(() => null);
      if (sent?.status !== 200) return;
      acknowledged.push(content);
    }
  };
  await postTo(older.owner, "alone");
  // It continues until the newer server has taken the organization over.
  const working = Array.from({ length: 8 }, async (_, lane) => {
    while ((await older.owner.get("/users/me").catch(() => null)) !== null) await postTo(older.owner, `older ${lane}`);
  });
  const newer = await startContained(t, dataDir, { cwd, isFirst: false });
  await Promise.all(working);
  const { code, stderr } = await older.program.exited;
  t.equal(code, unavailable);
  t.match(stderr, /"msg":"Another process took over [^"]+This one stops: [^"]+"/);
  await postTo(newer.owner, "newer");
  const stored = (await everything(newer.owner)).map(({ content }) => content);
  t.ok(acknowledged.length >= 80, `${acknowledged.length} were acknowledged`);
  const found = acknowledged.filter((content) => !stored.includes(content));
  t.strictSame(found, [], "0 of them are lost");
  t.equal(new Set(stored).size, stored.length, "none is doubled");
});

t.test("[M1] without an operating system lock, an idle older server exits, too", async (t) => {
  if (areContainersMissing(t)) return;
  const cwd = withoutSystemLock(t);
  const dataDir = join(temporaryFolder(t), "data");
  const older = await startContained(t, dataDir, { cwd });
  const newer = await startContained(t, dataDir, { cwd, isFirst: false });
  t.equal((await older.program.exited).code, unavailable);
  t.ok((await newer.owner.say("general", "still", "here")) > 0);
});

t.test("without an operating system lock, process ids decide where they are meaningful", async (t) => {
  const cwd = withoutSystemLock(t);
  const dataDir = join(temporaryFolder(t), "data");
  const { owner, program } = await startProgram(t, dataDir, {}, cwd);
  const second = await new Program(t, process.execPath, ["colloquy.mjs"], { DATA_DIR: dataDir, PORT: "0" }, cwd).exited;
  t.strictSame([second.code, second.stdout], [unavailable, ""]);
  t.match(second.stderr, `colloquy: process ${program.pid} is running on this data folder\n`);
  t.ok((await owner.say("general", "still", "here")) > 0);
});

t.test("a process in another container with the owner's process id is rejected with one line", async (t) => {
  if (areContainersMissing(t)) return;
  const cwd = withoutSystemLock(t);
  const dataDir = join(temporaryFolder(t), "data");
  const { owner } = await startContained(t, dataDir, { cwd });
  const second = await runContained(t, dataDir, { cwd }).exited;
  t.strictSame([second.code, second.stdout], [unavailable, ""]);
  const backup = join(temporaryFolder(t), "backup");
  const copying = await runContained(t, dataDir, { args: ["colloquy.mjs", "backup", backup] }).exited;
  t.strictSame([copying.code, copying.stdout], [unavailable, ""]);
  for (const { stderr } of [second, copying]) {
    t.match(
      stderr,
      /^colloquy: a process of another container has this data folder open under the same process id, 1: [^\n]+\n$/,
    );
  }
  const other = await runContained(t, dataDir, { isFirst: false, args: ["colloquy.mjs", "backup", backup] }).exited;
  t.strictSame([other.code, other.stderr], [0, ""], "with another id it works while the server runs");
  t.ok((await owner.say("general", "still", "here")) > 0);
});

for (const [what, checkoutOf] of [
  ["with an operating system lock", () => undefined],
  ["without one", withoutSystemLock],
] as const) {
  t.test(`a killed server whose parent never reaps it does not block a start, ${what}`, async (t) => {
    const cwd = checkoutOf(t);
    const dataDir = join(temporaryFolder(t), "data");
    const given = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir };
    // `exec` replaces the shell by a program that does not wait for its child.
    const script = '"$0" colloquy.mjs & exec sleep 1000';
    const parent = new Program(t, "sh", ["-c", script, process.execPath], given, cwd);
    await parent.printed(/is at \S+\n[\s\S]*Try: .*\n/);
    const pid = readFileSync(join(dataDir, "server.pid"), "utf8").trim();
    process.kill(Number(pid), "SIGKILL");
    // It is a zombie as soon as it has exited.
    let stat = "";
    while (!/\) Z /.test(stat)) stat = await readFile(`/proc/${pid}/stat`, "latin1");
    const again = await startTestServer(t, { dataDir });
    t.equal((await again.owner.get("/users/me")).status, 200);
  });
}
