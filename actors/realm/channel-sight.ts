/**
 * Channels appear to and vanish from people's clients as they gain and lose the right to know of them (S1; public API, stream
 * create and delete): by membership of groups, by who holds a channel's permissions, by a channel becoming private or public, by
 * roles. Joining and leaving a channel has events of its own: membership.ts. Whoever is told of a channel as new gets a row that
 * says since when, so that a repetition tells them nothing of what was before (src/realtime/audience.ts).
 */

import { channelGroupSettingNames, channelGroupSettings } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, GroupRecord } from "../../schemas/records.ts";
import { everybodyWithin } from "../../src/domain/group-permissions.ts";
import { ascending } from "../../src/domain/group-values.ts";
import { channelGroupId, hasMetadataAccess } from "../../src/domain/permissions.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { defaultsInSight } from "./bot-events.ts";
import { people } from "./channel-events.ts";
import { endQueues } from "./user-sight.ts";

/** Of the permissions of a channel, those that let one know of it. */
const metadataSettings = channelGroupSettingNames.filter((name) => channelGroupSettings[name].grantsMetadata);

/** Private channels that somebody knows of by being in the group, directly or through groups that it is within. */
export function channelsKnownBy(view: View, groupId: number): ChannelRecord[] {
  return [...view.channels.all()].filter(
    (channel) =>
      channel.isPrivate &&
      metadataSettings.some(
        (name) => view.groups.scope(channelGroupId(view, channel, name))?.ids.has(groupId) === true,
      ),
  );
}

/**
 * What of private channels appears and vanishes when a user group gets other members or subgroups.
 * @param group its row as it will be
 * @param joining ids of people who become direct members; `leaving`: who cease to be
 */
export function sightOfGroupChange(
  view: View,
  group: GroupRecord,
  { joining, leaving }: { readonly joining: readonly number[]; readonly leaving: readonly number[] },
): SightChange {
  const channelIds = channelsKnownBy(view, group.id).map(({ id }) => id);
  if (channelIds.length === 0) return { vanishing: [], appearing: [], gained: new Map() };
  const [before, next] = [new Set(view.groups.get(group.id)?.subgroupIds), new Set(group.subgroupIds)];
  const shifted = [...new Set([...before, ...next])].filter((id) => before.has(id) !== next.has(id));
  const concerned = new Set([...joining, ...leaving, ...shifted.flatMap((id) => [...everybodyWithin(view, id)])]);
  // Who follows no events asks anew.
  const followers = [...concerned].filter((id) => view.queuesOf(id).size > 0);
  const members = new Set([...view.groups.membersOf(group.id), ...joining]);
  for (const id of leaving) members.delete(id);
  const after = supposing(view, { groups: new Map([[group.id, group]]), members: new Map([[group.id, members]]) });
  return channelSight(view, after, channelIds, followers);
}

export interface SightChange {
  /** Who has lost a channel is told before anything else is said about it ... */
  readonly vanishing: readonly Effect[];
  /** ... and who has gained it, after all was written. */
  readonly appearing: readonly Effect[];
  /** Who has gained sight, by channel: for events that they must not get twice. */
  readonly gained: ReadonlyMap<number, readonly number[]>;
}

/**
 * @param after how it will be (`supposing`)
 * @param channelIds which may be concerned
 * @param userIds who may be concerned; the deactivated are nobody's concern
 * @param subscribersMax whom those who gain channels may be told of as their subscribers, over all channels
 */
export function channelSight(
  view: View,
  after: View,
  channelIds: Iterable<number>,
  userIds: Iterable<number>,
  subscribersMax: number = limits.sight_subscribers_max,
): SightChange {
  const channels = [...channelIds];
  const candidates = [...userIds].flatMap((id) => {
    const user = view.users.get(id);
    return user?.isActive === true ? [user] : [];
  });
  const tooMuch = (): SightChange => {
    const ended = candidates.flatMap(({ id }) => endQueues(view, id));
    return { vanishing: ended, appearing: [], gained: new Map() };
  };
  if (channels.length * candidates.length > limits.sight_pairs_max) return tooMuch();
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

/** What was told of a channel until now is not repeated to people who know of it from now on (E2, S1), if they follow events at all. */
export function sightRows(view: View, channelId: number, userIds: readonly number[]): Effect[] {
  const followers = userIds.filter((id) => view.queuesOf(id).size > 0);
  return followers.map((id) => effects.put("channelSights", [channelId, id], { sincePosition: view.position }));
}

/** The channel is gone for these people. */
export function vanishingEffects(view: View, channelId: number, userIds: readonly number[]): Effect[] {
  if (userIds.length === 0) return [];
  const gone = { op: "delete", streams: [{ stream_id: channelId }], stream_ids: [channelId] };
  return [
    effects.emit("stream", gone, { to: "users", ids: ascending(userIds) }),
    ...defaultsInSight(view, [channelId], userIds),
  ];
}

/** The channel is new to these people: the record, which counts nobody, then who is in it; clients count them. */
export function appearingEffects(view: View, channel: ChannelRecord, userIds: readonly number[]): Effect[] {
  if (userIds.length === 0) return [];
  const audience = people(channel, ascending(userIds));
  const subscribers = ascending(view.subscriptions.ofChannel(channel.id));
  const peers = { op: "peer_add", stream_ids: [channel.id], user_ids: subscribers };
  return [
    ...sightRows(view, channel.id, userIds),
    effects.emit("stream", { op: "create", channel_ids: [channel.id], subscriber_count: 0 }, audience),
    ...(subscribers.length === 0 ? [] : [effects.emit("subscription", peers, audience)]),
    ...defaultsInSight(view, [channel.id], userIds),
  ];
}
