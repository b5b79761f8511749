/**
 * Under npm, the server stops when its parent ends. npm passes SIGTERM and SIGINT on, but no other signal, and to the
 * shell in between that runs `npx colloquy`; a server that goes on without them would keep its port and its data folder.
 */
import { limits } from "../schemas/limits.ts";

/** `npm_lifecycle_event` of `npm start` and of npx. */
const events: ReadonlySet<string | undefined> = new Set(["start", "npx"]);

/** @param onEnded called once */
export function watchParent(environment: Readonly<Record<string, string | undefined>>, onEnded: () => void): void {
  const parent = process.ppid;
  if (!events.has(environment["npm_lifecycle_event"]) || parent === 1) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnded();
  }, limits.parent_check_ms);
  timer.unref();
}
