/**
 * PATCH /streams/{stream_id} (spec 4.4; behaviour 2.4). The public server's checks in its order, but one decision: the first
 * refusal refuses all of it, and what is asked for is changed and told together.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, GroupRecord } from "../../schemas/records.ts";
import { hasRealmPermission, isAdministrator } from "../../src/domain/permissions.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import { checkChannelName } from "../../src/domain/text.ts";
import { emptyTopicName } from "../../src/domain/topics.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { defaultsRenamed } from "./bot-events.ts";
import { administeredChannel } from "./channel-access.ts";
import { returningEffects } from "./channel-archive.ts";
import { updateBody, watchers } from "./channel-events.ts";
import {
  archivingNotice,
  descriptionNotice,
  notices,
  privacyNotice,
  renameNotice,
  retentionNotice,
  topicsPolicyNotice,
} from "./channel-notices.ts";
import { changeChannelGroups, checkDeletePolicies } from "./channel-permissions.ts";
import { changedPrivacy } from "./channel-privacy.ts";
import { channelSight, type SightChange } from "./channel-sight.ts";
import type { Asked, Change } from "./channel-step.ts";
import { checkDescription, checkFolder, retentionDays } from "./channels.ts";
import { checkRoomForDefault } from "./default-channels.ts";

type Step = (view: View, asked: Asked) => Change | Refusal;

const steps: readonly Step[] = [
  changePrivacy,
  changeTopicsPolicy,
  changeDefault,
  changeRetention,
  unarchive,
  checkDeletePolicies,
  changeDescription,
  rename,
  changeFolder,
  changeChannelGroups,
];

export function updateChannel(_context: unknown, asked: Command<"channel.update">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { params } = asked;
  const refused = params.description === null ? null : checkDescription(params.description.description);
  if (refused !== null) return refused;
  const before = administeredChannel(view, caller, params.channelId);
  if ("kind" in before) return before;
  let channel = before;
  const changes: Change[] = [];
  for (const step of steps) {
    const change = step(view, { caller, before, channel, params });
    if ("kind" in change) return change;
    channel = change.channel;
    changes.push(change);
  }
  return done({}, carryOut(view, before, channel, changes));
}

/** Who loses sight is told first, who gains it last, everybody else in between (channel-sight.ts). */
function carryOut(view: View, before: ChannelRecord, after: ChannelRecord, changes: readonly Change[]): Effect[] {
  const others = changes.flatMap(({ effects = [] }) => effects);
  const told = changes.flatMap(({ told = [] }) => told);
  const sight = sightChange(view, before, after, others);
  const gained = sight.gained.get(after.id) ?? [];
  const rest = watchers(after, gained);
  const isBack = before.isArchived && !after.isArchived;
  // To whom archived channels do not exist, nothing happens to one; one that comes back has just appeared as it is.
  const knowing = { ...rest, archives: "shown" } as const;
  return [
    ...(after === before ? [] : [effects.put("channels", after.id, after)]),
    ...others,
    ...sight.vanishing,
    ...(isBack ? returningEffects(view, after, gained) : []),
    ...told.map((body) => effects.emit("stream", body, before.isArchived ? knowing : rest)),
    ...sight.appearing,
    ...notices(
      view,
      after,
      changes.flatMap(({ notices = [] }) => notices),
    ).map(effects.tell),
  ];
}

/** Only people whose clients follow events are concerned: everybody else asks anew. */
function sightChange(view: View, before: ChannelRecord, after: ChannelRecord, others: readonly Effect[]): SightChange {
  const isOpenToAll = !before.isPrivate && !after.isPrivate && before.isWebPublic === after.isWebPublic;
  if (isOpenToAll) return { vanishing: [], appearing: [], gained: new Map() };
  const groups = new Map<number, GroupRecord | null>();
  for (const effect of others) {
    if (effect.kind !== "put" && effect.kind !== "remove") continue;
    // The key and the row of a group's effect are a group's: `effects.put` checks them.
    if (effect.table === "groups")
      groups.set(effect.key as number, effect.kind === "put" ? (effect.row as GroupRecord) : null);
  }
  const next = supposing(view, { channels: new Map([[after.id, after]]), groups });
  const followers = [...view.users.all()].filter(({ id }) => view.queuesOf(id).size > 0).map(({ id }) => id);
  return channelSight(view, next, [after.id], followers);
}

function changePrivacy(view: View, asked: Asked): Change | Refusal {
  const { caller, channel } = asked;
  const after = changedPrivacy(view, asked);
  if ("kind" in after || after === channel) return "kind" in after ? after : { channel };
  const body = updateBody(channel, "invite_only", after.isPrivate, {
    history_public_to_subscribers: after.isHistoryPublic,
    is_web_public: after.isWebPublic,
  });
  return { channel: after, told: [body], notices: [privacyNotice(caller, channel, after)] };
}

function changeTopicsPolicy(view: View, { caller, channel, params }: Asked): Change | Refusal {
  const { topicsPolicy } = params;
  if (topicsPolicy === null) return { channel };
  if (topicsPolicy !== "inherit" && !hasRealmPermission(view, caller, "can_set_topics_policy_group")) {
    return refuse.insufficientPermission();
  }
  if (topicsPolicy === channel.topicsPolicy) return { channel };
  if (topicsPolicy === "empty_topic_only" && hasNamedTopics(view, channel.id)) {
    return refuse.namedTopicsInChannel(emptyTopicName(view));
  }
  const after = { ...channel, topicsPolicy };
  return {
    channel: after,
    told: [updateBody(channel, "topics_policy", topicsPolicy)],
    notices: [topicsPolicyNotice(view, caller, channel, after)],
  };
}

const topicsPerLook = 100;

/** Whether any message is in another topic than the empty one (spec 2.4). A topic whose messages are gone does not count. */
function hasNamedTopics(view: View, channelId: number): boolean {
  let start: readonly (number | string)[] = [channelId];
  for (;;) {
    const names = view.rows("topicNames", { start, end: [channelId + 1], limit: topicsPerLook });
    for (const { key, row } of names) {
      const [message] = view.keys("conversationMessages", { start: [row.id], end: [row.id + 1], limit: 1 });
      if (key[1] !== "" && message !== undefined) return true;
    }
    const last = names.at(-1);
    if (last === undefined || names.length < topicsPerLook) return false;
    start = [channelId, `${last.key[1]}\0`];
  }
}

function changeDefault(view: View, { caller, channel, params }: Asked): Change | Refusal {
  const { isDefault } = params;
  if (isDefault === null) return { channel };
  if (!isAdministrator(caller)) return refuse.badRequest("You do not have permission to change default channels.");
  if (isDefault === channel.isDefault) return { channel };
  if (channel.isArchived && params.isArchived !== false) {
    return refuse.badRequest("A default channel cannot be archived.");
  }
  const noRoom = isDefault ? checkRoomForDefault(view) : null;
  if (noRoom !== null) return noRoom;
  return {
    channel: { ...channel, isDefault },
    effects: [effects.emit("default_streams", {}, { to: "realm" })],
  };
}

/** D19. */
function changeRetention(_view: View, { caller, channel, params }: Asked): Change | Refusal {
  if (params.messageRetentionDays === null) return { channel };
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  const days = retentionDays(params.messageRetentionDays);
  if (typeof days === "object" && days !== null) return days;
  if (days === channel.messageRetentionDays) return { channel };
  return {
    channel: { ...channel, messageRetentionDays: days },
    told: [updateBody(channel, "message_retention_days", days)],
    notices: [retentionNotice(caller, channel.messageRetentionDays, days)],
  };
}

/** Only unarchiving is permitted (spec 3, D14). */
function unarchive(view: View, { channel, params }: Asked): Change | Refusal {
  const { isArchived } = params;
  if (isArchived === null) return { channel };
  if (isArchived) return refuse.badRequest("is_archived can only be false: only unarchiving is permitted");
  if (!channel.isArchived) return refuse.badRequest("Channel is not currently deactivated");
  if (channel.isPrivate && view.subscriptions.ofChannel(channel.id).size === 0) {
    return refuse.badRequest("Channel is private and have no subscribers");
  }
  return {
    channel: { ...channel, isArchived },
    told: [updateBody(channel, "is_archived", isArchived)],
    notices: [archivingNotice(channel, isArchived)],
  };
}

function changeDescription(_view: View, { caller, channel, params }: Asked): Change {
  const wanted = params.description;
  if (wanted === null || wanted.description === channel.description) return { channel };
  const { description, renderedDescription } = wanted;
  return {
    channel: { ...channel, description, renderedDescription },
    told: [updateBody(channel, "description", description, { rendered_description: renderedDescription })],
    notices: [descriptionNotice(caller, channel.description, description)],
  };
}

/** The event has the old name as the channel's and the new one as its value. Another spelling of one's own name is free. */
function rename(view: View, { caller, channel, params }: Asked): Change | Refusal {
  const { newName: name } = params;
  if (name === null) return { channel };
  if (name === channel.name) return refuse.badRequest("Channel already has that name.");
  const badName = checkChannelName(name, limits.channel_name_code_points_max);
  if (badName !== null) return badName;
  const holder = view.channels.byName(name);
  if (holder !== undefined && holder.id !== channel.id) return refuse.channelAlreadyExists(name);
  return {
    channel: { ...channel, name },
    told: [updateBody(channel, "name", name)],
    effects: defaultsRenamed(view, channel.id),
    notices: [renameNotice(caller, channel.name, name)],
  };
}

function changeFolder(view: View, { channel, params }: Asked): Change | Refusal {
  const { folder } = params;
  if (folder === null || folder.id === channel.folderId) return { channel };
  const refused = checkFolder(view, folder.id);
  if (refused !== null) return refused;
  return { channel: { ...channel, folderId: folder.id }, told: [updateBody(channel, "folder_id", folder.id)] };
}
