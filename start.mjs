/** `npm start`: builds what is not built, then becomes the server (same process, so that signals and limits are its own). */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// uWebSockets.js reads it when it loads: header blocks of browsers behind proxies are larger than its 4 KiB.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= "16384";

const { ensureBuilt } = await import("./build.mjs");
const folder = await ensureBuilt();
await import(pathToFileURL(join(folder, "main.mjs")).href);
