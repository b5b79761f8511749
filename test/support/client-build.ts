/** The client as programs outside the checkout have it: built, in a folder of packages. */
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkout } from "./process.ts";

/** @returns the built file for browsers. @param folder gets `node_modules/` with the client and `ws` */
export async function installClient(folder: string): Promise<string> {
  const home = join(folder, "node_modules/colloquy-client");
  mkdirSync(home, { recursive: true });
  const program = pathToFileURL(join(checkout, "packages/client/build.mjs")).href;
  const { bundleClient } = (await import(program)) as typeof import("../../packages/client/build.mjs");
  await bundleClient(join(home, "dist"));
  copyFileSync(join(checkout, "packages/client/package.json"), join(home, "package.json"));
  symlinkSync(join(checkout, "node_modules/ws"), join(folder, "node_modules/ws"));
  return join(home, "dist/browser.js");
}
