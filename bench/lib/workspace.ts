// The folder of a bench run, removed at its end. It is under node_modules/.cache, which is on the project's disk (a
// temporary directory is often tmpfs, where a flush costs nothing), is ignored by git and tools, and lets compiled
// programs find node_modules.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { compileNative, type NativeProgram } from "./native.ts";

export const PROJECT_ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BENCH_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const TMPFS_MAGIC = 0x0102_1994;

export type Program =
  | "generator/main"
  | `baselines/${"send" | "journal" | "answer" | "publish" | "create-channel" | "delete-topic" | "mixed" | "reconnect"}`;

export interface Workspace {
  readonly folder: string;
  /** Whether the file system is in memory, where a flush reaches no disk. */
  readonly volatile: boolean;
  /** Path of the compiled program. */
  program(name: Program): string;
  /** Path of the program in C, compiled when it is first wanted; null without a compiler. */
  native(name: NativeProgram): string | null;
  /** A new, empty folder. */
  makeFolder(prefix: string): string;
  /** Removes everything. */
  remove(): void;
}

/**
 * Creates the folder and compiles the child programs into it, so that they start like the real server. A TypeScript
 * loader would affect their start time and memory.
 */
export function openWorkspace(): Workspace {
  const cache = join(PROJECT_ROOT, "node_modules", ".cache", "colloquy-bench");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "run-"));
  const baselines = readdirSync(join(BENCH_FOLDER, "baselines")).filter(
    (file) => file !== "baseline.ts" && file.endsWith(".ts"),
  );
  buildSync({
    entryPoints: [
      join(BENCH_FOLDER, "generator/main.ts"),
      join(BENCH_FOLDER, "generator/receivers.ts"),
      ...baselines.map((file) => join(BENCH_FOLDER, "baselines", file)),
    ],
    outbase: BENCH_FOLDER,
    outdir: join(folder, "programs"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  const compiled = new Map<NativeProgram, string | null>();
  const native = (name: NativeProgram): string | null => {
    const known = compiled.get(name);
    if (known !== undefined) return known;
    const program = compileNative(name, join(folder, "native"));
    compiled.set(name, program);
    return program;
  };
  return {
    folder,
    native,
    volatile: statfsSync(folder).type === TMPFS_MAGIC,
    program: (name) => join(folder, "programs", `${name}.mjs`),
    makeFolder: (prefix) => mkdtempSync(join(folder, `${prefix}-`)),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
