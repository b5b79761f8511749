/**
 * Unmodified clients written in Python (test/clients/requirements.txt): finds their interpreter and runs them.
 * `.ci/run` creates `.venv`; COLLOQUY_PYTHON names another interpreter with the packages.
 */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client.ts";
import { checkout, Program } from "./process.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export const python = process.env["COLLOQUY_PYTHON"] ?? join(checkout, ".venv/bin/python");

/** Why programs that import the modules cannot run here; null: they can. */
export function pythonObstacle(...modules: readonly string[]): string | null {
  if (!existsSync(python)) return `${python} is missing: run .ci/run, or set COLLOQUY_PYTHON`;
  const tried = spawnSync(python, ["-c", `import ${modules.join(", ")}`], { encoding: "utf8" });
  const [reason] = tried.stderr.trim().split("\n").slice(-1);
  return tried.status === 0 ? null : `${python} cannot import ${modules.join(", ")}: ${reason}`;
}

/** A program in test/clients. */
export function clientProgram(name: string): string {
  return join(checkout, "test/clients", name);
}

/** Runs a program in a home folder of its own, so that personal settings do not affect it. */
export function runPython(
  t: Teardown,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Program {
  const home = temporaryFolder(t);
  const all = { HOME: home, LANG: "C.UTF-8", PYTHONUNBUFFERED: "1", PYTHONDONTWRITEBYTECODE: "1", ...environment };
  return new Program(t, python, args, all, home);
}

/** Writes the file from which clients read their credentials. @returns its name */
export function writeZuliprc(t: Teardown, client: Client): string {
  const file = join(temporaryFolder(t), "zuliprc");
  const { email = "", key = "" } = client.account ?? {};
  writeFileSync(file, `[api]\nemail=${email}\nkey=${key}\nsite=${client.url}\n`, { mode: 0o600 });
  return file;
}
