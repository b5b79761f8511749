/** Default channels, which new users are subscribed to (public API: add-default-stream, remove-default-stream). */

import { isGuest } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { watchers } from "../rules/channel-events.ts";
import type { ChannelContext } from "./channel-step.ts";
import { newSubscription } from "./subscription-records.ts";

export function setDefault(
  { row: channel }: ChannelContext,
  { params: { isDefault } }: Command<"default-channels.set">,
  view: View,
): Outcome<ChannelContext> {
  if (isDefault && channel.isPrivate) return refuse.badRequest("Private channels cannot be made default.");
  if (channel.isDefault === isDefault) return done({}, []);
  const refused = isDefault ? checkRoomForDefault(view) : null;
  if (refused !== null) return refused;
  const row = { ...channel, isDefault };
  return done({}, [effects.put("channels", channel.id, row), effects.emit("default_streams", {}, { to: "realm" })], {
    row,
  });
}

/**
 * A new user is subscribed to all default channels in one turn, so their number is bounded (S3).
 * @param others number of further default channels created by the same command
 */
export function checkRoomForDefault(view: View, others = 0): Refusal | null {
  const count = [...view.channels.all()].filter((channel) => channel.isDefault).length + others;
  return count >= limits.default_channels_max ? refuse.badRequest("Too many default channels") : null;
}

/** Guests get no default channels. */
export function defaultChannelsFor(view: View, user: UserRecord): ChannelRecord[] {
  if (isGuest(user)) return [];
  return [...view.channels.all()].filter((channel) => channel.isDefault && !channel.isArchived);
}

/**
 * Subscribes a new user to channels. Rows are written with the account's rows; the events follow the event that adds
 * the user. The new user has no event queue yet.
 */
export function newUserEffects(view: View, user: UserRecord, channels: readonly ChannelRecord[]) {
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
