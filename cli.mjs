/** `npm run cli -- <command>`: builds if necessary, then runs the command line. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuilt } from "./build.mjs";

const folder = await ensureBuilt();
await import(pathToFileURL(join(folder, "cli.mjs")).href);
