/**
 * `realm_bot` events. The log stores only the bot and the field; values are read from the current rows, for users who
 * may administer the bot now. So no token is in the log (S2), and a replay shows nothing to a former owner (E2, S1).
 *
 * Events about flags (behaviour 4.4). Messages marked as unread are sent with their location, because the client may
 * not have them.
 *
 * Typing events (OpenAPI, typing and typing_edit_message). They may wait for an absent reader (queue.ts), so they are
 * built at delivery, when an address may be hidden or a channel left (S1). Clients without the capability
 * `empty_topic_name` get the display name of a topic without a name.
 *
 * The `user_group` event for each kind of client (public API; behaviour 4.3). Without the capability
 * `include_deactivated_groups` a deactivation is sent as a removal, a reactivation as an addition, and changes of
 * deactivated groups are not sent. A new group is built from its current row; later changes follow as separate events.
 */
import { canAdministerBot } from "../../../domain/bots.ts";
import { namedGroup } from "../../../domain/group-permissions.ts";
import { isMentioned } from "../../../domain/message-flags.ts";
import { apiEmail } from "../../../domain/people.ts";
import { canReadMessage, hasContentAccess } from "../../../domain/permissions.ts";
import { shownTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import type { BotField } from "../../../schemas/bots.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { botBody } from "../../queries/bots.ts";
import { groupBody } from "../../queries/user-groups.ts";
import type { EventKind } from "./event-kind.ts";

const capability = "include_deactivated_groups";

export const userGroup: EventKind<"user_group"> = {
  key(_view, record, _user, queue) {
    const knowsAll = queue.can(capability);
    if (record.body.is_of_deactivated === true && !knowsAll) return null;
    return knowsAll ? "all" : "active";
  },
  build(view, record, _user, queue) {
    const { is_of_deactivated: _mark, ...body } = record.body;
    const { group_id: groupId } = body;
    if (body.op === "add") return added(view, groupId, queue.can(capability));
    const deactivated = body.op === "update" ? body.data.deactivated : undefined;
    if (deactivated === undefined || queue.can(capability)) return [{ type: "user_group", ...body }];
    return deactivated ? [{ type: "user_group", op: "remove", group_id: groupId }] : added(view, groupId, false);
  },
};

/** A client that only knows active groups gets the group as active; the event of its deactivation follows. */
function added(view: View, groupId: number, knowsAll: boolean): readonly WireEvent[] {
  const group = namedGroup(view, groupId);
  if (group === undefined) return [];
  const body = groupBody(view, group);
  return [{ type: "user_group", op: "add", group: knowsAll ? body : { ...body, deactivated: false } }];
}

function mayReadThere(view: View, user: UserRecord, channelId: number): boolean {
  const channel = view.channels.get(channelId);
  return channel !== undefined && hasContentAccess(view, user, channel);
}

function peopleOf(view: View, ids: readonly number[]) {
  return ids.flatMap((id) => {
    const user = view.users.get(id);
    return user === undefined ? [] : [{ user_id: id, email: apiEmail(user) }];
  });
}

export const typing: EventKind<"typing"> = {
  key(view, { body }, user, queue) {
    if (body.message_type === "direct") return "";
    if (!mayReadThere(view, user, body.stream_id)) return null;
    return body.topic === "" ? queue.variant : "";
  },
  build(view, { body }, _user, queue) {
    const { op } = body;
    const [sender] = peopleOf(view, [body.sender_id]);
    if (sender === undefined) return [];
    if (body.message_type === "direct") {
      return [{ type: "typing", op, message_type: "direct", sender, recipients: peopleOf(view, body.recipient_ids) }];
    }
    const topic = shownTopic(view, body.topic, queue.can("empty_topic_name"));
    return [{ type: "typing", op, message_type: "stream", stream_id: body.stream_id, topic, sender }];
  },
};

export const typingEditMessage: EventKind<"typing_edit_message"> = {
  key(view, { body: { recipient, message_id: messageId } }, user, queue) {
    const message = view.row("messages", messageId);
    const mayRead = message === undefined || canReadMessage(view, user, message);
    const mayReadPlace = recipient.type === "direct" || mayReadThere(view, user, recipient.channel_id);
    return mayRead && mayReadPlace ? queue.variant : null;
  },
  build(view, { body }, _user, queue) {
    const { recipient } = body;
    if (recipient.type === "direct") return [{ type: "typing_edit_message", ...body }];
    const topic = shownTopic(view, recipient.topic, queue.can("empty_topic_name"));
    return [{ type: "typing_edit_message", ...body, recipient: { ...recipient, topic } }];
  },
};

type FlagChange = EventRecord<"update_message_flags">["body"];

export const messageFlags: EventKind<"update_message_flags"> = {
  key(view, { body }, user, queue) {
    if (!isUnreading(body)) return "";
    return body.messages.some((id) => isReadable(view, user, id)) ? `${queue.variant}:${user.id}` : null;
  },
  build(view, { body }, user, queue) {
    if (!isUnreading(body)) return [{ type: "update_message_flags", ...body }];
    // `message_details` has an entry for each listed message, so messages that are deleted or no longer visible (S1)
    // are not listed.
    const messages = body.messages.filter((id) => isReadable(view, user, id));
    const details = messages.map(
      (id) => [String(id), detailOf(view, user, id, queue.can("empty_topic_name"))] as const,
    );
    return [{ type: "update_message_flags", ...body, messages, message_details: Object.fromEntries(details) }];
  },
};

function isReadable(view: View, user: UserRecord, messageId: number): boolean {
  const message = view.row("messages", messageId);
  return message !== undefined && canReadMessage(view, user, message);
}

function isUnreading(body: FlagChange): body is Extract<FlagChange, { readonly op: "remove" }> {
  return body.op === "remove" && body.flag === "read";
}

/** The location as it is now. */
function detailOf(view: View, user: UserRecord, messageId: number, allowsEmptyTopicName: boolean) {
  const message = view.row("messages", messageId);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined) return {};
  const mentioned = isMentioned(view, user, message) ? { mentioned: true } : {};
  if (conversation.userIds !== null) {
    return { type: "private" as const, user_ids: conversation.userIds.filter((id) => id !== user.id), ...mentioned };
  }
  const topic = shownTopic(view, conversation.topic, allowsEmptyTopicName);
  return { type: "stream" as const, stream_id: conversation.channelId, topic, ...mentioned };
}

type BotBody = ReturnType<typeof botBody>;

function fieldOf<F extends BotField>(whole: BotBody, field: F): Pick<BotBody, F> {
  // A computed key has the type `string`.
  return { [field]: whole[field] } as Pick<BotBody, F>;
}

/** Returns null if the viewer may not see the bot. */
function event(view: View, { body }: EventRecord<"realm_bot">, viewer: UserRecord): WireEvent<"realm_bot"> | null {
  const { user_id: id } = body;
  if (body.op === "delete") return { type: "realm_bot", op: "delete", bot: { user_id: id } };
  const bot = view.users.get(id);
  if (bot === undefined || !canAdministerBot(viewer, bot)) return null;
  const whole = botBody(view, bot, viewer);
  if (body.op === "add") return { type: "realm_bot", op: "add", bot: whole };
  return { type: "realm_bot", op: "update", bot: { user_id: id, ...fieldOf(whole, body.field) } };
}

export const realmBot: EventKind<"realm_bot"> = {
  key(view, record, user) {
    const content = event(view, record, user);
    return content === null ? null : JSON.stringify(content);
  },
  build(view, record, user) {
    const content = event(view, record, user);
    return content === null ? [] : [content];
  },
};
