/** Sessions in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

/** A session and its user; mostly one that exists. */
function session(world: World): { readonly userId: number; readonly id: number; readonly hash: string } {
  return world.row("sessions")?.row ?? { userId: world.user(), id: 0, hash: "none" };
}

export const sessionsCases = defineCases({
  audiences: {
    everybody: ["log-in"],
    spectators: ["get-session"],
    accounts: ["log-out", "get-sessions", "end-session"],
  },
  draws: {
    "user.session.start": (world) => {
      const id = world.user();
      const login = { fingerprint: world.oneOfFew(), client: "c", address: "a" };
      const { passwordHash = null } = world.replica.get("credentials", id) ?? {};
      const params = { hash: world.hex(16), client: "c", host: "chat.example.com", login, passwordHash };
      return command(self(id), "user.session.start", params, id);
    },
    "user.session.end": (world) => {
      const { userId, id } = session(world);
      return command(self(userId), "user.session.end", { id }, userId);
    },
    "user.session.used": (world) => {
      const { userId, hash } = session(world);
      return command(self(userId), "user.session.used", { hash }, userId);
    },
    "user.session.expire": (world) => {
      const { userId, hash } = session(world);
      return command(self(userId), "user.session.expire", { hash }, null);
    },
  },
  ofPeople: ["user.session.start"],
});
