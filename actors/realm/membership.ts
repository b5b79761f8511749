/**
 * People joining and leaving channels: rows, and the events of everybody concerned (behaviour 2.3 c). A change of more than
 * `subscribers_per_command_max` people goes on by itself, slice after slice, each telling the next through the mailbox, so
 * that no turn is long; its request is answered when the last slice is on disk.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { hasMetadataAccess, hasMetadataAccessUnsubscribed } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command, type MembershipChange } from "../commands.ts";
import { type Done, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { readBeforeJoining } from "../user/read-rows.ts";
import { leaveRead } from "../user/read-state.ts";
import { defaultsInSight } from "./bot-events.ts";
import { people, watchers } from "./channel-events.ts";
import { sightRows, vanishingEffects } from "./channel-sight.ts";
import { endSubscription, newSubscription } from "./subscription-records.ts";
import { sightEffects } from "./user-sight.ts";

export interface Target {
  readonly kind: "join" | "leave";
  readonly channel: ChannelRecord;
  readonly userIds: readonly number[];
  readonly color: string | null;
}

export interface ChangeRequest {
  /** A channel stands here once. */
  readonly targets: readonly Target[];
  readonly answer: Answer;
  /** Told when everybody has joined and left. */
  readonly after: readonly Command[];
}

/** How many people a change is about, counted once per channel. */
export function sizeOf(targets: readonly { readonly userIds: readonly number[] }[]): number {
  return targets.reduce((sum, { userIds }) => sum + userIds.length, 0);
}

/** Carries out a change at once, or its beginning; `before` are effects that come first, e.g. new channels. */
export function changeMembers(
  view: View,
  asked: Command,
  request: ChangeRequest,
  before: readonly Effect[],
): Done<never> {
  const { targets, answer, after } = request;
  if (sizeOf(targets) <= limits.subscribers_per_command_max) {
    return done(answer, [...before, ...changeEffects(view, targets), ...after.map(effects.tell)]);
  }
  const waiting = asked.ticket === null ? null : { ticket: asked.ticket, boot: view.counter("boot"), answer };
  const left = targets.map(({ channel, ...target }) => ({ ...target, channelId: channel.id }));
  const goOn = command({ actor: "realm" }, "members.change", { targets: left, waiting, after }, null);
  return { ...done<never>(null, [...before, effects.tell(goOn)]), keptAnswer: answer };
}

/** One slice of a large change. */
export function continueChange(_context: unknown, asked: Command<"members.change">, view: View): Outcome {
  const { targets, waiting, after } = asked.params;
  const { taken, left } = takeSlice(targets);
  const now = taken.flatMap(({ channelId, ...target }) => {
    const channel = view.channels.get(channelId);
    return channel === undefined ? [] : [{ ...target, channel }];
  });
  const all = changeEffects(view, now);
  if (left.length > 0) {
    all.push(effects.tell(command({ actor: "realm" }, "members.change", { targets: left, waiting, after }, null)));
    return done({}, all);
  }
  all.push(...after.map(effects.tell));
  if (waiting !== null && waiting.boot === view.counter("boot")) {
    // After a restart nobody waits any more, and the ticket may name somebody else's request.
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

/** Rows and events of all targets, and first of all who comes into sight by them (`can_access_all_users_group`). */
function changeEffects(view: View, targets: readonly Target[]): Effect[] {
  const joins = targets.filter(({ kind }) => kind === "join");
  const leaves = targets.filter(({ kind }) => kind === "leave");
  return [
    ...sightOf(view, joins, true),
    ...joins.flatMap((target) => joinEffects(view, target)),
    ...leaves.flatMap((target) => leaveEffects(view, target)),
    ...sightOf(view, leaves, false),
  ];
}

function sightOf(view: View, targets: readonly Target[], isInAfter: boolean): Effect[] {
  if (targets.length === 0) return [];
  const changing = new Map(targets.map(({ channel, userIds }) => [channel.id, new Set(userIds)]));
  return sightEffects(view, {
    channelIds: new Set(changing.keys()),
    userIds: new Set(targets.flatMap(({ userIds }) => userIds)),
    isInAfter: (userId, channelId) =>
      changing.get(channelId)?.has(userId) === true ? isInAfter : view.subscriptions.isSubscribed(userId, channelId),
  });
}

function joinEffects(view: View, { channel, userIds, color }: Target): Effect[] {
  // Between slices of a large change somebody may have been deactivated: who comes back finds what was there before.
  const joining = userIds.filter((id) => view.users.get(id)?.isActive === true);
  const ids = ascending(joining.filter((id) => !view.subscriptions.isSubscribed(id, channel.id)));
  if (ids.length === 0) return [];
  const unaware = ids.filter((id) => isUnaware(view, id, channel));
  // The count of this moment: what is replayed later must not count twice what the following peer events add.
  const body = {
    channel_ids: [channel.id],
    subscriber_count: view.subscriptions.ofChannel(channel.id).size + ids.length,
  };
  return [
    ...ids.map((id) => effects.put("subscriptions", [channel.id, id], newSubscription(view, id, channel.id, color))),
    // What was received in a former stay was marked as read by leaving (behaviour 8).
    ...ids.flatMap((id) =>
      view.subscriptions.get(id, channel.id) === undefined ? [] : readBeforeJoining(view, id, channel.id),
    ),
    ...sightRows(view, channel.id, unaware),
    ...(unaware.length === 0 ? [] : [effects.emit("stream", { op: "create", ...body }, people(channel, unaware))]),
    effects.emit("subscription", { op: "add", ...body }, people(channel, ids)),
    effects.emit("subscription", { op: "peer_add", stream_ids: [channel.id], user_ids: ids }, watchers(channel, ids)),
    ...defaultsInSight(view, [channel.id], unaware),
  ];
}

/** Whether joining is how the person learns that the channel exists. */
export function isUnaware(view: View, userId: number, channel: ChannelRecord): boolean {
  const user = view.users.get(userId);
  return user !== undefined && !hasMetadataAccess(view, user, channel);
}

/** Who loses sight of the channel by leaving it is told that it is gone. */
function leaveEffects(view: View, { channel, userIds }: Target): Effect[] {
  const ids = ascending(userIds.filter((id) => view.subscriptions.get(id, channel.id)?.isActive === true));
  if (ids.length === 0) return [];
  const blinded = ids.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && !hasMetadataAccessUnsubscribed(view, user, channel);
  });
  // Of the deactivated it was told when they were deactivated: clients count.
  const seen = ids.filter((id) => view.users.get(id)?.isActive === true);
  const peersGone = { op: "peer_remove", stream_ids: [channel.id], user_ids: seen };
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
    // Among them who leaves and still sees the channel: of the others, see realtime/channel-events.ts.
    ...(seen.length === 0 ? [] : [effects.emit("subscription", peersGone, watchers(channel, blinded))]),
    ...vanishingEffects(view, channel.id, blinded),
    ...ids.flatMap((id) => leaveRead(view, id, channel.id)),
  ];
}

function ascending(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
