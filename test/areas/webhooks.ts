/** Webhooks in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";

/** A delivery in progress, if there is one. */
function webhook(world: World) {
  const keys = world.replica.keys("webhookDeliveries") as [number, number][];
  const [botId, id] = keys.length === 0 ? [3, 99_999] : world.random.pick(keys);
  return { actor: "webhook", botId, id } as const;
}

export const webhooksCases = defineCases({
  audiences: {
    accounts: ["service-outgoing-webhook"],
  },
  draws: {
    "webhook.answered": null,
    "webhook.failed": null,
    "webhook.due": (world) => command(webhook(world), "webhook.due", {}, null),
    "webhook.abandon": null,
  },
});
