/** Presence in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { commands } from "../support/runtime.ts";
import { defineCases } from "./area.ts";

/** In a topic, or in the edit of one's own message. */
function typing(world: World, op: "start" | "stop") {
  const written = world.random.chance(0.3) ? world.row("messages") : undefined;
  if (written === undefined) return commands.typing(op, world.topic(), world.user());
  const { id: messageId, senderId } = written.row;
  const to = { actor: "typing", conversation: `edit:${messageId}` } as const;
  return command(to, `typing.${op}`, { target: { kind: "edit", messageId } }, senderId);
}

export const presenceCases = defineCases({
  audiences: {
    humans: ["update-presence"],
    accounts: ["set-typing-status", "set-typing-status-for-message-edit", "get-presence", "get-user-presence"],
  },
  fuzz: {
    meanings: {
      "set-typing-status-for-message-edit message_id": "message",
    },
  },
  draws: {
    "typing.start": (world) => typing(world, "start"),
    "typing.stop": (world) => typing(world, "stop"),
    "typing.expire": null,
    "presence.report": (world) => commands.report(world.user(), world.random.pick(["active", "idle"])),
    "presence.lapse": null,
    "presence.share": null,
    "presence.persist": null,
  },
  forms: { "set-typing-status-for-message-edit": () => ({ op: "start" }) },
  state: { presence: ["presence_last_update_id", "presences", "server_timestamp"] },
});
