// Another revision of the project in its own folder. Its server is measured by this revision's kit, so that a change of
// the kit does not look like a change of the server. The data that a scenario prepares is written by that revision's
// own actors.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_ROOT } from "./workspace.ts";

export interface Worktree {
  readonly folder: string;
  /** Short commit id. */
  readonly revision: string;
  remove(): void;
}

/** Throws git's own message if there is no such revision. */
export function openWorktree(revision: string): Worktree {
  // A revision that looks like an option is rejected.
  const commit = git("rev-parse", "--verify", "--short", "--end-of-options", `${revision}^{commit}`);
  const cache = join(PROJECT_ROOT, "node_modules", ".cache", "colloquy-bench");
  mkdirSync(cache, { recursive: true });
  const folder = join(mkdtempSync(join(cache, "base-")), "worktree");
  git("worktree", "add", "--detach", folder, commit);
  const remove = (): void => {
    git("worktree", "remove", "--force", folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  };
  try {
    symlinkSync(join(PROJECT_ROOT, "node_modules"), join(folder, "node_modules"));
    rmSync(join(folder, "bench"), { recursive: true, force: true });
    cpSync(join(PROJECT_ROOT, "bench"), join(folder, "bench"), { recursive: true });
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, revision: commit, remove };
}

function git(...parts: string[]): string {
  return execFileSync("git", parts, { cwd: PROJECT_ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
