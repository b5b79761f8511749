/** Starts the program of a thread: from the build next to the server's, or from its source. */
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type MessagePort, Worker } from "node:worker_threads";
import { startLoading } from "./thread-loading.ts";

/** Native add-ons, and what breaks in a bundle because it evaluates its own text, are loaded, not bundled. */
const packages = ["@node-rs/crc32", "lmdb", "msgpackr", "ordered-binary"];

const bundles = new Map<string, string>();

/**
 * @param program path of its file below `src/`, without extension; scripts/build.mjs must list it, and it calls `noteLoaded`
 * @throws Error if the system cannot create a thread
 */
export function startThread(program: string, workerData: unknown = null): Worker {
  // The flags of this process, also those in its environment, may load programs that the thread does not need.
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const options = { workerData, stdout: true, stderr: true, execArgv: [], env };
  if (import.meta.url.endsWith(".ts")) {
    const bundle = bundleOf(program);
    return startLoading(() => new Worker(bundle, { ...options, eval: true }));
  }
  return startLoading(() => new Worker(new URL(`./${basename(program)}.mjs`, import.meta.url), options));
}

/** Threads that run already, each without anything to do, by their program. */
const prepared = new Map<string, Worker>();

/**
 * Starts a thread now for the next `startPrepared`: a start that waits for something has it running when it continues.
 */
export function prepareThread(program: string): void {
  if (prepared.has(program)) return;
  const worker = startThread(program);
  const forget = () => {
    if (prepared.get(program) === worker) prepared.delete(program);
  };
  // If it fails before it is needed, another one is started then, and its fault is reported.
  worker.on("error", forget);
  worker.on("exit", forget);
  // It may never be needed.
  worker.unref();
  prepared.set(program, worker);
}

/** Gives a thread its start as its first message; the thread begins then, whether it was prepared or not. */
export function startPrepared(program: string, start: unknown, ports: readonly MessagePort[] = []): Worker {
  const worker = prepared.get(program) ?? startThread(program);
  prepared.delete(program);
  worker.ref();
  worker.postMessage(start, ports);
  return worker;
}

/** A thread cannot load TypeScript on every version of Node, so the program is bundled when it is first started. */
function bundleOf(program: string): string {
  const known = bundles.get(program);
  if (known !== undefined) return known;
  const address = new URL(`../../${program}.ts`, import.meta.url).href;
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(address)],
    bundle: true,
    external: packages,
    platform: "node",
    format: "cjs",
    write: false,
    define: { "import.meta.url": JSON.stringify(address) },
    // Without it, packages are looked for in the working directory.
    banner: { js: `globalThis.require = require("node:module").createRequire(${JSON.stringify(address)});` },
  });
  const text = outputFiles[0]?.text ?? "";
  bundles.set(program, text);
  return text;
}
