/**
 * `stream` and `subscription` events (OpenAPI, /events; behaviour 2.3, 2.4). New channels and subscriptions are built
 * from the current rows. For clients without the capability `archived_channels` an archived channel does not exist
 * (behaviour 4.3): they see it deleted when it is archived, and created again when it is unarchived.
 */

import { hasMetadataAccess } from "../../../domain/permissions.ts";
import type { View } from "../../../domain/view.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { channelBody, subscriptionBody } from "../../queries/channels.ts";
import { byOp, type EventKind, type KindOf, plain, type RecordOf } from "./event-kind.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

/** The channels that exist for the client. */
function existing(view: View, ids: readonly number[], queue: RecipientQueue): readonly number[] {
  if (queue.can("archived_channels")) return ids;
  return ids.filter((id) => view.channels.get(id)?.isArchived !== true);
}

type Arrival = RecordOf<"stream", "create"> | RecordOf<"subscription", "add">;
type PeerChange = RecordOf<"subscription", "peer_add" | "peer_remove">;

/** Number of subscribers when the event happened; the peer events that follow continue from it. */
function countThen({ body: { subscriber_count: count } }: Arrival) {
  return count === undefined ? {} : { subscriber_count: count };
}

function visibleChannels(view: View, record: Arrival, user: UserRecord, queue: RecipientQueue) {
  const ids = existing(view, record.body.channel_ids, queue);
  return ids.flatMap((id) => view.channels.get(id) ?? []).filter((channel) => hasMetadataAccess(view, user, channel));
}

export const stream: EventKind<"stream"> = byOp<"stream">({
  create: {
    key: (view, record, user, queue) =>
      visibleChannels(view, record, user, queue)
        .map((channel) => channel.id)
        .join(","),
    build(view, record, user, queue) {
      const streams = visibleChannels(view, record, user, queue).map((channel) => ({
        ...channelBody(view, channel),
        ...countThen(record),
      }));
      return streams.length === 0 ? [] : [{ type: "stream", op: "create", streams }];
    },
  },
  update: {
    key: (view, record, _user, queue) => (existing(view, [record.body.stream_id], queue).length === 0 ? null : ""),
    build: plain.build,
  },
  delete: plain,
});

type SubscriptionKinds = Parameters<typeof byOp<"subscription">>[0];

const added: SubscriptionKinds["add"] = {
  key: (_view, _record, user, queue) => {
    const shown = [queue.can("archived_channels"), queue.can("notification_settings_null")];
    return [user.id, ...shown, queue.options.includeSubscribers].join(":");
  },
  build(view, record, user, queue) {
    const ids = existing(view, record.body.channel_ids, queue);
    const subscriptions = ids.flatMap((id) => {
      const own = view.subscriptions.get(user.id, id);
      const channel = view.channels.get(id);
      // The user may have left again meanwhile: show the channel only if they may still know it (S1).
      if (own === undefined || channel === undefined || !hasMetadataAccess(view, user, channel)) return [];
      const body = subscriptionBody(view, own, channel, {
        subscriberLists: queue.options.includeSubscribers ? "true" : "false",
        allowsNullNotifications: queue.can("notification_settings_null"),
      });
      return [{ ...body, ...countThen(record) }];
    });
    return subscriptions.length === 0 ? [] : [{ type: "subscription", op: "add", subscriptions }];
  },
};

const removed: SubscriptionKinds["remove"] = {
  key: (view, record, _user, queue) => existing(view, ownIds(record), queue).join(",") || null,
  build(view, record, _user, queue) {
    const ids = existing(view, ownIds(record), queue);
    const subscriptions = record.body.subscriptions.filter(({ stream_id: id }) => ids.includes(id));
    return [{ type: "subscription", ...record.body, subscriptions }];
  },
};

function ownIds({ body }: RecordOf<"subscription", "remove">): number[] {
  return body.subscriptions.map(({ stream_id: id }) => id);
}

/** A user who leaves together with others gets only the others here; their own removal is a separate event. */
const peers: KindOf<PeerChange> = {
  key(view, record, user, queue) {
    const ids = peerChannels(view, record, user, queue);
    if (ids.length === 0) return null;
    const all = record.body.user_ids;
    if (!all.includes(user.id)) return ids.join(",");
    return all.length === 1 ? null : `${ids.join(",")}:${user.id}`;
  },
  build(view, record, user, queue) {
    const userIds = record.body.user_ids.filter((id) => id !== user.id);
    const ids = peerChannels(view, record, user, queue);
    return userIds.length === 0 ? [] : [{ type: "subscription", ...record.body, stream_ids: ids, user_ids: userIds }];
  },
};

/**
 * Users addressed by id learned of the channels with this event. Channels that they may no longer know are left out
 * (S1).
 */
function peerChannels(view: View, record: PeerChange, user: UserRecord, queue: RecipientQueue): readonly number[] {
  const ids = existing(view, record.body.stream_ids, queue);
  if (record.audience.to !== "users") return ids;
  return ids.filter((id) => {
    const channel = view.channels.get(id);
    return channel !== undefined && hasMetadataAccess(view, user, channel);
  });
}

export const subscription: EventKind<"subscription"> = byOp<"subscription">({
  add: added,
  remove: removed,
  update: plain,
  peer_add: peers,
  peer_remove: peers,
});
