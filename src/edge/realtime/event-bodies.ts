/**
 * Turns rows of the event log into the objects that clients know (OpenAPI, /events). Log rows hold references; events
 * are built from the current rows, so a replay shows the current state.
 */

import { attachmentBody } from "../../../domain/attachments.ts";
import { flagsOf } from "../../../domain/message-flags.ts";
import { apiEmail, canAccessUser } from "../../../domain/people.ts";
import {
  canAccessAllUsers,
  canReadChannelMessage,
  canReadMessage,
  hasReceived,
  isGuest,
} from "../../../domain/permissions.ts";
import { legacyPresence, modernPresence } from "../../../domain/presence.ts";
import { profileFieldBodies } from "../../../domain/profiles.ts";
import { statusBody } from "../../../domain/status.ts";
import { shownTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import { type AreaEventType, areaEventTypes, type EventType, type WireEvent } from "../../../schemas/events.ts";
import type { ChangeableFlag, MessageFlag } from "../../../schemas/message-flags.ts";
import type { MessageRecord } from "../../../schemas/messages.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { playgroundBodies } from "../../operations/routes/playgrounds.ts";
import { defaultChannelIds } from "../../queries/channels.ts";
import { customEmoji } from "../../queries/emoji.ts";
import { linkifierBodies } from "../../queries/linkifiers.ts";
import { hiddenOrigins } from "../../queries/message-history.ts";
import { isSenderShown, senderFor } from "../../queries/message-views.ts";
import { hasExtraReaction, messageBody } from "../../queries/messages.ts";
import { mutedTopics } from "../../queries/user-topics.ts";
import { wasSubscribedAt } from "./audience.ts";
import { stream, subscription } from "./channel-events.ts";
import { messageFlags, realmBot, typing, typingEditMessage, userGroup } from "./event-builders.ts";
import { type EventKind, extraTypeIn, plain, withShownType } from "./event-kind.ts";
import { realmUser } from "./realm-user-events.ts";
import type { RecipientQueue } from "./recipient-queue.ts";
import { reaction, submessage, updateMessage } from "./update-message-events.ts";

/**
 * A queue with `all_public_streams` also gets messages that its owner did not receive; those have no flags (OpenAPI,
 * message event). A message that its owner received and that was moved out of their view since keeps its flags: without
 * `read` it would count as unread.
 */
function eventFlags(
  view: View,
  record: EventRecord<"message">,
  user: UserRecord,
  row: MessageRecord,
): readonly MessageFlag[] {
  const flags = flagsOf(view, user, row);
  const { audience, position } = record;
  if (!flags.includes("historical") || audience.to !== "channel" || audience.also.includes(user.id)) return flags;
  return wasSubscribedAt(view, user.id, audience.id, position) ? flags : [];
}

const message: EventKind<"message"> = {
  key(view, record, user, queue) {
    const row = view.row("messages", record.body.message_id);
    if (row === undefined || !canReadMessage(view, user, row)) return null;
    const flags = eventFlags(view, record, user, row);
    const echo = record.body.queue_id === queue.id ? `:${queue.id}` : "";
    const senderForm = isSenderShown(view, user, row.senderId) ? "" : ":no sender";
    const hidden = hiddenOrigins(view, user, row);
    const extra = hasExtraReaction(view, row) ? queue.extraEmojiType : "";
    // Nearly all readers of a new message: no key is built for them.
    const isUsual = flags.length === 0 && echo === "" && senderForm === "" && hidden.size === 0 && extra === "";
    if (isUsual) return queue.variant;
    return `${queue.variant}:${flags.join(",")}${senderForm}${echo}:${[...hidden].join(",")}:${extra}`;
  },
  build(view, record, user, queue) {
    const row = view.row("messages", record.body.message_id);
    if (row === undefined) return [];
    const options = {
      applyMarkdown: queue.options.applyMarkdown,
      clientGravatar: queue.options.clientGravatar,
      allowEmptyTopicName: queue.can("empty_topic_name"),
      extraEmojiType: queue.extraEmojiType,
    };
    const body = messageBody(view, row, options, hiddenOrigins(view, user, row));
    if (body === undefined) return [];
    const shown = { ...body, ...senderFor(view, user, row.senderId) };
    const event = { type: "message", message: shown, flags: eventFlags(view, record, user, row) } as const;
    const { queue_id: senderQueue, local_id: localId } = record.body;
    return [localId !== undefined && senderQueue === queue.id ? { ...event, local_message_id: localId } : event];
  },
};

interface Deleted {
  /** Deleted messages that the user could read until now. */
  readonly gone: readonly number[];
  /** Messages that the user could read before leaving the channel; clients still count them. */
  readonly left: readonly number[];
}

/** In a private channel, topics and ids of messages that the user never had are hidden (S1). */
function deletedIds(
  view: View,
  record: EventRecord<"delete_message">,
  user: UserRecord,
  queue: RecipientQueue,
): Deleted {
  const { body } = record;
  const ids = body.message_ids;
  const channel = body.message_type === "stream" ? view.channels.get(body.stream_id) : undefined;
  const isAddressed = record.audience.to === "channel" && record.audience.also.includes(user.id);
  if (channel === undefined || isAddressed || !channel.isPrivate) return { gone: ids, left: [] };
  const gone = ids.filter((id) => canReadChannelMessage(view, user, channel, id));
  // Messages that the user had before leaving are reported as flag changes to queues that want those. Usually there are
  // none, because the readers are subscribed.
  const mayHaveLeft = gone.length < ids.length && queue.wantsType("update_message_flags");
  if (!mayHaveLeft || !wasSubscribedAt(view, user.id, channel.id, record.position)) return { gone, left: [] };
  const periods = view.subscriptions.get(user.id, channel.id)?.periods ?? [];
  const readable = new Set(gone);
  // With shared history, older messages as well: one that moved here may be unread.
  const hadBefore = (id: number) => channel.isHistoryPublic || hasReceived(periods, id);
  return { gone, left: ids.filter((id) => !readable.has(id) && hadBefore(id)) };
}

function flagsChanged(op: "add" | "remove", flag: ChangeableFlag, messageIds: readonly number[]): WireEvent {
  return { type: "update_message_flags", op, operation: op, flag, messages: messageIds, all: false };
}

const deleteMessage: EventKind<"delete_message"> = {
  key(view, record, user, queue) {
    const { gone, left } = deletedIds(view, record, user, queue);
    return gone.length + left.length === 0 ? null : `${queue.variant}:${gone.join(",")};${left.join(",")}`;
  },
  build(view, record, user, queue) {
    const { gone, left } = deletedIds(view, record, user, queue);
    // Without a location: the user may no longer know it.
    const others =
      left.length === 0 ? [] : [flagsChanged("add", "read", left), flagsChanged("remove", "starred", left)];
    if (gone.length === 0) return others;
    const { body } = record;
    const whole =
      body.message_type === "private"
        ? ({ type: "delete_message", message_type: "private" } as const)
        : ({
            type: "delete_message",
            message_type: "stream",
            stream_id: body.stream_id,
            topic: shownTopic(view, body.topic, queue.can("empty_topic_name")),
          } as const);
    if (queue.can("bulk_message_deletion")) return [{ ...whole, message_ids: gone }, ...others];
    return [...gone.map((id) => ({ ...whole, message_id: id })), ...others];
  },
};

/** The whole list, as it is now. */
const profileFields: EventKind<"custom_profile_fields"> = {
  key: () => "",
  build: (view) => [{ type: "custom_profile_fields", fields: profileFieldBodies(view) }],
};

const defaultStreams: EventKind<"default_streams"> = {
  // Guests have no default channels. They get an empty list when they become guests.
  key: (_view, record, user) => (isGuest(user) ? (record.audience.to === "users" ? "guest" : null) : ""),
  build: (view, _record, user) => [
    { type: "default_streams", default_streams: isGuest(user) ? [] : defaultChannelIds(view) },
  ],
};

/** The newly online users that the viewer may know, if the server limits presence (spec 4.7). */
function onlineIds(view: View, { body }: EventRecord<"presence">, viewer: UserRecord): readonly number[] {
  if (body.is_limited !== true) return body.user_ids;
  return body.user_ids.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && canAccessUser(view, viewer, user);
  });
}

/**
 * Newly online users: one event for all of them in the modern form, one event each in the legacy form (hub.ts numbers
 * them).
 */
const presence: EventKind<"presence"> = {
  key(view, record, user, queue) {
    if ((record.body.form === "modern") !== queue.can("simplified_presence_events")) return null;
    // Most viewers see all of them, and then a long list of ids is not needed as the key.
    if (record.body.is_limited !== true || canAccessAllUsers(view, user)) return queue.variant;
    const ids = onlineIds(view, record, user);
    return ids.length === 0 ? null : `${queue.variant}:${ids.join(",")}`;
  },
  build(view, record, viewer, queue) {
    const ids = onlineIds(view, record, viewer);
    if (queue.can("simplified_presence_events")) {
      const presences = Object.fromEntries(
        ids.flatMap((id) => {
          const row = view.presence(id);
          const user = view.users.get(id);
          return row === undefined || user === undefined ? [] : [[String(id), modernPresence(row, user.joinedAt)]];
        }),
      );
      return [{ type: "presence", presences }];
    }
    return ids.flatMap((id) => {
      const row = view.presence(id);
      const user = view.users.get(id);
      if (row === undefined || user === undefined) return [];
      return [
        {
          type: "presence" as const,
          user_id: id,
          ...(queue.options.slimPresence ? {} : { email: apiEmail(user) }),
          server_timestamp: record.at / 1000,
          presence: { website: { ...legacyPresence(row), pushable: false } },
        },
      ];
    });
  },
};

/**
 * Sent to everyone who may know the user (behaviour 2.12). With `user_ids`, sent to a guest who can see these users
 * from now on.
 */
const userStatus: EventKind<"user_status"> = {
  key(view, { body }, viewer, queue) {
    if ("user_ids" in body) return `${viewer.id}:${queue.extraEmojiType}`;
    const person = view.users.get(body.user_id);
    return person !== undefined && canAccessUser(view, viewer, person) ? extraTypeIn(body, queue) : null;
  },
  build(view, { body }, viewer, queue) {
    if (!("user_ids" in body)) return [{ type: "user_status", ...withShownType(body, queue) }];
    return body.user_ids
      .flatMap((id) => view.users.get(id) ?? [])
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => ({
        user_id: person.id,
        ...statusBody(person, view.row("statuses", person.id), queue.extraEmojiType),
      }))
      .filter((status) => Object.keys(status).length > 1)
      .map((status) => ({ type: "user_status", ...status }) as const);
  },
};

/** The whole list, as it is now. */
const realmEmoji: EventKind<"realm_emoji"> = {
  key: () => "",
  build: (view) => [{ type: "realm_emoji", op: "update", realm_emoji: customEmoji(view) }],
};

/** A file as its owner sees it now. If it is gone by now, a later event says so. */
const attachment: EventKind<"attachment"> = {
  key: (_view, _record, user) => String(user.id),
  build(view, { body }, user) {
    if (body.op === "remove") return [{ type: "attachment", ...body }];
    const { attachment_id: id, ...rest } = body;
    const row = view.row("attachments", id);
    return row === undefined ? [] : [{ type: "attachment", ...rest, attachment: attachmentBody(view, user, row) }];
  },
};

/** The whole list, as it is now, for clients that can expand URL templates. */
const linkifiers: EventKind<"realm_linkifiers"> = {
  key: (_view, _record, _user, queue) => (queue.can("linkifier_url_template") ? "" : null),
  build: (view) => [{ type: "realm_linkifiers", realm_linkifiers: linkifierBodies(view) }],
};

/** The whole list, as it is now. */
const playgrounds: EventKind<"realm_playgrounds"> = {
  key: () => "",
  build: (view) => [{ type: "realm_playgrounds", realm_playgrounds: playgroundBodies(view) }],
};

/** For clients without the capability `empty_topic_name`, a topic without a name gets its display name. */
const userTopic: EventKind<"user_topic"> = {
  key: (_view, { body }, _user, queue) => (body.topic_name === "" ? queue.variant : ""),
  build(view, { body }, _user, queue) {
    const name = shownTopic(view, body.topic_name, queue.can("empty_topic_name"));
    return [{ type: "user_topic", ...body, topic_name: name }];
  },
};

/** The user's list, as it is now. */
const mutedTopicsKind: EventKind<"muted_topics"> = {
  key: (_view, _record, user, queue) => `${user.id}:${queue.variant}`,
  build: (view, _record, user, queue) => [
    { type: "muted_topics", muted_topics: mutedTopics(view, user, queue.can("empty_topic_name")) },
  ],
};

const areaKinds = Object.fromEntries(areaEventTypes.map((type) => [type, plain])) as Readonly<
  Record<AreaEventType, typeof plain>
>;

const kinds: { readonly [T in EventType]: EventKind<T> } = {
  ...areaKinds,
  attachment,
  custom_profile_fields: profileFields,
  default_streams: defaultStreams,
  delete_message: deleteMessage,
  message,
  muted_topics: mutedTopicsKind,
  presence,
  reaction,
  realm_bot: realmBot,
  realm_emoji: realmEmoji,
  realm_linkifiers: linkifiers,
  realm_playgrounds: playgrounds,
  realm_user: realmUser,
  stream,
  submessage,
  subscription,
  typing,
  typing_edit_message: typingEditMessage,
  update_message: updateMessage,
  update_message_flags: messageFlags,
  user_group: userGroup,
  user_status: userStatus,
  user_topic: userTopic,
};

/** The kind of a row's type, which takes rows of this type. */
export function eventKind<T extends EventType>(type: T): EventKind<T> {
  return kinds[type];
}
