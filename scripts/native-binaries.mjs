/**
 * The binaries of uWebSockets.js: its package has those of every platform and of Node versions that we do not support,
 * 139 MB. Usage: node scripts/native-binaries.mjs, to leave in node_modules of the checkout only what this Node loads.
 */
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** `process.versions.modules` of Node 20 and 22: there is none for later versions (docs/transport.md). */
const abis = ["115", "127"];

/** The binaries in the package for operators. */
export const packedBinaries = ["x64", "arm64"].flatMap((arch) => abis.map((abi) => `uws_linux_${arch}_${abi}.node`));

/** Whether a file of uWebSockets.js stays. */
export function isKept(path, binaries) {
  return !path.endsWith(".node") || binaries.some((name) => path.endsWith(`/${name}`));
}

const [, program = ""] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(program));
  const folder = join(root, "node_modules/uWebSockets.js/dist/bin");
  const own = [`uws_${process.platform}_${process.arch}_${process.versions.modules}.node`];
  for (const name of readdirSync(folder)) if (!isKept(join(folder, name), own)) rmSync(join(folder, name));
}
