/**
 * Builds the package into `dist/`: one file for Node, one for browsers, and the types, which refer to nothing outside
 * the package.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = dirname(fileURLToPath(import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript7/package.json")), "bin/tsc");

/** The programs without their types. @param target the folder for the result */
export async function bundleClient(target) {
  rmSync(target, { recursive: true, force: true });
  const common = { bundle: true, format: "esm", outdir: target, logLevel: "warning", legalComments: "none" };
  await Promise.all([
    build({ ...common, entryPoints: [join(folder, "src/node.ts")], platform: "node", target: "node20.11" }),
    build({ ...common, entryPoints: [join(folder, "src/browser.ts")], platform: "browser", target: "es2022" }),
  ]);
}

/** @param target the folder for the result */
export async function buildClient(target = join(folder, "dist")) {
  await bundleClient(target);
  execFileSync(process.execPath, [compiler, "--project", folder, "--outDir", target], { stdio: "inherit" });
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient();
