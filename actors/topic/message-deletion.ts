/** Deletes one message (public API: delete-message; behaviour 5.7). */

import { checkDeletion, findChangeable } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import type { Address, Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { removeMessages } from "../rules/message-removal.ts";
import type { TopicContext } from "./context.ts";

/** Deletes everything that belongs to the message and notifies everybody who has received it. */
export function deleteMessage(
  context: TopicContext,
  asked: Command<"message.delete">,
  view: View,
): Outcome<TopicContext> {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { id: messageId } = asked.to as Extract<Address, { actor: "message" }>;
  const found = findChangeable(view, caller, messageId, context);
  if (isRefusal(found)) return found;
  const refused = checkDeletion(view, caller, found);
  if (refused !== null) return refused;
  return done({}, removeMessages(view, { ...context, id: context.id ?? 0 }, [found.message], [caller.id]));
}

export const messageDeletionDecisions = {
  "message.delete": deleteMessage,
} as const;
