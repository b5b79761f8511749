/**
 * Subscribes and unsubscribes users: rows, and events to everybody affected (behaviour 2.3 c). A change of more than
 * `subscribers_per_command_max` users, or with more than `channels_created_per_command_max` new channels, continues in slices, each of which sends the next through the mailbox, so that no
 * turn is long. The request is answered when the last slice is on disk.
 */

import { hasMetadataAccessUnsubscribed } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import type { ChannelRecord, NewChannel } from "../../schemas/channels.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import {
  type Command,
  command,
  type Done,
  done,
  type Effect,
  effects,
  forServer,
  type MembershipChange,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { visibleDefaults } from "../rules/bot-events.ts";
import { people, watchers } from "../rules/channel-events.ts";
import { leaveRead } from "../rules/read-marks.ts";
import { readBeforeJoining } from "../rules/read-rows.ts";
import { visibilityEvents } from "../rules/user-visibility.ts";
import { creationSlice, newChannelEffects, seesOnlyBySubscription, takenIds } from "./channel-creation.ts";
import { vanishingEffects, visibilityRows } from "./channel-visibility.ts";
import { endSubscription, newSubscription } from "./subscription-records.ts";

export interface Target {
  readonly kind: "join" | "leave";
  readonly channel: ChannelRecord;
  readonly userIds: readonly UserId[];
  readonly color: string | null;
}

export interface ChangeRequest {
  /** New channels, which precede their members. */
  readonly creations: readonly NewChannel[];
  /** Each channel occurs at most once. */
  readonly targets: readonly Target[];
  readonly answer: Answer;
  /** Commands to send when all users have been subscribed or unsubscribed. */
  readonly after: readonly Command[];
}

/** Number of users in a change, counted once per channel. */
export function sizeOf(targets: readonly { readonly userIds: readonly UserId[] }[]): number {
  return targets.reduce((sum, { userIds }) => sum + userIds.length, 0);
}

/** Applies the change at once, or starts it. */
export function changeMembers(view: View, sent: Command, request: ChangeRequest): Done<never> {
  const { creations, targets, answer, after } = request;
  const isSmall = creations.length <= limits.channels_created_per_command_max;
  if (isSmall && sizeOf(targets) <= limits.subscribers_per_command_max) {
    const joining = new Map(targets.map(({ channel, userIds }) => [channel.id, userIds]));
    const created = creations.flatMap((one) => newChannelEffects(view, one, joining.get(one.channel.id) ?? []));
    return done(answer, [
      ...takenIds(creations),
      ...created,
      ...changeEffects(view, targets),
      ...after.map(effects.send),
    ]);
  }
  const waiting = sent.ticket === null ? null : { ticket: sent.ticket, boot: view.counter("boot"), answer };
  const left = targets.map(({ channel, ...target }) => ({ ...target, channelId: channel.id }));
  const members = { targets: left, waiting, after };
  const begun = [...takenIds(creations), ...creationSlice(view, creations, members)];
  return { ...done<never>(null, begun), keptAnswer: answer };
}

export function continueChange(
  { creations = [], targets, waiting, after }: Params<"members.change">,
  view: View,
): Outcome {
  if (creations.length > 0) return done({}, creationSlice(view, creations, { targets, waiting, after }));
  const { taken, left } = takeSlice(targets);
  const now = taken.flatMap(({ channelId, ...target }) => {
    const channel = view.channels.get(channelId);
    return channel === undefined ? [] : [{ ...target, channel }];
  });
  const all = changeEffects(view, now);
  if (left.length > 0) {
    all.push(effects.send(command({ actor: "realm" }, "members.change", { targets: left, waiting, after }, null)));
    return done({}, all);
  }
  all.push(...after.map(effects.send));
  if (waiting !== null && waiting.boot === view.counter("boot")) {
    // After a restart no request is waiting, and the ticket number may belong to another request.
    all.push(effects.reply(waiting.ticket, waiting.answer));
  }
  return done({}, all);
}

function takeSlice(targets: MembershipChange["targets"]) {
  const taken: MembershipChange["targets"][number][] = [];
  const left: MembershipChange["targets"][number][] = [];
  let room: number = limits.subscribers_per_command_max;
  for (const target of targets) {
    const now = target.userIds.slice(0, room);
    const later = target.userIds.slice(room);
    room -= now.length;
    if (now.length > 0) taken.push({ ...target, userIds: now });
    if (later.length > 0) left.push({ ...target, userIds: later });
  }
  return { taken, left };
}

/**
 * Rows and events of all targets. Users who become visible (`can_access_all_users_group`) are announced first, those
 * who become invisible last.
 */
function changeEffects(view: View, targets: readonly Target[]): Effect[] {
  const joins = targets.filter(({ kind }) => kind === "join");
  const leaves = targets.filter(({ kind }) => kind === "leave");
  return [
    ...visibilityOf(view, joins, true),
    ...joins.flatMap((target) => joinEffects(view, target)),
    ...leaves.flatMap((target) => leaveEffects(view, target)),
    ...visibilityOf(view, leaves, false),
  ];
}

function visibilityOf(view: View, targets: readonly Target[], isInAfter: boolean): Effect[] {
  if (targets.length === 0) return [];
  const changing = new Map(targets.map(({ channel, userIds }) => [channel.id, new Set(userIds)]));
  return visibilityEvents(view, {
    channelIds: new Set(changing.keys()),
    userIds: new Set(targets.flatMap(({ userIds }) => userIds)),
    isInAfter: (userId, channelId) =>
      changing.get(channelId)?.has(userId) === true ? isInAfter : view.subscriptions.isSubscribed(userId, channelId),
  });
}

function joinEffects(view: View, { channel, userIds, color }: Target): Effect[] {
  // A user may be deactivated between the slices of a large change; reactivation restores only earlier subscriptions.
  const joining = userIds.filter((id) => view.users.get(id)?.isActive === true);
  const ids = ascending(joining.filter((id) => !view.subscriptions.isSubscribed(id, channel.id)));
  if (ids.length === 0) return [];
  const unaware = ids.filter((id) => seesOnlyBySubscription(view, id, channel));
  // The count at this moment. On a later replay, the peer events that follow must not be counted twice.
  const body = {
    channel_ids: [channel.id],
    subscriber_count: view.subscriptions.ofChannel(channel.id).size + ids.length,
  };
  return [
    ...ids.map((id) => effects.put("subscriptions", [channel.id, id], newSubscription(view, id, channel.id, color))),
    // Leaving marked the messages of an earlier subscription as read (behaviour 8).
    ...ids.flatMap((id) =>
      view.subscriptions.get(id, channel.id) === undefined ? [] : readBeforeJoining(view, id, channel.id),
    ),
    ...visibilityRows(view, channel.id, unaware),
    ...(unaware.length === 0 ? [] : [effects.emit("stream", { op: "create", ...body }, people(channel, unaware))]),
    effects.emit("subscription", { op: "add", ...body }, people(channel, ids)),
    effects.emit("subscription", { op: "peer_add", stream_ids: [channel.id], user_ids: ids }, watchers(channel, ids)),
    ...visibleDefaults(view, [channel.id], unaware),
  ];
}

/** A user who can no longer see the channel after leaving it also receives its deletion. */
function leaveEffects(view: View, { channel, userIds }: Target): Effect[] {
  const ids = ascending(userIds.filter((id) => view.subscriptions.get(id, channel.id)?.isActive === true));
  if (ids.length === 0) return [];
  const blinded = ids.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && !hasMetadataAccessUnsubscribed(view, user, channel);
  });
  // Deactivated users were removed from clients' subscriber counts when they were deactivated.
  const seen = ids.filter((id) => view.users.get(id)?.isActive === true);
  const peersGone = { op: "peer_remove" as const, stream_ids: [channel.id], user_ids: seen };
  return [
    ...ids.flatMap((id) => {
      const subscription = view.subscriptions.get(id, channel.id);
      if (subscription === undefined) return [];
      return [effects.put("subscriptions", [channel.id, id], endSubscription(view, subscription))];
    }),
    effects.emit(
      "subscription",
      { op: "remove", subscriptions: [{ name: channel.name, stream_id: channel.id }] },
      people(channel, ids),
    ),
    // Includes users who leave but can still see the channel; for the others see realtime/channel-events.ts.
    ...(seen.length === 0 ? [] : [effects.emit("subscription", peersGone, watchers(channel, blinded))]),
    ...vanishingEffects(view, channel.id, blinded),
    ...ids.flatMap((id) => leaveRead(view, id, channel.id)),
  ];
}

function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

export const membershipDecisions = {
  "members.change": forServer(continueChange),
} as const;
