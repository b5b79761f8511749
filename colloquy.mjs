#!/usr/bin/env node
/**
 * `colloquy [serve]` becomes the server, `colloquy <command>` the command line. A package has both programs built; a
 * checkout builds them if necessary.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const built = join(dirname(fileURLToPath(import.meta.url)), "dist/programs");
const folder = existsSync(built) ? built : await (await import("./build.mjs")).ensureBuilt();
const isServer = process.argv[2] === undefined || process.argv[2] === "serve";
// The server has options and no commands.
if (isServer) process.argv.splice(2, 1);
await import(pathToFileURL(join(folder, isServer ? "main.mjs" : "cli.mjs")).href);
