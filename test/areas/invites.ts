/** Invites in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

function offer(world: World) {
  return {
    minutes: world.random.pick([null, 1, 10]),
    role: 400 as const,
    channelIds: [world.channel()],
    groupIds: [],
    includesDefaults: world.flip(),
    welcomeText: world.random.pick([null, "", "hello"]),
  };
}

export const invitesCases = defineCases({
  audiences: {
    members: [
      "create-invite-link",
      "send-invites",
      "get-invites",
      "revoke-email-invite",
      "revoke-invite-link",
      "edit-invite-link",
      "resend-email-invite",
    ],
  },
  fuzz: {
    things: ["invitation"],
    meanings: {
      "revoke-email-invite invite_id": "invitation",
      "resend-email-invite invite_id": "invitation",
      "edit-invite-link invite_id": "invitation",
    },
    learned: {
      "get-invites": ({ invites }) => [
        ["invitation", invites.find((invite: { is_multiuse: boolean }) => !invite.is_multiuse)?.id],
      ],
    },
  },
  weights: { "invitation.confirm-address": 4 },
  draws: {
    "invitation.create": (world) =>
      command(
        realm,
        "invitation.create",
        { ...offer(world), key: world.hex(16), keyHash: world.hex(16) },
        world.administrator(),
      ),
    "invitations.send": (world) => {
      const mails = [{ email: `${world.name()}@example.com`, keyHash: world.hex(16), link: "https://example.com/j" }];
      return command(
        realm,
        "invitations.send",
        { ...offer(world), notifiesInviter: true, mails },
        world.administrator(),
      );
    },
    "invitation.accept": (world) => {
      const to = { actor: "invitation", id: world.id("invitations") } as const;
      const confirmation = world.flip() ? null : world.hex(16);
      const person = {
        email: `${world.name()}@example.com`,
        confirmation,
        fullName: world.name(),
        passwordHash: "none",
      };
      return command(to, "invitation.accept", person, null);
    },
    "invitation.confirm-address": (world) => {
      const to = { actor: "invitation", id: world.id("invitations") } as const;
      const mail = { email: `${world.name()}@example.com`, keyHash: world.hex(16), link: "https://example.com/j" };
      return command(to, "invitation.confirm-address", mail, null);
    },
    "address-confirmation.expire": (world) => {
      const request = { email: `${world.name()}@example.com`, requestedAt: 1, keyHash: world.hex(16) };
      return command(realm, "address-confirmation.expire", request, null);
    },
    "invitation.revoke": (world) => {
      const to = { actor: "invitation", id: world.id("invitations") } as const;
      return command(to, "invitation.revoke", { isLink: world.flip() }, world.administrator());
    },
    "invitation.edit": (world) => {
      const to = { actor: "invitation", id: world.id("invitations") } as const;
      const { minutes, role, channelIds, groupIds, includesDefaults, welcomeText } = offer(world);
      const change = {
        expiry: world.flip() ? { minutes } : null,
        role: world.flip() ? role : null,
        channelIds: world.flip() ? channelIds : null,
        groupIds: world.flip() ? groupIds : null,
        includesDefaults,
        welcome: { text: welcomeText },
      };
      return command(to, "invitation.edit", change, world.administrator());
    },
    "invitation.resend": (world) => {
      const to = { actor: "invitation", id: world.id("invitations") } as const;
      return command(
        to,
        "invitation.resend",
        { keyHash: world.hex(16), link: "https://example.com/j" },
        world.administrator(),
      );
    },
    "invitation.expire": null,
    "invitation.forget": (world) =>
      command({ actor: "invitation", id: world.id("invitations") }, "invitation.forget", {}, null),
  },
});
