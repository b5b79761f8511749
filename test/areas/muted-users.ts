/** Muted users in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";
import { placeIn } from "./lessons.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

export const mutedUsersCases = defineCases({
  audiences: {
    accounts: ["mute-user", "unmute-user"],
  },
  fuzz: {
    things: ["muted person"],
    meanings: {
      "unmute-user muted_user_id": "muted person",
    },
    learned: {
      "mute-user": (_body, target) => [["muted person", placeIn(target, /\/muted_users\/(\d+)/)]],
    },
  },
  draws: {
    "muted-users.add": (world) => {
      const id = world.user();
      return command(self(id), "muted-users.add", { userId: world.user() }, id);
    },
    "muted-users.remove": (world) => {
      const { userId, id } = world.own("mutedUsers");
      return command(self(userId), "muted-users.remove", { userId: id }, userId);
    },
  },
  lists: {
    appliers: { muted_users: reduced },
    keys: { muted_users: "ordered" },
    play: async (owner, other) => {
      await must(owner.post(`/users/me/muted_users/${other.userId}`));
    },
  },
  state: { muted_users: ["muted_users"] },
});
