/** Deletes one message (public API: delete-message; behaviour 5.7), and what any deletion means for the conversation. */
import { checkDeletion, findChangeable } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { addressAs, type Command, done, effects, forUser, type Outcome } from "../protocol/decision.ts";
import { removeMessages } from "../rules/message-rows.ts";
import { endedConversationVisibility } from "../rules/user-visibility.ts";
import { directName, type TopicContext } from "./context.ts";
import { wakeDeletion } from "./moves.ts";

/** Deletes everything that belongs to the message and notifies everybody who has received it. */
function deleteMessage(
  caller: UserRecord,
  _params: unknown,
  view: View,
  { to }: Command<"message.delete">,
  context: TopicContext,
): Outcome<TopicContext> {
  const found = findChangeable(view, caller, addressAs(to, "message").id, context);
  if (isRefusal(found)) return found;
  const refused = checkDeletion(view, caller, found);
  if (refused !== null) return refused;
  const { message } = found;
  return done({}, removeMessages(view, { ...context, id: message.conversationId }, [message], [caller.id]));
}

/** After a deletion: finds the conversation's last message, or empties the conversation. */
function refreshLastMessage(
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

export const messageDeletionDecisions = {
  "message.delete": forUser(deleteMessage),
  "topic.refreshLastMessage": refreshLastMessage,
} as const;
