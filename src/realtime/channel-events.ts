/**
 * `stream` and `subscription` events (OpenAPI, /events; behaviour 2.3, 2.4). New channels and subscriptions are built from the
 * current rows. To clients without the capability `archived_channels` an archived channel does not exist (behaviour 4.3): what
 * they are told of it is that it has gone, and all of it when it comes back.
 */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { lookUp } from "../domain/look-up.ts";
import { hasMetadataAccess } from "../domain/permissions.ts";
import type { View } from "../domain/view.ts";
import { channelBody, subscriptionBody } from "../queries/channels.ts";
import { type EventKind, plain } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

/** Of these channels, those that exist for the client. */
function existing(view: View, ids: readonly number[], queue: LiveQueue): readonly number[] {
  if (queue.can("archived_channels")) return ids;
  return ids.filter((id) => view.channels.get(id)?.isArchived !== true);
}

/** How many subscribers there were when the event happened; the peer events that follow go on from there. */
function countThen(record: EventRecord): { subscriber_count?: unknown } {
  const { subscriber_count: count } = record.body;
  return count === undefined ? {} : { subscriber_count: count };
}

function visibleChannels(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue) {
  const ids = existing(view, record.body["channel_ids"] as readonly number[], queue);
  return ids.flatMap((id) => view.channels.get(id) ?? []).filter((channel) => hasMetadataAccess(view, user, channel));
}

const created: EventKind = {
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
};

const updated: EventKind = {
  key: (view, record, user, queue) =>
    existing(view, [record.body["stream_id"] as number], queue).length === 0
      ? null
      : plain.key(view, record, user, queue),
  build: plain.build,
};

const streamOperations: Readonly<Record<string, EventKind>> = { create: created, update: updated };

const added: EventKind = {
  key: (_view, _record, user, queue) => `${user.id}:${queue.id}`,
  build(view, record, user, queue) {
    const ids = existing(view, record.body["channel_ids"] as readonly number[], queue);
    const subscriptions = ids.flatMap((id) => {
      const own = view.subscriptions.get(user.id, id);
      const channel = view.channels.get(id);
      // Left again meanwhile: it is shown only to who may still know the channel (S1).
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

const removed: EventKind = {
  key: (view, record, _user, queue) => existing(view, ownIds(record), queue).join(",") || null,
  build(view, record, _user, queue) {
    const ids = existing(view, ownIds(record), queue);
    const subscriptions = ownChannels(record).filter(({ stream_id: id }) => ids.includes(id));
    return [{ type: record.type, ...record.body, subscriptions }];
  },
};

function ownChannels(record: EventRecord) {
  return record.body["subscriptions"] as readonly { readonly stream_id: number }[];
}

function ownIds(record: EventRecord): number[] {
  return ownChannels(record).map(({ stream_id: id }) => id);
}

/** Who leaves together with others is told of the others: of themselves they know already. */
const peers: EventKind = {
  key(view, record, user, queue) {
    const ids = peerChannels(view, record, user, queue);
    if (ids.length === 0) return null;
    const all = record.body["user_ids"] as readonly number[];
    if (!all.includes(user.id)) return ids.join(",");
    return all.length === 1 ? null : `${ids.join(",")}:${user.id}`;
  },
  build(view, record, user, queue) {
    const userIds = (record.body["user_ids"] as readonly number[]).filter((id) => id !== user.id);
    const ids = peerChannels(view, record, user, queue);
    return userIds.length === 0 ? [] : [{ type: record.type, ...record.body, stream_ids: ids, user_ids: userIds }];
  },
};

/** People who were told by name came to know of the channels just then; what they may not know any more is not repeated (S1). */
function peerChannels(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue): readonly number[] {
  const ids = existing(view, record.body["stream_ids"] as readonly number[], queue);
  if (record.audience.to !== "users") return ids;
  return ids.filter((id) => {
    const channel = view.channels.get(id);
    return channel !== undefined && hasMetadataAccess(view, user, channel);
  });
}

const subscriptionOperations: Readonly<Record<string, EventKind>> = {
  add: added,
  remove: removed,
  peer_add: peers,
  peer_remove: peers,
};

/** The kind of an event by its `op`; what is not in the table is complete as it stands. */
function byOperation(kinds: Readonly<Record<string, EventKind>>): EventKind {
  const kindOf = (record: EventRecord) => lookUp(kinds, String(record.body["op"])) ?? plain;
  return {
    key: (view, record, user, queue) => kindOf(record).key(view, record, user, queue),
    build: (view, record, user, queue) => kindOf(record).build(view, record, user, queue),
  };
}

export const stream = byOperation(streamOperations);
export const subscription = byOperation(subscriptionOperations);
