/** Sees every command that is carried out, whoever sent it: the only look behind the runtime that is not a row. */
import type { Command } from "../../actors/commands.ts";
import { CommandRunner } from "../../src/runtime/command-runner.ts";

/** @returns ends the watch */
export function watchCommands(note: (command: Command) => void): () => void {
  const { run } = CommandRunner.prototype;
  CommandRunner.prototype.run = function watched(this: CommandRunner, entry) {
    note(entry.command);
    return run.call(this, entry);
  };
  return () => {
    CommandRunner.prototype.run = run;
  };
}
