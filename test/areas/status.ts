/** Status in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases, nothing } from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

export const statusCases = defineCases({
  audiences: {
    humans: ["update-status"],
    accounts: ["update-status-for-user", "get-user-status"],
  },
  draws: {
    "status.update": (world) => {
      const id = world.user();
      const emoji = { emojiName: null, emojiCode: null, reactionType: null };
      const params = { text: world.maybe(world.oneOfFew()), ...emoji, away: null, isOwn: true };
      return command(self(id), "status.update", params, id);
    },
  },
  facts: {
    readers: {
      "status.update": ({ params, callerId }) =>
        params.text === null || !params.isOwn
          ? nothing
          : { claims: [{ key: ["status", callerId ?? 0], value: params.text }] },
    },
    actual: { status: (replica, userId) => replica.get("statuses", userId)?.statusText ?? "" },
  },
  lists: {
    appliers: { user_status: reduced },
    keys: { user_status: "ordered" },
    play: async (owner, other) => {
      for (const user of [owner, other]) {
        await must(user.post("/users/me/status", { status_text: "busy", emoji_name: "tada" }));
      }
      await must(other.post("/users/me/status", { status_text: "", emoji_name: "" }));
    },
  },
  state: { user_status: ["user_status"] },
  ofPeople: ["status.update"],
  restricted: {
    administrators: [
      {
        operationId: "update-status-for-user",
        method: "POST",
        path: "/users/{other}/status",
        params: { status_text: "x" },
      },
    ],
  },
});
