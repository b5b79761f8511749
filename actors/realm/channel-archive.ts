/**
 * Archiving and unarchiving a channel (spec 3, level 388; behaviour 2.4). An archived channel keeps its name,
 * subscribers and messages. Clients without support for archived channels receive its deletion and creation instead.
 */

import { ascending } from "../../domain/group-values.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Command, done, type Effect, effects, type Outcome } from "../protocol/decision.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";
import { archivingNotice, notices } from "./channel-notices.ts";
import type { ChannelContext } from "./channel-step.ts";
import { leaveChannel } from "./realm-settings.ts";

export function archiveOpenChannel(
  { row: before }: ChannelContext,
  _asked: Command<"channel.archive">,
  view: View,
): Outcome<ChannelContext> {
  const after = { ...before, isArchived: true, isDefault: false };
  const everybody = watchers(after, []);
  const gone = { op: "delete" as const, streams: [{ stream_id: after.id }], stream_ids: [after.id] };
  const all = [
    effects.put("channels", after.id, after),
    effects.emit("stream", updateBody(after, "is_archived", true), { ...everybody, archives: "shown" }),
    effects.emit("stream", gone, { ...everybody, archives: "hidden" }),
    ...(before.isDefault ? [effects.emit("default_streams", {}, { to: "realm" })] : []),
    ...leaveChannel(view, after.id),
    ...notices(view, after, [archivingNotice(after, true)]).map(effects.send),
  ];
  return done({}, all, { row: after }, "archived");
}

/**
 * Events for clients without support for archived channels: the channel, the reader's own subscription, and the other
 * subscribers.
 */
export function returningEffects(view: View, channel: ChannelRecord, except: readonly number[]): Effect[] {
  const subscriberIds = ascending(view.subscriptions.ofChannel(channel.id));
  const count = subscriberIds.length;
  const created = { op: "create" as const, channel_ids: [channel.id], subscriber_count: 0 };
  const peers = { op: "peer_add" as const, stream_ids: [channel.id], user_ids: subscriberIds };
  const others = watchers(channel, [...except, ...subscriberIds]);
  return [
    effects.emit("stream", created, { ...watchers(channel, except), archives: "hidden" }),
    ...(count === 0
      ? []
      : [
          effects.emit(
            "subscription",
            { op: "add", channel_ids: [channel.id], subscriber_count: count },
            { to: "users", ids: subscriberIds, archives: "hidden" },
          ),
          effects.emit("subscription", peers, { ...others, archives: "hidden" }),
        ]),
  ];
}
