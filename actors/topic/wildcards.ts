/** Who may call everybody in a channel, or in a topic (public API: send-message, update-message; behaviour 5.1). */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";
import { hasRealmPermission } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { participants } from "./attention.ts";

/** So few may be called together by anybody. */
const freeWildcardPeople = 15;

/** @param conversationId of the topic; null: it begins with this message */
export function checkWildcards(
  view: View,
  sender: UserRecord,
  {
    rendered,
    channel,
    conversationId,
  }: { rendered: RenderedContent; channel: ChannelRecord; conversationId: number | null },
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
