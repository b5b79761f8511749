// Data folders that are filled once and copied for each server that uses them. Large ones take a while (690 us of CPU
// per message, for 1,000,000 messages), so a few are kept under node_modules/.cache for later runs of the same sources.

import { execFileSync } from "node:child_process";
import { closeSync, cpSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Filling, fill } from "./fill.ts";
import { FILLED_FOLDERS_MAX, FILLED_MESSAGES_KEPT_MIN } from "./limits.ts";
import type { Context } from "./scenario.ts";
import type { Prepare } from "./target.ts";
import { PROJECT_ROOT } from "./workspace.ts";

const PREFIX = "filled-";

/** Fills a folder, or reuses the one of an earlier run. @returns a function that gives each server a copy */
export async function filled({ workspace, progress }: Context, filling: Filling): Promise<Prepare> {
  const { messages, topics, areUnread, people = 0, areRowsOnly = false } = filling;
  const name = `${PREFIX}${sourcesHash()}-${messages}-${topics}-${areUnread ? "unread" : "read"}-${people}${areRowsOnly ? "-rows" : ""}`;
  const cache = dirname(workspace.folder);
  const kept = join(cache, name);
  const isKept = messages >= FILLED_MESSAGES_KEPT_MIN;
  if (isKept && existsSync(kept)) return copyOf(kept);
  progress.label(`filling a store with ${messages} messages`);
  const staged = workspace.makeFolder("filled");
  await fill(staged, filling);
  if (!isKept) return copyOf(staged);
  renameSync(staged, kept);
  forgetOld(cache);
  return copyOf(kept);
}

/** Flushed before the server starts, otherwise its first flush would include the copy. */
function copyOf(source: string): Prepare {
  return (dataFolder) => {
    cpSync(source, dataFolder, { recursive: true });
    for (const entry of readdirSync(dataFolder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) flush(join(entry.parentPath, entry.name));
    }
    return Promise.resolve();
  };
}

function flush(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}

/** Stores of other sources may have other tables, so the name contains the hash of the sources. */
function sourcesHash(): string {
  return basename(
    execFileSync(process.execPath, ["colloquy.mjs", "build"], {
      cwd: PROJECT_ROOT,
      encoding: "utf8",
      env: { PATH: "" },
    }).trim(),
  );
}

function forgetOld(cache: string): void {
  const folders = readdirSync(cache)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(cache, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of folders.slice(FILLED_FOLDERS_MAX)) rmSync(folder, { recursive: true, force: true });
}
