/**
 * `npm start`: builds if necessary, then becomes the server (in the same process, so that signals and limits apply to
 * it).
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { ensureBuilt, ensurePageBuilt } = await import("./build.mjs");
const folder = await ensureBuilt();
await ensurePageBuilt();
await import(pathToFileURL(join(folder, "main.mjs")).href);
