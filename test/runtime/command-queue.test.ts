/** The order in which a realm's commands run, where turns end by their budget. */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { CommandQueue } from "../../src/runtime/command-queue.ts";
import type { QueuedCommand } from "../../src/runtime/queued-command.ts";
import { commands } from "../support/runtime.ts";

const background: QueuedCommand = {
  command: command({ actor: "topic-deletion", channelId: 1, topic: "old" }, "topic-deletion.continue", {}, null),
  source: { kind: "sent" },
  resolve: null,
  idempotencyKey: null,
};

function request(): QueuedCommand {
  return {
    command: commands.post("new", "m"),
    source: { kind: "requested" },
    resolve: () => undefined,
    idempotencyKey: null,
  };
}

t.test(
  "[D73] turns_without_background_max holds although turns end before they reach the background command",
  async (t) => {
    const queue = new CommandQueue();
    const kind = { isVolatileTurn: false, isIdle: false, isRequested: true };
    const perTurn = 2;
    // More requests wait than one turn has budget for, and as many arrive as each turn takes.
    for (let count = 0; count < 3 * perTurn; count++) queue.push(request());
    queue.push(background);
    const waited: number[] = [];
    let turns = 0;
    for (let turn = 0; turn < 200; turn++) {
      let hasRun = false;
      for (let taken = 0; taken < perTurn; ) {
        if (queue.next(kind, null) === background) hasRun = true;
        else taken++;
      }
      queue.endTurn(null);
      for (let count = 0; count < perTurn; count++) queue.push(request());
      turns++;
      if (!hasRun) continue;
      waited.push(turns);
      turns = 0;
      queue.push(background);
    }
    t.ok(waited.length > 0, "it runs");
    // A turn that may run it must also reach it.
    t.ok(Math.max(...waited) <= limits.turns_without_background_max + 4, waited.join());
  },
);
