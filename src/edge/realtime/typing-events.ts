/**
 * Typing events (OpenAPI, typing and typing_edit_message). They may wait for an absent reader (queue.ts), so they are
 * built at delivery, when an address may be hidden or a channel left (S1). Clients without the capability
 * `empty_topic_name` get the display name of a topic without a name.
 */

import { apiEmail } from "../../../domain/people.ts";
import { canReadMessage, hasContentAccess } from "../../../domain/permissions.ts";
import { shownTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { EventKind } from "./event-kind.ts";

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
