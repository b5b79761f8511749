// Programs in C that the kit uses where this machine has them: wrk, and the kit's own sources in bench/native, compiled
// when they are first needed. Without them Node does their work, and the report says so.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Wrk } from "./job.ts";
import { COMPILE_WAIT_MS } from "./limits.ts";

const SOURCES = fileURLToPath(new URL("../native", import.meta.url));

/** A source in bench/native, and how its result is linked. */
const PROGRAMS = {
  receiver: { source: "receiver.c", options: [] },
  "slow-flush": { source: "slow-flush.c", options: ["-shared", "-fPIC"] },
} as const satisfies Record<string, { readonly source: string; readonly options: readonly string[] }>;

export type NativeProgram = keyof typeof PROGRAMS;

/** wrk, if it is installed. It names its version in a usage text that ends with exit code 1. */
export function findWrk(): Wrk | null {
  const { stdout } = spawnSync("wrk", ["--version"], { encoding: "utf8" });
  const version = /^wrk (\S+)/.exec(stdout ?? "")?.[1];
  return version === undefined ? null : { version, script: join(SOURCES, "load.lua") };
}

/** Whether this machine has a compiler of C. */
export function hasCompiler(): boolean {
  return spawnSync("cc", ["--version"]).status === 0;
}

/** @returns the path of the compiled program; null without a compiler. Throws if the source does not compile. */
export function compileNative(name: NativeProgram, folder: string): string | null {
  if (!hasCompiler()) return null;
  const { source, options } = PROGRAMS[name];
  mkdirSync(folder, { recursive: true });
  const program = join(folder, name);
  const { status, stderr } = spawnSync(
    "cc",
    ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", ...options, "-o", program, join(SOURCES, source)],
    { encoding: "utf8", timeout: COMPILE_WAIT_MS },
  );
  if (status !== 0) throw new Error(`${source} does not compile: ${stderr}`);
  return program;
}
