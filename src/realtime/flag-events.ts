/** Events about flags (behaviour 4.4). What is marked as unread is told with its place, which the client need not know. */

import type { UserRecord } from "../../schemas/records.ts";
import { isMentioned } from "../domain/message-flags.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { type EventKind, plain } from "./event-kind.ts";

export const messageFlags: EventKind = {
  key(view, { body }, user, queue) {
    if (!isUnreading(body)) return "";
    return idsOf(body).some((id) => isReadable(view, user, id)) ? `${queue.variant}:${user.id}` : null;
  },
  build(view, record, user, queue) {
    if (!isUnreading(record.body)) return plain.build(view, record, user, queue);
    // Each message that is named has its place beside it: what is gone, or not to be seen any more (S1), is not named.
    const messages = idsOf(record.body).filter((id) => isReadable(view, user, id));
    const details = messages.map(
      (id) => [String(id), detailOf(view, user, id, queue.can("empty_topic_name"))] as const,
    );
    return [{ type: record.type, ...record.body, messages, message_details: Object.fromEntries(details) }];
  },
};

function idsOf(body: Readonly<Record<string, unknown>>): readonly number[] {
  return body["messages"] as readonly number[];
}

function isReadable(view: View, user: UserRecord, messageId: number): boolean {
  const message = view.row("messages", messageId);
  return message !== undefined && canReadMessage(view, user, message);
}

function isUnreading(body: Readonly<Record<string, unknown>>): boolean {
  return body["op"] === "remove" && body["flag"] === "read";
}

/** As it is now. */
function detailOf(view: View, user: UserRecord, messageId: number, allowsEmptyTopicName: boolean) {
  const message = view.row("messages", messageId);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined) return {};
  const mentioned = isMentioned(view, user, message) ? { mentioned: true } : {};
  if (conversation.userIds !== null) {
    return { type: "private", user_ids: conversation.userIds.filter((id) => id !== user.id), ...mentioned };
  }
  const topic = shownTopic(view, conversation.topic, allowsEmptyTopicName);
  return { type: "stream", stream_id: conversation.channelId, topic, ...mentioned };
}
