/**
 * A copy of the program with a deliberate bug: a test that cannot find it proves nothing (positive control).
 * `node_modules` is only linked.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { checkout } from "./process.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export interface Breakage {
  /** Relative to the checkout. */
  readonly file: string;
  /** Must occur exactly once: a breakage that does not apply would prove nothing. */
  readonly from: string;
  readonly to: string;
}

const parts = [
  "src",
  "actors",
  "domain",
  "schemas",
  "packages/client/src",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "scripts/build.mjs",
  "colloquy.mjs",
];

/** @returns its folder, to be used as `cwd` */
export function brokenCheckout(t: Teardown, breakages: readonly Breakage[]): string {
  const folder = temporaryFolder(t);
  for (const part of parts) cpSync(join(checkout, part), join(folder, part), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  for (const { file, from, to } of breakages) {
    const path = join(folder, file);
    const pieces = readFileSync(path, "utf8").split(from);
    if (pieces.length !== 2) throw new Error(`${JSON.stringify(from)} is ${pieces.length - 1} times in ${file}`);
    writeFileSync(path, pieces.join(to));
  }
  return folder;
}

/** One module of such a program, for a test that needs no server. @param path of the module, relative to the checkout */
export async function brokenModule<T>(t: Teardown, breakages: readonly Breakage[], path: string): Promise<T> {
  const folder = brokenCheckout(t, breakages);
  const outfile = join(folder, "broken.mjs");
  buildSync({
    entryPoints: [join(folder, path)],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile).href)) as T;
}
