/**
 * From a row of the event log to the objects that clients know (OpenAPI, /events). Rows refer to what they are about; what is
 * sent is built from the current rows, so that a replay shows what is there now (architecture, Event log).
 */
import type { EventRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { attachmentBody } from "../domain/attachments.ts";
import { flagsOf } from "../domain/message-flags.ts";
import { apiEmail, canAccessUser } from "../domain/people.ts";
import {
  canAccessAllUsers,
  canReadChannelMessage,
  canReadMessage,
  hasReceived,
  isGuest,
} from "../domain/permissions.ts";
import { legacyPresence, modernPresence } from "../domain/presence.ts";
import { profileFieldBodies } from "../domain/profiles.ts";
import { statusBody } from "../domain/status.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { defaultChannelIds } from "../queries/channels.ts";
import { customEmoji } from "../queries/emoji.ts";
import { hiddenOrigins } from "../queries/message-history.ts";
import { senderFor } from "../queries/message-views.ts";
import { messageBody } from "../queries/messages.ts";
import { playgroundBodies } from "../queries/playgrounds.ts";
import { hasExtraReaction } from "../queries/reactions.ts";
import { mutedTopics } from "../queries/user-topics.ts";
import { wasSubscribedAt } from "./audience.ts";
import { realmBot } from "./bot-events.ts";
import { stream, subscription } from "./channel-events.ts";
import { concealing } from "./concealed-events.ts";
import { type EventBody, type EventKind, extraTypeIn, plain, withShownType } from "./event-kind.ts";
import { messageFlags } from "./flag-events.ts";
import { linkifiers } from "./linkifier-events.ts";
import type { LiveQueue } from "./queue.ts";
import { realmUser } from "./realm-user-events.ts";
import { typing, typingEditMessage } from "./typing-events.ts";
import { reaction, submessage, updateMessage } from "./update-message-events.ts";
import { userGroup } from "./user-group-events.ts";

/**
 * A queue with `all_public_streams` gets messages that its owner does not receive: they have no flags (OpenAPI, message event). A
 * message that its owner received and that has moved out of sight since keeps its flags: without `read` it would count as unread.
 */
function eventFlags(view: View, record: EventRecord, user: UserRecord, row: MessageRecord): readonly string[] {
  const flags = flagsOf(view, user, row);
  const { audience, position } = record;
  if (!flags.includes("historical") || audience.to !== "channel" || audience.also.includes(user.id)) return flags;
  return wasSubscribedAt(view, user.id, audience.id, position) ? flags : [];
}

const message: EventKind = {
  key(view, record, user, queue) {
    const row = view.row("messages", record.body["message_id"] as number);
    if (row === undefined || !canReadMessage(view, user, row)) return null;
    const echo = record.body["queue_id"] === queue.id ? `:${queue.id}` : "";
    const stranger = Object.keys(senderFor(view, user, row.senderId)).length > 0 ? ":stranger" : "";
    const hidden = [...hiddenOrigins(view, user, row)].join(",");
    const extra = hasExtraReaction(view, row) ? queue.extraEmojiType : "";
    return `${queue.variant}:${eventFlags(view, record, user, row).join(",")}${stranger}${echo}:${hidden}:${extra}`;
  },
  build(view, record, user, queue) {
    const row = view.row("messages", record.body["message_id"] as number);
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
    const event = { type: "message", message: shown, flags: eventFlags(view, record, user, row) };
    const isEcho = record.body["queue_id"] === queue.id;
    return [isEcho ? { ...event, local_message_id: record.body["local_id"] } : event];
  },
};

interface Deleted {
  /** The person could read them now. */
  readonly gone: readonly number[];
  /** They received them, and have left the channel since: clients count them still. */
  readonly left: readonly number[];
}

/** Of a private channel, topics and ids that the person never had are not theirs to know (S1). */
function deletedIds(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue): Deleted {
  const ids = record.body["message_ids"] as readonly number[];
  const channel = view.channels.get(Number(record.body["stream_id"]));
  const isAddressed = record.audience.to === "channel" && record.audience.also.includes(user.id);
  if (channel === undefined || isAddressed || !channel.isPrivate) return { gone: ids, left: [] };
  const gone = ids.filter((id) => canReadChannelMessage(view, user, channel, id));
  // What was left is told as changes of flags, to who asked for such. Mostly there is nothing: who is told is there.
  const mayHaveLeft = gone.length < ids.length && queue.wantsType("update_message_flags");
  if (!mayHaveLeft || !wasSubscribedAt(view, user.id, channel.id, record.position)) return { gone, left: [] };
  const stays = view.subscriptions.get(user.id, channel.id)?.stays ?? [];
  const readable = new Set(gone);
  return { gone, left: ids.filter((id) => !readable.has(id) && hasReceived(stays, id)) };
}

function flagsChanged(op: "add" | "remove", flag: string, messageIds: readonly number[]): EventBody {
  return { type: "update_message_flags", op, operation: op, flag, messages: messageIds, all: false };
}

const deleteMessage: EventKind = {
  key(view, record, user, queue) {
    const { gone, left } = deletedIds(view, record, user, queue);
    return gone.length + left.length === 0 ? null : `${queue.variant}:${gone.join(",")};${left.join(",")}`;
  },
  build(view, record, user, queue) {
    const { message_ids: _all, ...rest } = record.body;
    const { gone, left } = deletedIds(view, record, user, queue);
    // Not where they were: that place is not known to them any more.
    const others =
      left.length === 0 ? [] : [flagsChanged("add", "read", left), flagsChanged("remove", "starred", left)];
    if (gone.length === 0) return others;
    const [whole] = plain.build(view, { ...record, body: rest }, user, queue);
    if (queue.can("bulk_message_deletion")) return [{ ...whole, message_ids: gone }, ...others];
    return [...gone.map((id) => ({ ...whole, message_id: id })), ...others];
  },
};

/** The whole list, as it is now. */
const profileFields: EventKind = {
  key: () => "",
  build: (view) => [{ type: "custom_profile_fields", fields: profileFieldBodies(view) }],
};

const defaultStreams: EventKind = {
  // Guests join no channels by default; they are told so when they become guests.
  key: (_view, record, user) => (isGuest(user) ? (record.audience.to === "users" ? "guest" : null) : ""),
  build: (view, _record, user) => [
    { type: "default_streams", default_streams: isGuest(user) ? [] : defaultChannelIds(view) },
  ],
};

/** Of the newly online, those whom the viewer may know of, where the server limits it (spec 4.7). */
function onlineIds(view: View, record: EventRecord, viewer: UserRecord): readonly number[] {
  const ids = record.body["user_ids"] as readonly number[];
  if (record.body["is_limited"] !== true) return ids;
  return ids.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && canAccessUser(view, viewer, user);
  });
}

/** Newly online people: one event for all in the modern form, one each in the legacy form (hub.ts numbers them). */
const presence: EventKind = {
  key(view, record, user, queue) {
    if ((record.body["form"] === "modern") !== queue.can("simplified_presence_events")) return null;
    // Nearly everybody is told of all of them: no text of so many ids for each.
    if (record.body["is_limited"] !== true || canAccessAllUsers(view, user)) return queue.variant;
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
          type: "presence",
          user_id: id,
          ...(queue.options.slimPresence ? {} : { email: apiEmail(user) }),
          server_timestamp: record.at / 1000,
          presence: { website: { ...legacyPresence(row), pushable: false } },
        },
      ];
    });
  },
};

/** Told to whoever may know the person (behaviour 2.12); with `user_ids`, to a guest who knows them from now on. */
const userStatus: EventKind = {
  key(view, record, viewer, queue) {
    if ("user_ids" in record.body) return `${viewer.id}:${queue.extraEmojiType}`;
    const person = view.users.get(record.body["user_id"] as number);
    return person !== undefined && canAccessUser(view, viewer, person) ? extraTypeIn(record, queue) : null;
  },
  build(view, record, viewer, queue) {
    if (!("user_ids" in record.body)) return [{ type: "user_status", ...withShownType(record, queue) }];
    return (record.body["user_ids"] as readonly number[])
      .flatMap((id) => view.users.get(id) ?? [])
      .filter((person) => canAccessUser(view, viewer, person))
      .map((person) => ({
        user_id: person.id,
        ...statusBody(person, view.row("statuses", person.id), queue.extraEmojiType),
      }))
      .filter((status) => Object.keys(status).length > 1)
      .map((status) => ({ type: "user_status", ...status }));
  },
};

/** A list of all, as it is now. */
const realmEmoji: EventKind = {
  key: () => "",
  build: (view) => [{ type: "realm_emoji", op: "update", realm_emoji: customEmoji(view) }],
};

/** A file as its owner sees it now; what is told of one that is gone by now follows. */
const attachment: EventKind = {
  key: (_view, _record, user) => String(user.id),
  build(view, record, user, queue) {
    const { attachment_id: id, ...rest } = record.body;
    if (id === undefined) return plain.build(view, record, user, queue);
    const row = view.row("attachments", id as number);
    return row === undefined ? [] : [{ type: "attachment", ...rest, attachment: attachmentBody(view, user, row) }];
  },
};

/** A list of all, as it is now. */
const playgrounds: EventKind = {
  key: () => "",
  build: (view) => [{ type: "realm_playgrounds", realm_playgrounds: playgroundBodies(view) }],
};

/** Topics without a name have one for clients that do not know that. */
const userTopic: EventKind = {
  key: (_view, record, _user, queue) => (record.body["topic_name"] === "" ? queue.variant : ""),
  build(view, record, _user, queue) {
    const topic = String(record.body["topic_name"]);
    return [{ type: "user_topic", ...record.body, topic_name: shownTopic(view, topic, queue.can("empty_topic_name")) }];
  },
};

/** A person's list, as it is now. */
const mutedTopicsKind: EventKind = {
  key: (_view, _record, user, queue) => `${user.id}:${queue.variant}`,
  build: (view, _record, user, queue) => [
    { type: "muted_topics", muted_topics: mutedTopics(view, user, queue.can("empty_topic_name")) },
  ],
};

const kinds: Readonly<Record<string, EventKind>> = {
  attachment,
  message,
  delete_message: deleteMessage,
  update_message: updateMessage,
  reaction,
  submessage,
  stream,
  subscription,
  realm_user: realmUser,
  realm_emoji: realmEmoji,
  realm_bot: realmBot,
  realm_linkifiers: linkifiers,
  realm_playgrounds: playgrounds,
  default_streams: defaultStreams,
  custom_profile_fields: profileFields,
  presence,
  update_message_flags: messageFlags,
  user_status: userStatus,
  user_topic: userTopic,
  muted_topics: mutedTopicsKind,
  user_group: userGroup,
  typing,
  typing_edit_message: typingEditMessage,
};

const concealed = new Map(Object.entries(kinds).map(([type, kind]) => [type, concealing(kind)] as const));
const concealedPlain = concealing(plain);

export function eventKind(type: string): EventKind {
  return concealed.get(type) ?? concealedPlain;
}
