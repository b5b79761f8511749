/** Requests about people, bots, invitations, and what is one person's; what couriers report comes from them (outside.ts). */
import { command } from "../../actors/commands.ts";
import { commands } from "../support/runtime.ts";
import type { Draw, World } from "./world.ts";

const realm = { actor: "realm" } as const;
const self = (id: number) => ({ actor: "user", id }) as const;

/** Somebody who may go: the first few stay most of the time, or the day would soon be over. */
function expendable(world: World): number {
  return world.random.chance(0.2) ? world.user() : world.id("users");
}

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

function mail(world: World): { readonly actor: "mail"; readonly id: number } {
  return { actor: "mail", id: world.id("mails") };
}

/** A delivery that is under way, if there is one. */
function webhook(world: World) {
  const keys = world.replica.keys("webhookDeliveries") as [number, number][];
  const [botId, id] = keys.length === 0 ? [3, 99_999] : world.random.pick(keys);
  return { actor: "webhook", botId, id } as const;
}

function draft(world: World) {
  return {
    type: "channel" as const,
    to: [world.channel()],
    topic: world.topic(),
    content: world.name(),
    changedAt: null,
  };
}

function fragment(world: World): string {
  return world.random.pick(["inbox", "narrow/is/starred", "narrow/is/dm", "recent"]);
}

/** One that somebody has, mostly. */
function view(world: World): { readonly userId: number; readonly fragment: string } {
  return world.row("navigationViews")?.row ?? { userId: world.user(), fragment: fragment(world) };
}

export const peopleDraws = {
  "user.create": (world) => commands.createUser(`${world.name()}@example.com`, world.administrator()),
  "user.change-settings": (world) => {
    const id = world.user();
    const settings = {
      color_scheme: world.random.pick([1, 2, 3]),
      presence_enabled: world.flip(),
      enable_drafts_synchronization: true,
    };
    const change = { settings, fullName: world.random.chance(0.1) ? world.name() : null, password: null };
    return command(self(id), "user.change-settings", change, id);
  },
  "user.update": null,
  "user.deactivate": (world) =>
    command(
      realm,
      "user.deactivate",
      { userId: expendable(world), comment: world.maybe("bye") },
      world.administrator(),
    ),
  "user.deactivate-self": (world) => command(realm, "user.deactivate-self", {}, expendable(world)),
  "user.reactivate": (world) => command(realm, "user.reactivate", { userId: world.user() }, world.administrator()),
  "user.grant-email-changes": () =>
    command(realm, "user.grant-email-changes", { email: "owner@localhost", isGranted: true }, null),
  "bot.create": (world) => {
    const botType = world.random.pick([1, 3]);
    return commands.createBot(botType === 3 ? 3 : 1 + world.random.below(2), botType, world.user());
  },
  "bot.update": (world) => commands.giveBot(world.id("bots"), world.user(), world.administrator()),
  "bot.deactivate": (world) => command(realm, "bot.deactivate", { botId: world.id("bots") }, world.administrator()),
  "bot.regenerate-key": (world) =>
    command(realm, "bot.regenerate-key", { botId: world.id("bots"), apiKeyHash: world.hex(16) }, world.administrator()),
  "user.api-key.add": (world) => {
    const id = world.user();
    const login = { fingerprint: world.oneOfFew(), client: "c", address: "a" };
    return command(self(id), "user.api-key.add", { hash: world.hex(16), ...(world.flip() ? { login } : {}) }, id);
  },
  "user.api-key.regenerate": (world) => {
    const id = world.user();
    return command(self(id), "user.api-key.regenerate", { hash: world.hex(16) }, id);
  },
  "user.email-change.request": (world) => {
    const id = world.user();
    const params = { newEmail: `${world.name()}@example.com`, keyHash: world.hex(16), link: "https://example.com/l" };
    return command(self(id), "user.email-change.request", params, id);
  },
  "user.email-change.expire": (world) =>
    command(self(world.user()), "user.email-change.expire", { keyHash: "none", requestedAt: 0 }, null),
  "user.email-change.confirm": (world) => {
    const keys = world.replica.keys("emailChanges") as string[];
    return command(
      realm,
      "user.email-change.confirm",
      { keyHash: keys.length === 0 ? "none" : world.random.pick(keys) },
      null,
    );
  },
  "user.avatar.set": (world) => {
    const id = world.user();
    return command(self(id), "user.avatar.set", { file: world.maybe(`${world.hex(32)}.png`) }, id);
  },
  "attachment.add": (world) => {
    const id = world.user();
    const file = {
      file: world.hex(32),
      name: "a.txt",
      size: 10 + world.random.below(100),
      image: null,
      sha256: world.hex(32),
      realmQuotaBytes: null,
      personQuotaBytes: null,
    };
    return command(self(id), "attachment.add", file, id);
  },
  "attachment.remove": (world) => {
    const id = world.user();
    return command(self(id), "attachment.remove", { attachmentId: world.id("attachments") }, id);
  },
  "attachment.expire": (world) =>
    command(realm, "attachment.expire", { attachmentId: world.id("attachments"), unclaimedSince: 0 }, null),
  "attachments.recount": (world) => {
    const attachmentIds = [world.id("attachments")];
    return command(realm, "attachments.recount", { attachmentIds }, null);
  },
  "status.update": (world) => {
    const id = world.user();
    const emoji = { emojiName: null, emojiCode: null, reactionType: null };
    const params = { text: world.maybe(world.oneOfFew()), ...emoji, away: null, isOwn: true };
    return command(self(id), "status.update", params, id);
  },
  "navigation-views.add": (world) => {
    const id = world.user();
    const params = { fragment: fragment(world), isPinned: world.flip(), name: world.maybe("view") };
    return command(self(id), "navigation-views.add", params, id);
  },
  "navigation-views.update": (world) => {
    const { userId, fragment } = view(world);
    const params = { fragment, isPinned: world.maybe(world.flip()), name: world.maybe("other") };
    return command(self(userId), "navigation-views.update", params, userId);
  },
  "navigation-views.remove": (world) => {
    const { userId, fragment } = view(world);
    return command(self(userId), "navigation-views.remove", { fragment }, userId);
  },
  "saved-snippets.add": (world) => {
    const id = world.user();
    return command(self(id), "saved-snippets.add", { title: "s", content: world.name() }, id);
  },
  "saved-snippets.update": (world) => {
    const { userId, id } = world.own("savedSnippets");
    const params = { id, title: world.maybe("t"), content: world.maybe(world.name()) };
    return command(self(userId), "saved-snippets.update", params, userId);
  },
  "saved-snippets.remove": (world) => {
    const { userId, id } = world.own("savedSnippets");
    return command(self(userId), "saved-snippets.remove", { id }, userId);
  },
  "drafts.add": (world) => {
    const id = world.user();
    return command(self(id), "drafts.add", { drafts: [draft(world)] }, id);
  },
  "drafts.update": (world) => {
    const { userId, id } = world.own("drafts");
    return command(self(userId), "drafts.update", { id, draft: draft(world) }, userId);
  },
  "drafts.remove": (world) => {
    const { userId, id } = world.own("drafts");
    return command(self(userId), "drafts.remove", { id }, userId);
  },
  "bot-storage.set": (world) => {
    const id = world.user();
    const key = world.oneOfFew();
    const entries = [{ hash: `hash of ${key}`, key, value: world.name() }];
    return command(self(id), "bot-storage.set", { entries }, id);
  },
  "bot-storage.remove": (world) => {
    const stored = world.replica.keys("botStorage") as [number, string][];
    const [id, hash] = stored.length === 0 ? [world.user(), "none"] : world.random.pick(stored);
    return command(self(id), "bot-storage.remove", { hashes: world.flip() ? [hash] : null }, id);
  },
  "push-token.add": (world) => {
    const id = world.user();
    const token = world.oneOfFew();
    const params = { name: `fcm:${token}`, kind: "fcm" as const, token, appId: null };
    return command(self(id), "push-token.add", params, id);
  },
  "push-token.remove": (world) => {
    const id = world.user();
    return command(self(id), "push-token.remove", { name: `fcm:${world.oneOfFew()}` }, id);
  },
  "device.register": (world) => {
    const id = world.user();
    return command(self(id), "device.register", {}, id);
  },
  "device.remove": (world) => {
    const { userId, id } = world.own("devices");
    return command(self(userId), "device.remove", { id }, userId);
  },
  "bot.add-key": (world) =>
    command(realm, "bot.add-key", { botId: world.user(), apiKeyHash: world.hex(16) }, world.administrator()),
  "alert-words.add": (world) => {
    const id = world.user();
    return command(self(id), "alert-words.add", { words: [world.oneOfFew()] }, id);
  },
  "alert-words.remove": (world) => {
    const id = world.user();
    return command(self(id), "alert-words.remove", { words: [world.oneOfFew()] }, id);
  },
  "muted-users.add": (world) => {
    const id = world.user();
    return command(self(id), "muted-users.add", { userId: world.user() }, id);
  },
  "muted-users.remove": (world) => {
    const { userId, id } = world.own("mutedUsers");
    return command(self(userId), "muted-users.remove", { userId: id }, userId);
  },
  "queue.register": null,
  "queue.delete": null,
  "presence.report": (world) => commands.report(world.user(), world.random.pick(["active", "idle"])),
  "presence.lapse": null,
  "presence.share": null,
  "invitation.create": (world) =>
    command(
      realm,
      "invitation.create",
      { ...offer(world), key: world.hex(16), keyHash: world.hex(16) },
      world.administrator(),
    ),
  "invitations.send": (world) => {
    const mails = [{ email: `${world.name()}@example.com`, keyHash: world.hex(16), link: "https://example.com/j" }];
    return command(realm, "invitations.send", { ...offer(world), notifiesInviter: true, mails }, world.administrator());
  },
  "invitation.accept": (world) => {
    const to = { actor: "invitation", id: world.id("invitations") } as const;
    const person = { email: `${world.name()}@example.com`, fullName: world.name(), passwordHash: "none" };
    return command(to, "invitation.accept", person, null);
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
  "mail.sent": null,
  "mail.failed": null,
  "mail.due": (world) => command(mail(world), "mail.due", {}, null),
  "mail.abandon": null,
  "webhook.answered": null,
  "webhook.failed": null,
  "webhook.due": (world) => command(webhook(world), "webhook.due", {}, null),
  "webhook.abandon": null,
} as const satisfies Readonly<Record<string, Draw | null>>;
