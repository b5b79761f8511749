/** Subscriptions in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { commands } from "../support/runtime.ts";
import { defineCases, forgetsSubscriptions } from "./area.ts";
import { realm } from "./draws.ts";

function names(world: World): string[] {
  return [world.channelName(), ...(world.random.chance(0.2) ? [world.channelName()] : [])];
}

function principals(world: World): number[] | null {
  return world.random.chance(0.6) ? null : world.users(4);
}

export const subscriptionsCases = defineCases({
  audiences: {
    accounts: [
      "get-user-channels",
      "get-subscriptions",
      "subscribe",
      "unsubscribe",
      "update-subscriptions",
      "update-subscription-settings",
      "get-subscribers",
      "get-subscription-status",
    ],
  },
  draws: {
    "members.change": (world) => {
      const target = {
        kind: world.random.pick(["join", "leave"] as const),
        channelId: 1,
        userIds: world.activeUsers(3),
        color: null,
      };
      return command(realm, "members.change", { targets: [target], waiting: null, after: [] }, null);
    },
    "subscriptions.add": (world) => commands.subscribe(names(world), principals(world), world.user(), world.flip()),
    "subscriptions.remove": (world) => commands.unsubscribe(names(world), principals(world), world.user()),
    "subscriptions.update": (world) => {
      const id = world.user();
      const { params: add } = commands.subscribe(names(world), null, id);
      return command(realm, "subscriptions.update", { add, removeNames: names(world) }, id);
    },
    "subscription-settings.change": (world) => {
      const id = world.user();
      const color = `#${world.random.pick(["c", "d"]).repeat(6)}`;
      const changes = [{ channelId: world.channel(), property: "color" as const, value: color }];
      return command({ actor: "user", id }, "subscription-settings.change", { changes }, id);
    },
  },
  state: { subscription: ["never_subscribed", "subscriptions", "unsubscribed"] },
  weights: { "subscriptions.add": 8, "subscriptions.remove": 4 },
  facts: {
    readers: {
      "subscriptions.add": () => forgetsSubscriptions,
      "subscriptions.remove": () => forgetsSubscriptions,
      "subscriptions.update": () => forgetsSubscriptions,
      "members.change": () => forgetsSubscriptions,
      "subscription-settings.change": ({ params, callerId }) => ({
        claims: params.changes
          .filter(({ property }) => property === "color")
          .map(({ channelId, value }) => ({ key: ["color", channelId, callerId ?? 0], value })),
      }),
    },
    actual: {
      color: (replica, channelId, userId) => replica.get("subscriptions", [channelId, userId])?.color,
      subscription: (replica, channelId, userId) =>
        replica.get("subscriptions", [channelId, userId])?.isActive === true,
    },
  },
});
