/** Events about flags (behaviour 4.4). What is marked as unread is told with its place, which the client need not know. */

import type { UserRecord } from "../../schemas/records.ts";
import { isMentioned } from "../domain/message-flags.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { type EventKind, plain } from "./event-kind.ts";

export const messageFlags: EventKind = {
  key: (_view, { body }, user, queue) => (isUnreading(body) ? `${queue.variant}:${user.id}` : ""),
  build(view, record, user, queue) {
    if (!isUnreading(record.body)) return plain.build(view, record, user, queue);
    const ids = record.body["messages"] as readonly number[];
    const details = ids.flatMap((id) => {
      const detail = detailOf(view, user, id, queue.can("empty_topic_name"));
      return detail === null ? [] : [[String(id), detail] as const];
    });
    return [{ type: record.type, ...record.body, message_details: Object.fromEntries(details) }];
  },
};

function isUnreading(body: Readonly<Record<string, unknown>>): boolean {
  return body["op"] === "remove" && body["flag"] === "read";
}

/** As it is now; null: it is gone, or not to be seen any more (S1). */
function detailOf(view: View, user: UserRecord, messageId: number, allowsEmptyTopicName: boolean) {
  const message = view.row("messages", messageId);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined || !canReadMessage(view, user, message)) return null;
  const mentioned = isMentioned(view, user, message) ? { mentioned: true } : {};
  if (conversation.userIds !== null) {
    return { type: "private", user_ids: conversation.userIds.filter((id) => id !== user.id), ...mentioned };
  }
  const topic = shownTopic(view, conversation.topic, allowsEmptyTopicName);
  return { type: "stream", stream_id: conversation.channelId, topic, ...mentioned };
}
