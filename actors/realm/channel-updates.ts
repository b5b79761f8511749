/**
 * PATCH /streams/{stream_id} (spec 4.4; behaviour 2.4). Runs the public server's checks in the same order but decides
 * atomically: the first refusal rejects the whole request; otherwise all changes are applied and announced together.
 */

import { withOverrides } from "../../domain/overlay-view.ts";
import { hasRealmPermission, isAdministrator } from "../../domain/permissions.ts";
import { checkChannelName } from "../../domain/text.ts";
import { emptyTopicName } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { type Command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { defaultsRenamed } from "../rules/bot-events.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";
import { returningEffects } from "./channel-archive.ts";
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
import { type Change, type ChannelContext, type ChannelRequest, channelState } from "./channel-step.ts";
import { channelVisibility, type VisibilityChange } from "./channel-visibility.ts";
import { checkFolder, retentionDays } from "./channels.ts";
import { checkRoomForDefault } from "./default-channels.ts";

type Step = (view: View, request: ChannelRequest) => Change | Refusal;

/** @param ofState the steps that depend on whether the channel is archived */
function stepsWith(ofState: { readonly changeDefault: Step; readonly changeArchiving: Step }): readonly Step[] {
  return [
    changePrivacy,
    changeTopicsPolicy,
    ofState.changeDefault,
    changeRetention,
    ofState.changeArchiving,
    checkDeletePolicies,
    changeDescription,
    rename,
    changeFolder,
    changeChannelGroups,
  ];
}

const stepsOfOpen = stepsWith({ changeDefault: changeDefault(() => null), changeArchiving: refuseUnarchiving });
const stepsOfArchived = stepsWith({
  changeDefault: changeDefault(refuseUnlessUnarchived),
  changeArchiving: unarchive,
});

export function updateOpenChannel(
  context: ChannelContext,
  command: Command<"channel.update">,
  view: View,
): Outcome<ChannelContext> {
  return update(context, command, view, stepsOfOpen);
}

export function updateArchivedChannel(
  context: ChannelContext,
  command: Command<"channel.update">,
  view: View,
): Outcome<ChannelContext> {
  return update(context, command, view, stepsOfArchived);
}

function update(
  { row: before, caller }: ChannelContext,
  { params }: Command<"channel.update">,
  view: View,
  steps: readonly Step[],
): Outcome<ChannelContext> {
  let channel = before;
  const changes: Change[] = [];
  for (const step of steps) {
    const change = step(view, { caller, before, channel, params });
    if (isRefusal(change)) return change;
    channel = change.channel;
    changes.push(change);
  }
  return done({}, applySteps(view, before, channel, changes), { row: channel }, channelState(channel));
}

/**
 * Emits the channel's deletion to users who can no longer see it first, its creation to users who can see it now last,
 * and all other events in between (channel-visibility.ts).
 */
function applySteps(view: View, before: ChannelRecord, after: ChannelRecord, changes: readonly Change[]): Effect[] {
  const others = changes.flatMap(({ effects = [] }) => effects);
  const streamEvents = changes.flatMap(({ streamEvents = [] }) => streamEvents);
  const visibility = visibilityChange(view, before, after, others);
  const gained = visibility.gained.get(after.id) ?? [];
  const rest = watchers(after, gained);
  const isBack = before.isArchived && !after.isArchived;
  // Clients without support for archived channels receive no changes of an archived channel; when it is unarchived they
  // receive it in its final state.
  const knowing = { ...rest, archives: "shown" } as const;
  return [
    ...(after === before ? [] : [effects.put("channels", after.id, after)]),
    ...others,
    ...visibility.vanishing,
    ...(isBack ? returningEffects(view, after, gained) : []),
    ...streamEvents.map((body) => effects.emit("stream", body, before.isArchived ? knowing : rest)),
    ...visibility.appearing,
    ...notices(
      view,
      after,
      changes.flatMap(({ notices = [] }) => notices),
    ).map(effects.send),
  ];
}

/** Considers only users with an event queue: others read the new state when they register. */
function visibilityChange(
  view: View,
  before: ChannelRecord,
  after: ChannelRecord,
  others: readonly Effect[],
): VisibilityChange {
  const isOpenToAll = !before.isPrivate && !after.isPrivate && before.isWebPublic === after.isWebPublic;
  if (isOpenToAll) return { vanishing: [], appearing: [], gained: new Map() };
  const groups = new Map<number, GroupRecord | null>();
  for (const effect of others) {
    const isRow = effect.kind === "put" || effect.kind === "remove";
    if (isRow && effect.table === "groups") groups.set(effect.key, effect.row);
  }
  const next = withOverrides(view, { channels: new Map([[after.id, after]]), groups });
  const followers = [...view.users.all()].filter(({ id }) => view.queuesOf(id).size > 0).map(({ id }) => id);
  return channelVisibility(view, next, [after.id], followers);
}

function changePrivacy(view: View, request: ChannelRequest): Change | Refusal {
  const { caller, channel } = request;
  const after = changedPrivacy(view, request);
  if (isRefusal(after) || after === channel) return isRefusal(after) ? after : { channel };
  const body = updateBody(channel, "invite_only", after.isPrivate, {
    history_public_to_subscribers: after.isHistoryPublic,
    is_web_public: after.isWebPublic,
  });
  return { channel: after, streamEvents: [body], notices: [privacyNotice(caller, channel, after)] };
}

function changeTopicsPolicy(view: View, { caller, channel, params }: ChannelRequest): Change | Refusal {
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
    streamEvents: [updateBody(channel, "topics_policy", topicsPolicy)],
    notices: [topicsPolicyNotice(view, caller, channel, after)],
  };
}

const topicsPerScan = 100;

/**
 * Whether the channel has messages in a named topic (spec 2.4). Topics whose messages were all deleted do not count.
 */
function hasNamedTopics(view: View, channelId: ChannelId): boolean {
  let start: readonly (number | string)[] = [channelId];
  for (;;) {
    const names = view.rows("topicNames", { start, end: [channelId + 1], limit: topicsPerScan });
    for (const { key, row } of names) {
      const [message] = view.keys("conversationMessages", { start: [row.id], end: [row.id + 1], limit: 1 });
      if (key[1] !== "" && message !== undefined) return true;
    }
    const last = names.at(-1);
    if (last === undefined || names.length < topicsPerScan) return false;
    start = [channelId, `${last.key[1]}\0`];
  }
}

/** @param check whether the channel's state allows it */
function changeDefault(check: (request: ChannelRequest) => Refusal | null): Step {
  return (view, request) => {
    const { caller, channel, params } = request;
    const { isDefault } = params;
    if (isDefault === null) return { channel };
    if (!isAdministrator(caller)) return refuse.badRequest("You do not have permission to change default channels.");
    if (isDefault === channel.isDefault) return { channel };
    const refused = check(request) ?? (isDefault ? checkRoomForDefault(view) : null);
    if (refused !== null) return refused;
    return {
      channel: { ...channel, isDefault },
      effects: [effects.emit("default_streams", {}, { to: "realm" })],
    };
  };
}

/** The same request must unarchive the channel. */
function refuseUnlessUnarchived({ params }: ChannelRequest): Refusal | null {
  return params.isArchived === false ? null : refuse.badRequest("A default channel cannot be archived.");
}

/** Spec 4.4; D19. */
function changeRetention(_view: View, { caller, channel, params }: ChannelRequest): Change | Refusal {
  if (params.messageRetentionDays === null) return { channel };
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  const days = retentionDays(params.messageRetentionDays);
  if (typeof days === "object" && days !== null) return days;
  if (days === channel.messageRetentionDays) return { channel };
  return {
    channel: { ...channel, messageRetentionDays: days },
    streamEvents: [updateBody(channel, "message_retention_days", days)],
    notices: [retentionNotice(caller, channel.messageRetentionDays, days)],
  };
}

function refuseUnarchiving(_view: View, { channel, params }: ChannelRequest): Change | Refusal {
  if (params.isArchived === null) return { channel };
  return params.isArchived ? refuseArchiving() : refuse.badRequest("Channel is not currently deactivated");
}

/** Only unarchiving is allowed (spec 3, D14). */
function refuseArchiving(): Refusal {
  return refuse.badRequest("is_archived can only be false: only unarchiving is permitted");
}

function unarchive(view: View, { channel, params }: ChannelRequest): Change | Refusal {
  const { isArchived } = params;
  if (isArchived === null) return { channel };
  if (isArchived) return refuseArchiving();
  if (channel.isPrivate && view.subscriptions.ofChannel(channel.id).size === 0) {
    return refuse.badRequest("Channel is private and have no subscribers");
  }
  return {
    channel: { ...channel, isArchived },
    streamEvents: [updateBody(channel, "is_archived", isArchived)],
    notices: [archivingNotice(channel, isArchived)],
  };
}

function changeDescription(_view: View, { caller, channel, params }: ChannelRequest): Change {
  const wanted = params.description;
  if (wanted === null || wanted.description === channel.description) return { channel };
  const { description, renderedDescription } = wanted;
  return {
    channel: { ...channel, description, renderedDescription },
    streamEvents: [updateBody(channel, "description", description, { rendered_description: renderedDescription })],
    notices: [descriptionNotice(caller, channel.description, description)],
  };
}

/**
 * The event contains the old name as `name` and the new one as `value`. Changing only the case of the name is allowed.
 */
function rename(view: View, { caller, channel, params }: ChannelRequest): Change | Refusal {
  const { newName: name } = params;
  if (name === null) return { channel };
  if (name === channel.name) return refuse.badRequest("Channel already has that name.");
  const badName = checkChannelName(name, limits.channel_name_code_points_max);
  if (badName !== null) return badName;
  const holder = view.channels.byName(name);
  if (holder !== undefined && holder.id !== channel.id) return refuse.channelAlreadyExists(name);
  return {
    channel: { ...channel, name },
    streamEvents: [updateBody(channel, "name", name)],
    effects: defaultsRenamed(view, channel.id),
    notices: [renameNotice(caller, channel.name, name)],
  };
}

function changeFolder(view: View, { channel, params }: ChannelRequest): Change | Refusal {
  const { folder } = params;
  if (folder === null || folder.id === channel.folderId) return { channel };
  const refused = checkFolder(view, folder.id, "channel.update");
  if (refused !== null) return refused;
  return { channel: { ...channel, folderId: folder.id }, streamEvents: [updateBody(channel, "folder_id", folder.id)] };
}
