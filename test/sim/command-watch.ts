/** Sees every command that is carried out, whoever sent it, and every event: the only look behind the runtime that is not a row. */
import type { Command } from "../../actors/commands.ts";
import { Hub } from "../../src/realtime/hub.ts";
import { CommandRunner } from "../../src/runtime/command-runner.ts";

export interface Watch {
  /** A machine is about to decide. */
  readonly began: (command: Command) => void;
  /** It was not refused, and did not throw. */
  readonly succeeded: (command: Command) => void;
  /** An event of this type is to be told when its turn is on disk. */
  readonly staged: (type: string) => void;
}

/** @returns ends the watch */
export function watchCommands({ began, succeeded, staged }: Watch): () => void {
  const { run } = CommandRunner.prototype;
  const { stage } = Hub.prototype;
  CommandRunner.prototype.run = function watched(this: CommandRunner, entry) {
    began(entry.command);
    const concluded = run.call(this, entry);
    if (concluded.deferred !== null || concluded.result.kind === "ok") succeeded(entry.command);
    return concluded;
  };
  Hub.prototype.stage = function watched(this: Hub, event) {
    staged(event.record.type);
    stage.call(this, event);
  };
  return () => {
    CommandRunner.prototype.run = run;
    Hub.prototype.stage = stage;
  };
}
