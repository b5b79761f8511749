/**
 * Archiving a channel and taking it back (spec 3, level 388; behaviour 2.4). An archived channel keeps its name, its people and
 * its messages. Clients that do not know of archived channels see it vanish and appear.
 */
import { refuse } from "../../schemas/errors.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { ascending } from "../../src/domain/group-values.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { administeredChannel } from "./channel-access.ts";
import { updateBody, watchers } from "./channel-events.ts";
import { archivingNotice, notices } from "./channel-notices.ts";
import { leaveChannel } from "./realm-settings.ts";

/** DELETE /streams/{stream_id}. */
export function archiveChannel(_context: unknown, asked: Command<"channel.archive">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const before = administeredChannel(view, caller, asked.params.channelId);
  if ("kind" in before) return before;
  if (before.isArchived) return refuse.badRequest("Channel is already deactivated");
  const after = { ...before, isArchived: true, isDefault: false };
  const everybody = watchers(after, []);
  const gone = { op: "delete", streams: [{ stream_id: after.id }], stream_ids: [after.id] };
  return done({}, [
    effects.put("channels", after.id, after),
    effects.emit("stream", updateBody(after, "is_archived", true), { ...everybody, archives: "shown" }),
    effects.emit("stream", gone, { ...everybody, archives: "hidden" }),
    ...(before.isDefault ? [effects.emit("default_streams", {}, { to: "realm" })] : []),
    ...leaveChannel(view, after.id),
    ...notices(view, after, [archivingNotice(after, true)]).map(effects.tell),
  ]);
}

/** For clients to which archived channels do not exist: the channel, that one is in it, and who else is. */
export function returningEffects(view: View, channel: ChannelRecord, except: readonly number[]): Effect[] {
  const subscriberIds = ascending(view.subscriptions.ofChannel(channel.id));
  const count = subscriberIds.length;
  const created = { op: "create", channel_ids: [channel.id], subscriber_count: 0 };
  const peers = { op: "peer_add", stream_ids: [channel.id], user_ids: subscriberIds };
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
