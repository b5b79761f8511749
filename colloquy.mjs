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
const option = process.argv[2];
// `--config FILE` may come before the command of either program.
const command = option === "--config" ? 4 : option?.startsWith("--config=") === true ? 3 : 2;
const isServer = process.argv[command] === undefined || process.argv[command] === "serve";
// The server has options and no commands.
if (isServer) process.argv.splice(command, 1);
await import(pathToFileURL(join(folder, isServer ? "main.mjs" : "cli.mjs")).href);
