/** How the runtime tells an operator: by the log, and by the end of the process. */
import type { Command } from "../../actors/commands.ts";

/** What the dispatcher reports to: a logger, and the end of the process. */
export interface Alarm {
  /** A command threw (M6), or, with null, the delivery of what one brought about. */
  bug(error: unknown, command: Command | null): void;
  /** A commit failed (M5). Must not return. */
  fatal(error: unknown): never;
  /** One line for the operator. */
  warn(line: string): void;
}
