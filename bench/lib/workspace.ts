// Where a bench run keeps its files: one folder under node_modules/.cache, because that is on the project's disk (a
// temporary directory is often tmpfs, where a flush costs nothing and durable numbers mean nothing), ignored by git and by
// tools, and inside the reach of node_modules for the compiled programs. Removed at the end.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

export const PROJECT_ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BENCH_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const TMPFS_MAGIC = 0x0102_1994;

export type Program =
  | "generator/main"
  | `floors/${"send" | "answer" | "publish" | "create-channel" | "delete-topic" | "mixed" | "reconnect"}`;

export interface Workspace {
  readonly folder: string;
  /** True when a flush on this file system reaches no disk. */
  readonly volatile: boolean;
  /** Path of the compiled program. */
  program(name: Program): string;
  /** A fresh, empty folder. */
  makeFolder(prefix: string): string;
  /** Removes everything. */
  remove(): void;
}

/**
 * Makes the folder and compiles the child programs into it: they start as the real server does, without a TypeScript loader, which
 * would weigh on their start and their memory.
 */
export function openWorkspace(): Workspace {
  const cache = join(PROJECT_ROOT, "node_modules", ".cache", "colloquy-bench");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "run-"));
  const floors = readdirSync(join(BENCH_FOLDER, "floors")).filter(
    (file) => file !== "floor.ts" && file.endsWith(".ts"),
  );
  buildSync({
    entryPoints: [join(BENCH_FOLDER, "generator/main.ts"), ...floors.map((file) => join(BENCH_FOLDER, "floors", file))],
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
  return {
    folder,
    volatile: statfsSync(folder).type === TMPFS_MAGIC,
    program: (name) => join(folder, "programs", `${name}.mjs`),
    makeFolder: (prefix) => mkdtempSync(join(folder, `${prefix}-`)),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
