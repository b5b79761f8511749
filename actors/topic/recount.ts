/** After a deletion: what is the conversation's last message now, and is there any left (spec section 3, Topic)? */
import { fold } from "../../schemas/fold.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { endedConversationSight } from "../realm/user-sight.ts";
import { directName } from "./context.ts";
import type { TopicContext } from "./machine.ts";

export function recount(context: TopicContext, _asked: Command<"topic.recount">, view: View): Outcome<TopicContext> {
  if (context.id === null) return done({}, []);
  const [last] = view.keys("conversationMessages", {
    start: [context.id, Number.MAX_SAFE_INTEGER],
    end: [context.id],
    reverse: true,
    limit: 1,
  });
  if (last !== undefined) return done({}, [], { lastMessageId: last[1] });
  const names =
    context.userIds === null
      ? [effects.remove("topicNames", [context.channelId ?? 0, fold(context.topic)])]
      : [
          ...endedConversationSight(view, context.userIds, context.id),
          effects.remove("directNames", directName(context.userIds)),
          ...context.userIds.map((userId) => effects.remove("directConversations", [userId, context.id ?? 0])),
        ];
  return done({}, names, { id: null, lastMessageId: 0 });
}
