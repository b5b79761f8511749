/**
 * Under npm, the server stops when its parent ends. npm passes SIGTERM and SIGINT on, but no other signal, and to the
 * shell in between that runs `npx colloquy`; a server that goes on without them would keep its port and its data folder.
 */
import { limits } from "../../schemas/limits.ts";
import type { Clock } from "../runtime/clock.ts";

/** `npm_lifecycle_event` of `npm start` and of npx. */
const events: ReadonlySet<string | undefined> = new Set(["start", "npx"]);

export interface ParentWatch {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly after: Clock["after"];
  /** Called once. */
  readonly onEnded: () => void;
}

export function watchParent({ environment, after, onEnded }: ParentWatch): void {
  const parent = process.ppid;
  if (!events.has(environment["npm_lifecycle_event"]) || parent === 1) return;
  const look = () => {
    if (process.ppid === parent) after(limits.parent_check_ms, look);
    else onEnded();
  };
  look();
}
