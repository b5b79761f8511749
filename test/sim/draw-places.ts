/** Requests about channels, groups, the organization and what belongs to it. */
import { command } from "../../actors/commands.ts";
import { commands } from "../support/runtime.ts";
import { type Draw, textOf, type World } from "./world.ts";

const realm = { actor: "realm" } as const;

const noChange = {
  description: null,
  newName: null,
  isPrivate: null,
  isWebPublic: null,
  isHistoryPublic: null,
  isDefault: null,
  messageRetentionDays: null,
  isArchived: null,
  folder: null,
  topicsPolicy: null,
  groups: {},
  isWebPublicAllowed: false,
} as const;

function linkifier(world: World) {
  const name = world.oneOfFew();
  return { pattern: `#${name}-(?P<id>[0-9]+)`, urlTemplate: `https://example.com/${name}/{id}` };
}

function names(world: World): string[] {
  return [world.channelName(), ...(world.random.chance(0.2) ? [world.channelName()] : [])];
}

function principals(world: World): number[] | null {
  return world.random.chance(0.6) ? null : world.users(4);
}

/** All ids of a table, mostly: an order is of all of them. */
function order(world: World, table: "linkifiers" | "profileFields" | "channelFolders"): number[] {
  const ids = world.replica.keys(table) as number[];
  return world.random.chance(0.2) ? ids.slice(1) : [...ids].reverse();
}

export const placeDraws = {
  "channel.create": (world) => {
    const asked = commands.createChannel(
      world.random.chance(0.7) ? world.name() : world.channelName(),
      world.users(4),
      world.user(),
    );
    const isPrivate = world.random.chance(0.4);
    return { ...asked, params: { ...asked.params, isPrivate, isHistoryPublic: isPrivate ? world.flip() : null } };
  },
  "channel.update": (world) => {
    const change = {
      ...noChange,
      channelId: world.channel(),
      newName: world.random.chance(0.2) ? world.name() : null,
      isPrivate: world.random.chance(0.2) ? world.flip() : null,
      isHistoryPublic: world.random.chance(0.1) ? world.flip() : null,
      isArchived: world.random.chance(0.2) ? false : null,
      messageRetentionDays: world.random.chance(0.1) ? 30 : null,
      folder: world.random.chance(0.2) ? { id: world.maybe(world.id("channelFolders")) } : null,
    };
    return command(realm, "channel.update", change, world.administrator());
  },
  "channel.archive": (world) =>
    command(
      realm,
      "channel.archive",
      { channelId: world.random.chance(0.1) ? 1 : world.id("channels") },
      world.administrator(),
    ),
  "channel.find-first-message": (world) =>
    command(realm, "channel.find-first-message", { channelId: world.channel() }, null),
  "channel-folder.create": (world) =>
    command(realm, "channel-folder.create", { name: world.name(), description: textOf("d") }, world.administrator()),
  "channel-folder.update": (world) => {
    const change = {
      name: world.maybe(world.name()),
      description: world.maybe(textOf("e")),
      isArchived: world.maybe(world.flip()),
    };
    const params = { folderId: world.id("channelFolders"), ...change };
    return command(realm, "channel-folder.update", params, world.administrator());
  },
  "channel-folder.reorder": (world) =>
    command(realm, "channel-folder.reorder", { order: order(world, "channelFolders") }, world.administrator()),
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
  "default-channels.set": null,
  "user-topics.set": null,
  "user-topics.move": null,
  "user-topics.end": null,
  "group.create": null,
  "group.update": (world) => {
    const change = { name: world.random.chance(0.3) ? world.name() : null, description: world.maybe(world.name()) };
    const isDeactivated = world.random.chance(0.3) ? world.flip() : null;
    const params = { groupId: world.ownGroup(), ...change, isDeactivated, settings: {} };
    return command(realm, "group.update", params, world.administrator());
  },
  "group.deactivate": (world) =>
    command(realm, "group.deactivate", { groupId: world.ownGroup() }, world.administrator()),
  "group.change-members": (world) => {
    const [groupId, subgroupId] = [world.ownGroup(), world.ownGroup()];
    const isNesting = world.random.chance(0.2) && groupId !== subgroupId;
    const members = { addIds: isNesting ? [] : world.activeUsers(3), removeIds: [] };
    const subgroups = { addSubgroupIds: isNesting ? [subgroupId] : [], removeSubgroupIds: [] };
    return command(realm, "group.change-members", { groupId, ...members, ...subgroups }, world.administrator());
  },
  "group-members.continue": (world) => {
    const steps = [{ op: "add" as const, userIds: world.activeUsers(3) }];
    const params = { groupId: world.ownGroup(), steps, waiting: null };
    return command(realm, "group-members.continue", params, null);
  },
  "linkifier.add": (world) => command(realm, "linkifier.add", linkifier(world), world.administrator()),
  "linkifier.update": (world) =>
    command(realm, "linkifier.update", { ...linkifier(world), id: world.id("linkifiers") }, world.administrator()),
  "linkifier.remove": (world) =>
    command(realm, "linkifier.remove", { id: world.id("linkifiers") }, world.administrator()),
  "linkifier.reorder": (world) =>
    command(realm, "linkifier.reorder", { order: order(world, "linkifiers") }, world.administrator()),
  "playground.add": (world) => {
    const params = { name: world.oneOfFew(), language: "Python", urlTemplate: "https://example.com/{code}" };
    return command(realm, "playground.add", params, world.administrator());
  },
  "playground.remove": (world) =>
    command(realm, "playground.remove", { id: world.id("playgrounds") }, world.administrator()),
  "emoji.add": (world) => {
    const file = `${world.hex(32)}.png`;
    return command(realm, "emoji.add", { name: world.oneOfFew(), file, stillFile: null }, world.user());
  },
  "emoji.deactivate": (world) => command(realm, "emoji.deactivate", { name: world.oneOfFew() }, world.user()),
  "profile-field.create": (world) => commands.createField(world.name(), world.random.pick([1, 3])),
  "profile-field.update": (world) => {
    const kept = { hint: null, fieldData: null, displayInSummary: null, isRequired: null, isEditableByUser: null };
    const params = { ...kept, fieldId: world.id("profileFields"), name: world.name() };
    return command(realm, "profile-field.update", params, world.administrator());
  },
  "profile-field.reorder": (world) =>
    command(realm, "profile-field.reorder", { order: order(world, "profileFields") }, world.administrator()),
  "profile-field.delete": (world) =>
    command(realm, "profile-field.delete", { fieldId: world.id("profileFields") }, world.administrator()),
  "profile-values.sweep": null,
  "profile-data.set": (world) => commands.enter(world.id("profileFields"), world.user()),
  "realm.change-settings": (world) => {
    const settings = world.random.pick([
      { name: world.name() },
      { waiting_period_threshold: world.random.below(3) },
      { message_retention_days: world.random.pick([-1, 30]) },
      { moderation_request_channel_id: world.privateChannel() },
    ]);
    return command(
      realm,
      "realm.change-settings",
      { settings, groups: {}, isWebPublicAllowed: false },
      world.administrator(),
    );
  },
  "realm.change-settings-defaults": (world) =>
    command(
      realm,
      "realm.change-settings-defaults",
      { settings: { enable_sounds: world.flip() } },
      world.administrator(),
    ),
  /** By somebody who may not: it would be the end of the day. */
  "realm.deactivate": () => command(realm, "realm.deactivate", {}, 3),
  "realm.reactivate": () => command(realm, "realm.reactivate", {}, null),
  "realm-domain.add": (world) => {
    const params = { domain: `${world.name()}.example`, allowsSubdomains: world.flip() };
    return command(realm, "realm-domain.add", params, world.administrator());
  },
  "realm-domain.update": (world) => {
    const params = { domain: world.row("realmDomains")?.key ?? "none.example", allowsSubdomains: world.flip() };
    return command(realm, "realm-domain.update", params, world.administrator());
  },
  "realm-domain.remove": (world) => {
    const params = { domain: world.row("realmDomains")?.key ?? "none.example" };
    return command(realm, "realm-domain.remove", params, world.administrator());
  },
  "realm.picture.set": (world) => {
    const name = world.random.pick(["icon", "logo", "night_logo"] as const);
    const params = { name, file: world.maybe(`${world.hex(32)}.png`) };
    return command(realm, "realm.picture.set", params, world.administrator());
  },
  "realm.end-waiting-periods": () => command(realm, "realm.end-waiting-periods", {}, null),
  "realm.found": () => commands.throwing(),
  "presence.persist": null,
  "inputs.persist": (world) => {
    const counts = [{ day: world.random.below(40), userId: world.user(), reports: 1 }];
    return command(realm, "inputs.persist", { counts }, null);
  },
  "channels.tell-inactive": (world) =>
    command(realm, "channels.tell-inactive", { since: 0, upTo: world.now(), afterId: 0 }, null),
} as const satisfies Readonly<Record<string, Draw | null>>;
