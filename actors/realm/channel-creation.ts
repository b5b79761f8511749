/**
 * New channels (spec 4.3): rows and events, in slices if one request creates many, and how many a person may create.
 * Until the last channel is stored, only commands run that `mayRunBetween` lets through, so no other request takes a name.
 */

import { personOf } from "../../domain/bots.ts";
import { hasMetadataAccess, isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { NewChannel } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, type Effect, effects, type MembershipChange } from "../protocol/decision.ts";
import { watchers } from "../rules/channel-events.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** How many channels the caller may create now. A person's bots count as that person; administrators are not limited. */
export function channelsLeftToday(view: View, caller: UserRecord): number {
  const person = personOf(view, caller);
  if (isAdministrator(caller) || isAdministrator(person)) return Number.POSITIVE_INFINITY;
  const since = view.now - dayMs;
  let left: number = limits.channels_created_per_person_per_day_max;
  for (const id of [person.id, ...view.bots.ofOwner(person.id)]) left -= view.channels.createdSince(id, since);
  return left;
}

/**
 * @param left of `channelsLeftToday`, when the command began
 * @param offset number of channels that the same command creates before this one
 */
export function checkChannelsLeft(view: View, left: number, offset: number): Refusal | null {
  if (view.channels.size + offset >= limits.channels_per_realm_max) return refuse.badRequest("Too many channels");
  const perDay = limits.channels_created_per_person_per_day_max;
  if (offset >= left) return refuse.badRequest(`You can create at most ${perDay} channels within 24 hours.`);
  const max = limits.channels_created_per_request_max;
  return offset < max ? null : refuse.badRequest(`You can create at most ${max} channels in one request.`);
}

/** Whether the subscription is the only reason why the user can see the channel. */
export function seesOnlyBySubscription(view: View, userId: UserId, channel: NewChannel["channel"]): boolean {
  const user = view.users.get(userId);
  return user !== undefined && !hasMetadataAccess(view, user, channel);
}

/** Takes the ids of all channels that a command creates, before others can run. */
export function takenIds(creations: readonly NewChannel[]): Effect[] {
  const last = creations.at(-1)?.channel;
  const lastGroup = creations.findLast(({ groups }) => groups.length > 0)?.groups.at(-1);
  return [
    ...(last === undefined ? [] : [effects.setCounter("channel", last.id)]),
    ...(last === undefined ? [] : [effects.setCounter("recipient", last.recipientId)]),
    ...(lastGroup === undefined ? [] : [effects.setCounter("group", lastGroup.id)]),
  ];
}

/** @param joining users subscribed by the same command; they receive a private channel with their subscription */
export function newChannelEffects(view: View, creation: NewChannel, joining: readonly number[]): Effect[] {
  const { channel, groups } = creation;
  const except = joining.filter((id) => seesOnlyBySubscription(view, id, channel));
  const all: Effect[] = [
    ...groups.map((group) => effects.put("groups", group.id, group)),
    effects.put("channels", channel.id, channel),
    effects.emit("stream", { op: "create", channel_ids: [channel.id], subscriber_count: 0 }, watchers(channel, except)),
  ];
  if (channel.isDefault) all.push(effects.emit("default_streams", {}, { to: "realm" }));
  return all;
}

/**
 * Creates as many channels as one command may, then continues; after the last one, the members follow. By then the
 * channels' groups are stored and determine who may see them.
 */
export function creationSlice(
  view: View,
  creations: readonly NewChannel[],
  members: Omit<MembershipChange, "creations">,
): Effect[] {
  const now = creations.slice(0, limits.channels_created_per_command_max);
  const left = creations.slice(limits.channels_created_per_command_max);
  const next = (params: MembershipChange) => command({ actor: "realm" }, "members.change", params, null);
  return [
    ...now.flatMap((creation) => newChannelEffects(view, creation, [])),
    left.length === 0 ? effects.send(next(members)) : effects.continueNextTurn(next({ ...members, creations: left })),
  ];
}
