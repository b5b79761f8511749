/** An exit while another thread is within a transaction of LMDB. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import t, { type Test } from "tap";
import { Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const unavailable = 75;
const source = fileURLToPath(new URL("../../src/durability/threads/write-hold.ts", import.meta.url));
const lmdb = createRequire(import.meta.url).resolve("lmdb");

/** The main thread exits when the other one is in the middle of a transaction that takes `ms`. */
const program = (folder: string) => `
const { Worker, isMainThread, workerData, parentPort } = require("node:worker_threads");
const { WriteGate } = require(${JSON.stringify(join(folder, "write-hold.cjs"))});
const [ms, waitsMs] = process.argv.slice(2).map(Number);
const { exit } = process;
const pause = (time) => { for (const end = performance.now() + time; performance.now() < end; ); };
if (isMainThread) {
  const gate = new WriteGate();
  const worker = new Worker(__filename, { workerData: gate.memory, argv: process.argv.slice(2) });
  worker.once("message", () => {
    if (!gate.stop(waitsMs)) process.kill(process.pid, "SIGKILL");
    exit(${unavailable});
  });
} else {
  const { open } = require(${JSON.stringify(lmdb)});
  const store = open({ path: ${JSON.stringify(join(folder, "store"))} });
  const gate = new WriteGate(workerData);
  for (let round = 0; ; round++) {
    gate.during(() => store.transactionSync(() => {
      store.put("round", round);
      if (round === 0) parentPort.postMessage("within");
      pause(ms);
    }));
  }
}
`;

function exitWithin(t: Test, { ms, waitsMs }: { readonly ms: number; readonly waitsMs: number }) {
  const folder = temporaryFolder(t);
  buildSync({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: join(folder, "write-hold.cjs"),
  });
  const file = join(folder, "program.cjs");
  writeFileSync(file, program(folder));
  return new Program(t, process.execPath, [file, String(ms), String(waitsMs)], {}).exited;
}

t.test("a process exits after the transaction of another thread, which begins no other", async (t) => {
  const { code, signal } = await exitWithin(t, { ms: 50, waitsMs: 60_000 });
  t.strictSame([code, signal], [unavailable, null]);
});

t.test("if the transaction takes too long, the process is killed", async (t) => {
  const { signal } = await exitWithin(t, { ms: 60_000, waitsMs: 10 });
  t.equal(signal, "SIGKILL");
});
