/**
 * `npm start`: builds if necessary, then becomes the server (in the same process, so that signals and limits apply to
 * it).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { ensureBuilt } = await import("./build.mjs");
const folder = await ensureBuilt();
const web = new URL("packages/web/build.mjs", import.meta.url);
if (existsSync(web)) await (await import(web.href)).ensureWebBuilt();
await import(pathToFileURL(join(folder, "main.mjs")).href);
