// Which version of the project was measured: numbers without it cannot be compared with anything later.

import { execFileSync } from "node:child_process";
import { PROJECT_ROOT } from "./workspace.ts";

/** Short commit id, with "+changes" when the work tree differs from it; "unknown" outside a git checkout. */
export function readRevision(): string {
  const git = (...parts: string[]): string =>
    execFileSync("git", parts, { cwd: PROJECT_ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changes = git("status", "--porcelain", "--", "src", "actors", "schemas", "bench", "package-lock.json");
    return `${git("rev-parse", "--short", "HEAD")}${changes === "" ? "" : "+changes"}`;
  } catch {
    return "unknown";
  }
}
