/** After a deletion: finds the conversation's last message, or empties the conversation (spec section 3, Topic). */

import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import type { Command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { endedConversationVisibility } from "../rules/user-visibility.ts";
import { directName, type TopicContext } from "./context.ts";
import { wakeDeletion } from "./moves.ts";

export function refreshLastMessage(
  context: TopicContext,
  _asked: Command<"topic.refreshLastMessage">,
  view: View,
): Outcome<TopicContext> {
  if (context.id === null) return done({}, []);
  // No message is newer than the last one that was known.
  const [last] = view.keys("conversationMessages", {
    start: [context.id, context.lastMessageId],
    end: [context.id],
    reverse: true,
    limit: 1,
  });
  if (last !== undefined) return done({}, [], { lastMessageId: last[1] });
  const names =
    context.userIds === null
      ? [effects.remove("topicNames", [context.channelId ?? 0, fold(context.topic)])]
      : [
          ...endedConversationVisibility(view, context.userIds, context.id),
          effects.remove("directNames", directName(context.userIds)),
          ...context.userIds.map((userId) => effects.remove("directConversations", [userId, context.id ?? 0])),
        ];
  // The conversation forgets its move with its row, so the deletion has nothing else to wait for.
  const woken = context.movingId === null ? [] : wakeDeletion(context);
  return done({}, [...names, ...woken], { id: null, lastMessageId: 0, movingId: null }, "empty");
}

export const lastMessageDecisions = {
  "topic.refreshLastMessage": refreshLastMessage,
} as const;
