/**
 * Events about flags (behaviour 4.4). Messages marked as unread are sent with their location, because the client may
 * not have them.
 */

import { isMentioned } from "../../../domain/message-flags.ts";
import { canReadMessage } from "../../../domain/permissions.ts";
import { shownTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { EventKind } from "./event-kind.ts";

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
