/** Channels that new people join (public API: add-default-stream, remove-default-stream), and their joining them. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { hasContentAccess, hasMetadataAccess, isAdministrator, isGuest } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { watchers } from "./channel-events.ts";
import { newSubscription } from "./subscription-records.ts";

/** POST and DELETE /default_streams. What is so already changes nothing. */
export function setDefaultChannel(_context: unknown, asked: Command<"default-channels.set">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  const { channelId, isDefault } = asked.params;
  const channel = view.channels.get(channelId);
  const hasAccess = isDefault ? hasContentAccess : hasMetadataAccess;
  if (channel === undefined || channel.isArchived || !hasAccess(view, caller, channel))
    return refuse.invalidChannelId();
  if (isDefault && channel.isPrivate) return refuse.badRequest("Private channels cannot be made default.");
  if (channel.isDefault === isDefault) return done({}, []);
  const refused = isDefault ? checkRoomForDefault(view) : null;
  if (refused !== null) return refused;
  return done({}, [
    effects.put("channels", channel.id, { ...channel, isDefault }),
    effects.emit("default_streams", {}, { to: "realm" }),
  ]);
}

/**
 * Whoever is new joins them all in one turn, so they are few (S3).
 * @param others how many more the same command makes default
 */
export function checkRoomForDefault(view: View, others = 0): Refusal | null {
  const count = [...view.channels.all()].filter((channel) => channel.isDefault).length + others;
  return count >= limits.default_channels_max ? refuse.badRequest("Too many default channels") : null;
}

/** Guests join nothing by default. */
export function defaultChannelsFor(view: View, user: UserRecord): ChannelRecord[] {
  if (isGuest(user)) return [];
  return [...view.channels.all()].filter((channel) => channel.isDefault && !channel.isArchived);
}

/**
 * How somebody who is new joins channels: rows, which come with the account's, and events for others, which come when they
 * know the person. Nobody reads a queue of theirs yet.
 */
export function newcomerEffects(view: View, user: UserRecord, channels: readonly ChannelRecord[]) {
  const rows: Effect[] = channels.map((channel) =>
    effects.put("subscriptions", [channel.id, user.id], newSubscription(view, user.id, channel.id, null)),
  );
  const events: Effect[] = channels.map((channel) =>
    effects.emit(
      "subscription",
      { op: "peer_add", stream_ids: [channel.id], user_ids: [user.id] },
      watchers(channel, [user.id]),
    ),
  );
  return { rows, events };
}
