/** Permission to mention everybody in a channel or topic (public API: send-message, update-message; behaviour 5.1). */

import type { RenderedContent } from "../../domain/markdown/render.ts";
import { hasRealmPermission } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ConversationId } from "../../schemas/ids.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { participants } from "./message-alerts.ts";

/** Up to this many users may be mentioned by anybody. */
const freeWildcardPeople = 15;

/** @param conversationId id of the topic; null: the message starts it */
export function checkWildcards(
  view: View,
  sender: UserRecord,
  {
    rendered,
    channel,
    conversationId,
  }: { rendered: RenderedContent; channel: ChannelRecord; conversationId: ConversationId | null },
): Refusal | null {
  const { hasChannelWildcard, hasTopicWildcard } = rendered;
  if (!hasChannelWildcard && !hasTopicWildcard) return null;
  if (hasRealmPermission(view, sender, "can_mention_many_users_group")) return null;
  if (hasChannelWildcard && view.subscriptions.ofChannel(channel.id).size > freeWildcardPeople) {
    return refuse.channelWildcardNotAllowed();
  }
  const isLarge = hasTopicWildcard && participants(view, conversationId).size > freeWildcardPeople;
  return isLarge ? refuse.topicWildcardNotAllowed() : null;
}
