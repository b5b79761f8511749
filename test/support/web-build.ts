/** Builds the page that the server serves, unless it is built already. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkout } from "./process.ts";

/** @returns the folder with `index.html` and `assets/` */
export async function ensureWebBuilt(): Promise<string> {
  // Loaded by its path: in a bundle of tests the program would look for its sources elsewhere.
  const program = pathToFileURL(join(checkout, "packages/web/build.mjs")).href;
  const { ensureWebBuilt: build } = (await import(program)) as typeof import("../../packages/web/build.mjs");
  return build();
}
