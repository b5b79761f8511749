/** Channels: creation (spec 4.3), and the id of a channel's first message (spec 4.13, section 6). */

import { hasRealmPermission, isAdministrator, isGuest } from "../../domain/permissions.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { checkSubscriptionsLeft } from "../../domain/subscription-bounds.ts";
import { checkChannelName, checkLines, codePoints } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelCreate, ChannelRecord, NewChannel } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { channelGroupSettingNames, channelGroupSettings, type GroupSettingName } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, effects, forServer, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { refusedByRecord } from "../protocol/record-machines.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";
import { botMessage, silentMention } from "../rules/notification-bot.ts";
import { channelsLeftToday, checkChannelsLeft } from "./channel-creation.ts";
import { invalidFolder } from "./channel-folder-changes.ts";
import { channelFolderRecords } from "./channel-folder-machine.ts";
import { createdNotice, notices } from "./channel-notices.ts";
import { checkRoomForDefault } from "./default-channels.ts";
import { checkNamed, type GroupChange, type ResolvedSettings, resolveSettings, withLaterIds } from "./group-values.ts";
import { changeMembers } from "./membership.ts";

/** The values that the new channels of one command share. */
export interface Creations {
  readonly left: number;
  /** Resolved once, because they may name thousands of users; ids as for the first channel. */
  readonly settings: () => ResolvedSettings<GroupSettingName> | Refusal;
}

export function newCreations(view: View, caller: UserRecord, values: ChannelCreate["groups"]): Creations {
  let resolved: ResolvedSettings<GroupSettingName> | Refusal | null = null;
  const firstId = view.counter("group") + 1;
  return {
    left: channelsLeftToday(view, caller),
    settings: () => {
      resolved ??= resolveSettings(
        view,
        { settings: channelGroupSettings, values, creator: caller, firstId },
        (name, change) => checkDeletePolicy(view, caller, name, change),
      );
      return resolved;
    },
  };
}

/** POST /channels/create (spec 4.3), atomic. */
export function createChannel(
  caller: UserRecord,
  params: Params<"channel.create">,
  view: View,
  command: Command<"channel.create">,
): Outcome {
  const creation = checkChannelCreate(view, caller, params, newCreations(view, caller, params.groups), 0);
  if (isRefusal(creation)) return creation;
  const subscribers = new Set<number>();
  for (const id of params.subscriberIds) {
    const user = view.users.get(id);
    if (user === undefined) return refuse.noSuchUser();
    if (!user.isActive) return refuse.badRequest("User is deactivated");
    subscribers.add(id);
  }
  const userIds = [...subscribers];
  const crowded = checkSubscriptionsLeft(view, caller, [{ channel: creation.channel, userIds }]);
  if (crowded !== null) return crowded;
  // A channel without subscribers is not announced (behaviour 2.3, Empty subscribers list).
  const announced = userIds.length === 0 ? [] : announcement(view, creation, caller);
  const targets = [{ kind: "join" as const, channel: creation.channel, userIds, color: null }];
  const answer = { id: creation.channel.id };
  return changeMembers(view, command, { creations: [creation], targets, answer, after: announced });
}

/**
 * Checks all rules of spec 4.3 in the public server's order.
 * @param offset number of channels already created by the same command
 */
export function checkChannelCreate(
  view: View,
  caller: UserRecord,
  wanted: ChannelCreate,
  creations: Creations,
  offset: number,
): NewChannel | Refusal {
  if (isGuest(caller)) return refuse.guestsNotAllowed();
  const badName = checkChannelName(wanted.name, limits.channel_name_code_points_max);
  if (badName !== null) return badName;
  const badDescription = checkDescription(wanted.description);
  if (badDescription !== null) return badDescription;
  if (view.channels.byName(wanted.name) !== undefined) return refuse.channelAlreadyExists(wanted.name);
  const noneLeft = checkChannelsLeft(view, creations.left, offset);
  if (noneLeft !== null) return noneLeft;
  const badFolder = checkFolder(view, wanted.folderId, "channel.create");
  if (badFolder !== null) return badFolder;
  const retention = retentionDays(wanted.messageRetentionDays);
  if (typeof retention === "object" && retention !== null) return retention;
  const refused = checkCreationPermission(view, caller, wanted, { retention, offset });
  if (refused !== null) return refused;

  const crowded = checkNamed(view, caller, { values: Object.values(wanted.groups), count: offset + 1 });
  if (crowded !== null) return crowded;
  const settings = creations.settings();
  if (isRefusal(settings)) return settings;
  // Each channel of a command takes group ids from its own block, with one id per setting.
  const groups = withLaterIds(settings, offset * channelGroupSettingNames.length);
  const channel: ChannelRecord = {
    id: view.counter("channel") + 1 + offset,
    recipientId: view.counter("recipient") + 1 + offset,
    name: wanted.name,
    description: wanted.description,
    renderedDescription: wanted.renderedDescription,
    creatorId: caller.id,
    createdAt: view.now,
    isPrivate: wanted.isPrivate,
    isWebPublic: wanted.isWebPublic,
    isHistoryPublic: wanted.isPrivate ? (wanted.isHistoryPublic ?? false) : true,
    isDefault: wanted.isDefault,
    isArchived: false,
    messageRetentionDays: retention,
    folderId: wanted.folderId,
    topicsPolicy: wanted.topicsPolicy,
    firstMessageId: null,
    groups: groups.ids,
  };
  return { channel, groups: groups.records, isAnnounced: wanted.announce };
}

export function checkDescription(description: string): Refusal | null {
  const limit = limits.channel_description_code_points_max;
  return codePoints(description) <= limit
    ? checkLines("description", description)
    : refuse.badRequest(`description is too long (limit: ${limit} characters)`);
}

/** @param folderId null: no folder */
export function checkFolder(
  view: View,
  folderId: number | null,
  type: "channel.create" | "channel.update",
): Refusal | null {
  if (folderId === null) return null;
  const folder = view.row("channelFolders", folderId);
  return folder === undefined ? invalidFolder() : refusedByRecord(channelFolderRecords, folder, type);
}

/** Spec 4.3: requires the server's option, the organization's setting, and the permission. */
export function checkWebPublic(view: View, caller: UserRecord, isAllowed: boolean): Refusal | null {
  if (!isAllowed || !realmSetting(view, "enable_spectator_access")) {
    return refuse.badRequest("Web-public channels are not enabled.");
  }
  return hasRealmPermission(view, caller, "can_create_web_public_channel_group")
    ? null
    : refuse.insufficientPermission();
}

function checkCreationPermission(
  view: View,
  caller: UserRecord,
  wanted: ChannelCreate,
  { retention, offset }: { readonly retention: number | null; readonly offset: number },
): Refusal | null {
  if (wanted.topicsPolicy !== "inherit" && !hasRealmPermission(view, caller, "can_set_topics_policy_group")) {
    return refuse.insufficientPermission();
  }
  const needed = wanted.isPrivate ? "can_create_private_channel_group" : "can_create_public_channel_group";
  if (!hasRealmPermission(view, caller, needed)) return refuse.insufficientPermission();
  if (wanted.isDefault && !isAdministrator(caller)) return refuse.insufficientPermission();
  if (wanted.isDefault && wanted.isPrivate) return refuse.badRequest("A default channel cannot be private.");
  const noRoom = wanted.isDefault ? checkRoomForDefault(view, offset) : null;
  if (noRoom !== null) return noRoom;
  if (wanted.isPrivate && wanted.isWebPublic) return refuse.badRequest("Invalid parameters");
  const notWebPublic = wanted.isWebPublic ? checkWebPublic(view, caller, wanted.isWebPublicAllowed) : null;
  if (notWebPublic !== null) return notWebPublic;
  // D19: only organization administrators may set retention.
  if (retention !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  return null;
}

/** Spec 2.4: null follows the organization, -1 keeps messages forever, other numbers are days. */
export function retentionDays(value: number | string | null): number | null | Refusal {
  if (value === null || value === "realm_default") return null;
  if (value === "unlimited") return -1;
  const days = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof days === "number" && days > 0 && Number.isSafeInteger(days)) return days;
  return refuse.invalidValue("message_retention_days", String(value));
}

/** Granting a can_delete_* permission requires the organization's permission to do so (behaviour 2.3). */
function checkDeletePolicy(
  view: View,
  caller: UserRecord,
  name: GroupSettingName,
  change: GroupChange,
): Refusal | null {
  if (name !== "can_delete_any_message_group" && name !== "can_delete_own_message_group") return null;
  if (change.id === view.groups.system("role:nobody")?.id) return null;
  return hasRealmPermission(view, caller, "can_set_delete_message_policy_group")
    ? null
    : refuse.insufficientPermission();
}

/**
 * The notification bot announces a new channel in the organization's announcement channel and in the channel itself,
 * after all users have been subscribed, so that all of them receive the message.
 */
export function announcement(view: View, { channel, isAnnounced }: NewChannel, caller: UserRecord): Command[] {
  const place = view.channels.get(realmSetting(view, "new_stream_announcements_stream_id"));
  const isNoticePosted = isAnnounced && place !== undefined && !place.isArchived && !channel.isPrivate;
  const content = `${silentMention(caller)} created a new channel #**${channel.name}**.`;
  return [
    ...(isNoticePosted ? [botMessage(place, "new channels", content)] : []),
    ...notices(view, channel, [createdNotice(channel, caller)], { readById: caller.id }),
  ];
}

/**
 * Updates the channel's first message (spec section 6); sent after a first post, a move or a deletion. It reads the
 * current rows, because other messages may have been posted or deleted since it was sent.
 */
export function findFirstMessage(params: Params<"channel.find-first-message">, view: View): Outcome {
  const channel = view.channels.get(params.channelId);
  if (channel === undefined) return done({}, []);
  const [oldest] = view.keys("channelMessages", { start: [channel.id], end: [channel.id + 1], limit: 1 });
  const firstMessageId = oldest === undefined ? null : oldest[1];
  if (channel.firstMessageId === firstMessageId) return done({}, []);
  const update = updateBody(channel, "first_message_id", firstMessageId);
  return done({}, [
    effects.put("channels", channel.id, { ...channel, firstMessageId }),
    // Sent even with a channel's first message: users who see the channel without a subscription do not receive the
    // message itself.
    effects.emit("stream", update, watchers(channel, [])),
  ]);
}

export const channelsDecisions = {
  "channel.create": forUser(createChannel),
  "channel.find-first-message": forServer(findFirstMessage),
} as const;
