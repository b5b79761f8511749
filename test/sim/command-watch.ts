/**
 * Observes every executed command, whoever sent it, and every event: the simulation's only view of the runtime besides
 * its rows.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import { Hub } from "../../src/edge/realtime/hub.ts";
import { CommandRunner } from "../../src/runtime/command-runner.ts";

export interface Watch {
  /** A machine is about to decide. */
  readonly began: (command: Command) => void;
  /** It was not rejected and did not throw. */
  readonly succeeded: (command: Command) => void;
  /** An event of this type will be published when its turn is on disk. */
  readonly staged: (type: string) => void;
}

/** @returns a function that ends the watch */
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
