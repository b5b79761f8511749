/** An exit while another thread loads a native add-on. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import t, { type Test } from "tap";
import { Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const unusable = 78;
const source = fileURLToPath(new URL("../../src/durability/threads/thread-loading.ts", import.meta.url));

/** The main thread ends when the other one is in the middle of loading, which takes `ms`, and leaves a file. */
const program = (folder: string) => `
const { writeFileSync } = require("node:fs");
const { Worker, isMainThread, parentPort } = require("node:worker_threads");
const { startLoading, noteLoaded } = require(${JSON.stringify(join(folder, "thread-loading.cjs"))});
const [how, ms] = process.argv.slice(2);
const { exit } = process;
const pause = (time) => { for (const end = performance.now() + time; performance.now() < end; ); };
if (isMainThread) {
  const worker = startLoading(() => new Worker(__filename, { argv: process.argv.slice(2) }));
  worker.unref();
  const loading = new Promise((resolve) => worker.once("message", resolve));
  const isOver = setInterval(() => undefined, 1000);
  void loading.then(() => {
    if (how === "exit") exit(${unusable});
    process.exitCode = ${unusable};
    clearInterval(isOver);
  });
} else {
  parentPort.postMessage("loading");
  pause(Number(ms));
  writeFileSync(${JSON.stringify(join(folder, "loaded"))}, "");
  noteLoaded();
  pause(60_000);
}
`;

async function endWithin(t: Test, how: "exit" | "nothing left to do", ms: number) {
  const folder = temporaryFolder(t);
  const outfile = join(folder, "thread-loading.cjs");
  buildSync({ entryPoints: [source], bundle: true, platform: "node", format: "cjs", outfile });
  const file = join(folder, "program.cjs");
  writeFileSync(file, program(folder));
  const { code, signal } = await new Program(t, process.execPath, [file, how, String(ms)], {}).exited;
  return { code, signal, isLoaded: existsSync(join(folder, "loaded")) };
}

for (const how of ["exit", "nothing left to do"] as const) {
  t.test(`a process ends after a thread has loaded: ${how}`, async (t) => {
    t.strictSame(await endWithin(t, how, 50), { code: unusable, signal: null, isLoaded: true });
  });
}

t.test("it does not wait for ever for a thread that never loads", async (t) => {
  t.strictSame(await endWithin(t, "exit", 600_000), { code: unusable, signal: null, isLoaded: false });
});
