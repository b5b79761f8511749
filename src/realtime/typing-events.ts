/**
 * Typing (OpenAPI, typing and typing_edit_message). Notices wait for who is away (queue.ts), so what they show is what it is when they
 * are delivered: addresses may have been hidden meanwhile, channels left (S1). Topics without a name have one for clients that do not
 * know that.
 */
import type { UserRecord } from "../../schemas/records.ts";
import { apiEmail } from "../domain/people.ts";
import { canReadMessage, hasContentAccess } from "../domain/permissions.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { type EventKind, plain } from "./event-kind.ts";

/** @param channelId undefined: it is no channel */
function mayReadThere(view: View, user: UserRecord, channelId: unknown): boolean {
  if (channelId === undefined) return true;
  const channel = view.channels.get(channelId as number);
  return channel !== undefined && hasContentAccess(view, user, channel);
}

function peopleOf(view: View, ids: readonly number[]) {
  return ids.flatMap((id) => {
    const user = view.users.get(id);
    return user === undefined ? [] : [{ user_id: id, email: apiEmail(user) }];
  });
}

export const typing: EventKind = {
  key: (view, record, user, queue) =>
    mayReadThere(view, user, record.body["stream_id"]) ? plain.key(view, record, user, queue) : null,
  build(view, record, user, queue) {
    const { sender_id: senderId, recipient_ids: recipientIds, ...rest } = record.body;
    const [sender] = peopleOf(view, [senderId as number]);
    const recipients = recipientIds === undefined ? {} : { recipients: peopleOf(view, recipientIds as number[]) };
    return plain.build(view, { ...record, body: { ...rest, sender, ...recipients } }, user, queue);
  },
};

interface Recipient {
  readonly type: string;
  readonly channel_id?: number;
  readonly topic?: string;
}

export const typingEditMessage: EventKind = {
  key(view, record, user, queue) {
    const { channel_id: channelId } = record.body["recipient"] as Recipient;
    const message = view.row("messages", record.body["message_id"] as number);
    const mayRead = message === undefined || canReadMessage(view, user, message);
    return mayRead && mayReadThere(view, user, channelId) ? queue.variant : null;
  },
  build(view, record, _user, queue) {
    const recipient = record.body["recipient"] as Recipient;
    const { topic } = recipient;
    const shown =
      topic === undefined ? recipient : { ...recipient, topic: shownTopic(view, topic, queue.can("empty_topic_name")) };
    return [{ type: "typing_edit_message", ...record.body, recipient: shown }];
  },
};
