/** `npm start`: builds what is not built, then becomes the server (same process, so that signals and limits are its own). */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// uWebSockets.js reads it when it loads: a longest request line and the header block of a browser behind a proxy are larger than
// its 4 KiB (http_head_bytes_max of schemas/limits.ts).
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= "32768";

const { ensureBuilt } = await import("./build.mjs");
const folder = await ensureBuilt();
await import(pathToFileURL(join(folder, "main.mjs")).href);
