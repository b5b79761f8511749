// Data folders that are filled once and copied for each server that starts on them. Large ones take a while (1,000,000 messages some
// 690 us of CPU each), so they are kept under node_modules/.cache for the next run of the same sources; a few at most.

import { execFileSync } from "node:child_process";
import { closeSync, cpSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Filling, fill } from "./fill.ts";
import { FILLED_FOLDERS_MAX, FILLED_MESSAGES_KEPT_MIN } from "./limits.ts";
import type { Context } from "./scenario.ts";
import type { Prepare } from "./target.ts";
import { PROJECT_ROOT } from "./workspace.ts";

const PREFIX = "filled-";

/** Fills a folder, or finds the one that an earlier run kept. @returns what gives each server a copy of it */
export async function filled({ workspace, progress }: Context, filling: Filling): Promise<Prepare> {
  const { messages, topics, areUnread, people = 0 } = filling;
  const name = `${PREFIX}${sourcesHash()}-${messages}-${topics}-${areUnread ? "unread" : "read"}-${people}`;
  const cache = dirname(workspace.folder);
  const kept = join(cache, name);
  const isKept = messages >= FILLED_MESSAGES_KEPT_MIN;
  if (isKept && existsSync(kept)) return copyOf(kept);
  progress.label(`filling a store with ${messages} messages`);
  const draft = workspace.makeFolder("filled");
  await fill(draft, filling);
  if (!isKept) return copyOf(draft);
  renameSync(draft, kept);
  forgetOld(cache);
  return copyOf(kept);
}

/** On the disk before the server starts, or its first flush would pay for the copy. */
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

/** Stores of other sources may have other tables: the build's name is the hash of the sources. */
function sourcesHash(): string {
  return basename(
    execFileSync(process.execPath, ["build.mjs"], { cwd: PROJECT_ROOT, encoding: "utf8", env: { PATH: "" } }).trim(),
  );
}

function forgetOld(cache: string): void {
  const folders = readdirSync(cache)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(cache, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of folders.slice(FILLED_FOLDERS_MAX)) rmSync(folder, { recursive: true, force: true });
}
