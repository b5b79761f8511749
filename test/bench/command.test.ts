// The command line as users run it: against a running server, with wrong arguments, and interrupted.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import { Child } from "../../bench/lib/child.ts";
import type { Report } from "../../bench/lib/result.ts";
import { startServer } from "../../bench/lib/target.ts";
import { openWorkspace, PROJECT_ROOT } from "../../bench/lib/workspace.ts";

const workspace = openWorkspace();
t.teardown(() => workspace.remove());

t.test("the command measures a running server with --url and --zuliprc, without progress off a terminal", async (t) => {
  const server = await startServer(workspace);
  t.teardown(() => server.stop());
  const folder = t.testdir({
    zuliprc: `[api]\nemail=${server.credentials.email}\nkey=${server.credentials.key}\nsite=http://127.0.0.1\n`,
  });
  const json = join(folder, "result.json");
  const html = join(folder, "result.html");
  const bench = new Child({
    arguments: [
      ...["--import=tsx", "bench/main.ts", "idle", "--size", "tiny", "--connections", "4", "--runs", "2"],
      ...["--url", `http://127.0.0.1:${server.address.port}`, "--zuliprc", join(folder, "zuliprc")],
      ...["--pid", String(server.watch?.pid), "--json", json, "--html", html],
    ],
    folder: PROJECT_ROOT,
    channel: false,
    environment: {},
  });
  t.same(await bench.exited, { code: 0, signal: null, killed: false }, bench.output);
  t.match(bench.output, /^.*npm run bench -- idle --size tiny/);
  t.notOk(bench.output.includes("\u001b["), "no progress bar without a terminal");
  const report = JSON.parse(readFileSync(json, "utf8")) as Report;
  const [result] = report.scenarios;
  t.match(result, { scenario: "idle", settings: { connections: 4, runs: 2 } });
  for (const key of ["sockets_opened_per_s", "pss_all_mb"]) {
    t.ok((result?.measures.find((measure) => measure.key === key)?.ours?.median ?? 0) > 0, key);
  }
  t.match(readFileSync(html, "utf8"), /<svg/);
});

t.test("a wrong command line exits with 2 and one line that gives the reason", async (t) => {
  const cases: readonly (readonly [RegExp, readonly string[]])[] = [
    [/unknown scenario nothing; known are start, start-filled, start-killed, send/, ["nothing"]],
    [/at most 60000/, ["send", "--connections", "60001"]],
    [/above 0/, ["send", "--rate", "0"]],
    [/--url needs --zuliprc/, ["send", "--url", "http://127.0.0.1:1"]],
    [/Known peers are fastify, socketio, ejabberd, and all/, ["send", "--peer", "nobody"]],
    [/read cannot run with peers; those that can are send, fanout/, ["read", "--peer", "fastify"]],
    [
      /read cannot run with --cluster; those that can are send, fanout, edges, failover, mixed/,
      ["read", "--cluster", "3"],
    ],
    [/failover needs --cluster/, ["failover"]],
    [/without --url and --peer/, ["send", "--cluster", "3", "--peer", "fastify"]],
    [/at most 5/, ["send", "--cluster", "6"]],
    [/http:\/\/ address/, ["send", "--url", "file:///etc/passwd"]],
  ];
  for (const [message, args] of cases) {
    const bench = new Child({
      arguments: ["--import=tsx", "bench/main.ts", ...args],
      folder: PROJECT_ROOT,
      channel: false,
      environment: {},
    });
    const { code } = await bench.exited;
    t.equal(code, 2, args.join(" "));
    t.match(bench.output, message);
    t.equal(bench.output.split("\n").length, 1);
  }
});

t.test("an interrupt stops the started servers and exits with 130", async (t) => {
  const bench = new Child({
    arguments: ["--import=tsx", "bench/main.ts", "send", "--size", "small"],
    folder: PROJECT_ROOT,
    channel: false,
    environment: {},
  });
  t.teardown(() => bench.stop());
  const { servers, others } = await waitForChildren(bench.pid);
  bench.process.kill("SIGINT");
  t.match(await bench.exited, { code: 130, killed: false });
  for (const pid of servers) t.throws(() => process.kill(pid, 0), { code: "ESRCH" }, "the server is gone");
  // The compiler ends because the bench did, so after it.
  while (others.some(isRunning)) await nextTurn();
});

/** Process ids of the children of `pid`, as soon as one of them runs the server. */
async function waitForChildren(pid: number): Promise<{ readonly servers: number[]; readonly others: number[] }> {
  for (;;) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
    const servers = children.filter((child) => readCommandLine(child).includes("colloquy.mjs"));
    if (servers.length > 0) return { servers, others: children.filter((child) => !servers.includes(child)) };
    await nextTurn();
  }
}

/** One that has ended may wait for its parent. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && /\) [^Z]/.test(readFileSync(file, "latin1"));
}

/** Empty for a process that has just exited (the compiler is a child, too). */
function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
