/**
 * Events when a private or web-public channel becomes visible or invisible to users (S1; public API, stream create and
 * delete) by a change of groups, permissions, privacy or roles. Subscribing and unsubscribing have their own events
 * (membership.ts). A row stores since when a user can see the channel, so that a replay omits earlier events
 * (src/edge/realtime/audience.ts).
 */

import { everybodyWithin } from "../../domain/group-permissions.ts";
import { ascending } from "../../domain/group-values.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import { channelGroupId, hasMetadataAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { channelGroupSettingNames, channelGroupSettings } from "../../schemas/group-settings.ts";
import type { ChannelId, GroupId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { visibleDefaults } from "../rules/bot-events.ts";
import { people } from "../rules/channel-events.ts";
import { endQueues } from "../rules/user-visibility.ts";

/** The channel permissions that make the channel visible to their holders. */
const metadataSettings = channelGroupSettingNames.filter((name) => channelGroupSettings[name].grantsMetadata);

/** Private channels that are visible to the group's members, directly or through groups that contain it. */
export function channelsVisibleTo(view: View, groupId: GroupId): ChannelRecord[] {
  return [...view.channels.all()].filter(
    (channel) =>
      channel.isPrivate &&
      metadataSettings.some(
        (name) => view.groups.scope(channelGroupId(view, channel, name))?.ids.has(groupId) === true,
      ),
  );
}

/**
 * Private channels that become visible or invisible when a group's members or subgroups change.
 * @param group its row after the change
 * @param joining ids of new direct members; `leaving`: ids of removed ones
 */
export function visibilityOfGroupChange(
  view: View,
  group: GroupRecord,
  { joining, leaving }: { readonly joining: readonly number[]; readonly leaving: readonly number[] },
): VisibilityChange {
  const channelIds = channelsVisibleTo(view, group.id).map(({ id }) => id);
  if (channelIds.length === 0) return { vanishing: [], appearing: [], gained: new Map() };
  const [before, next] = [new Set(view.groups.get(group.id)?.subgroupIds), new Set(group.subgroupIds)];
  const shifted = [...new Set([...before, ...next])].filter((id) => before.has(id) !== next.has(id));
  const concerned = new Set([...joining, ...leaving, ...shifted.flatMap((id) => [...everybodyWithin(view, id)])]);
  // Users without an event queue need no events: they read the new state when they register.
  const followers = [...concerned].filter((id) => view.queuesOf(id).size > 0);
  const members = new Set([...view.groups.membersOf(group.id), ...joining]);
  for (const id of leaving) members.delete(id);
  const after = withOverrides(view, { groups: new Map([[group.id, group]]), members: new Map([[group.id, members]]) });
  return channelVisibility(view, after, channelIds, followers);
}

export interface VisibilityChange {
  /** Deletions, emitted before all other events about the channel. */
  readonly vanishing: readonly Effect[];
  /** Creations, emitted after all rows have been written. */
  readonly appearing: readonly Effect[];
  /** Users to whom the channel became visible, by channel: other events about the change must exclude them. */
  readonly gained: ReadonlyMap<number, readonly number[]>;
}

/**
 * Computes the events for a change of visibility. If there are too many pairs or subscribers, the users' queues are
 * closed instead, so that their clients register again.
 * @param after the view after the change (`withOverrides`)
 * @param channelIds channels that may be affected
 * @param userIds users who may be affected; deactivated users are skipped
 * @param subscribersMax bound on the subscribers announced to users who gain channels, over all channels
 */
export function channelVisibility(
  view: View,
  after: View,
  channelIds: Iterable<number>,
  userIds: Iterable<number>,
  subscribersMax: number = limits.visibility_subscribers_max,
): VisibilityChange {
  const channels = [...channelIds];
  const candidates = [...userIds].flatMap((id) => {
    const user = view.users.get(id);
    return user?.isActive === true ? [user] : [];
  });
  const tooMuch = (): VisibilityChange => {
    const ended = candidates.flatMap(({ id }) => endQueues(view, id));
    return { vanishing: ended, appearing: [], gained: new Map() };
  };
  if (channels.length * candidates.length > limits.visibility_pairs_max) return tooMuch();
  let subscribersLeft = subscribersMax;
  const vanishing: Effect[] = [];
  const appearing: Effect[] = [];
  const gained = new Map<number, readonly number[]>();
  for (const id of channels) {
    const [before, next] = [view.channels.get(id), after.channels.get(id)];
    if (before === undefined || next === undefined) continue;
    const losing: number[] = [];
    const gaining: number[] = [];
    for (const user of candidates) {
      const knew = hasMetadataAccess(view, user, before);
      if (knew === hasMetadataAccess(after, after.users.get(user.id) ?? user, next)) continue;
      (knew ? losing : gaining).push(user.id);
    }
    if (gaining.length > 0) subscribersLeft -= view.subscriptions.ofChannel(id).size;
    if (subscribersLeft < 0) return tooMuch();
    vanishing.push(...vanishingEffects(view, id, losing));
    appearing.push(...appearingEffects(view, next, gaining));
    if (gaining.length > 0) gained.set(id, ascending(gaining));
  }
  return { vanishing, appearing, gained };
}

/**
 * Stores since when these users can see the channel, so that a replay omits earlier events (E2, S1). Only for users
 * with an event queue.
 */
export function visibilityRows(view: View, channelId: ChannelId, userIds: readonly UserId[]): Effect[] {
  const followers = userIds.filter((id) => view.queuesOf(id).size > 0);
  return followers.map((id) => effects.put("channelVisibility", [channelId, id], { sincePosition: view.position }));
}

/** Sends the channel's deletion to these users. */
export function vanishingEffects(view: View, channelId: ChannelId, userIds: readonly UserId[]): Effect[] {
  if (userIds.length === 0) return [];
  const gone = { op: "delete" as const, streams: [{ stream_id: channelId }], stream_ids: [channelId] };
  return [
    effects.emit("stream", gone, { to: "users", ids: ascending(userIds) }),
    ...visibleDefaults(view, [channelId], userIds),
  ];
}

/**
 * Sends the channel to these users: first with a subscriber count of 0, then its subscribers, which clients add to the
 * count.
 */
export function appearingEffects(view: View, channel: ChannelRecord, userIds: readonly UserId[]): Effect[] {
  if (userIds.length === 0) return [];
  const audience = people(channel, ascending(userIds));
  const subscribers = ascending(view.subscriptions.ofChannel(channel.id));
  const peers = { op: "peer_add" as const, stream_ids: [channel.id], user_ids: subscribers };
  return [
    ...visibilityRows(view, channel.id, userIds),
    effects.emit("stream", { op: "create", channel_ids: [channel.id], subscriber_count: 0 }, audience),
    ...(subscribers.length === 0 ? [] : [effects.emit("subscription", peers, audience)]),
    ...visibleDefaults(view, [channel.id], userIds),
  ];
}
