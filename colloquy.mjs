#!/usr/bin/env node
/**
 * `colloquy [serve]` becomes the server, `colloquy <command>` the command line, both in this process, so that signals
 * and limits apply to them. A package has everything built. A checkout builds what has changed; `colloquy build` does
 * only that.
 */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const option = process.argv[2];
// `--config FILE` may come before the command of either program.
const position = option === "--config" ? 4 : option?.startsWith("--config=") === true ? 3 : 2;
const command = process.argv[position] ?? "serve";
const builder = join(root, "scripts/build.mjs");
const building = existsSync(builder) ? await import(pathToFileURL(builder).href) : undefined;

if (command === "build" && building !== undefined) {
  await building.ensurePageBuilt();
  process.stdout.write(`${relative(root, await building.ensureBuilt())}\n`);
} else {
  const folder = (await building?.ensureBuilt()) ?? join(root, "dist/programs");
  if (command === "serve") {
    // The server has options and no commands.
    process.argv.splice(position, 1);
    await building?.ensurePageBuilt();
  }
  await import(pathToFileURL(join(folder, command === "serve" ? "main.mjs" : "cli.mjs")).href);
}
