/** Deleting one message (public API: delete-message; behaviour 5.7). */
import { refuse } from "../../schemas/errors.ts";
import { checkDeletion, findChangeable } from "../../src/domain/message-rules.ts";
import type { View } from "../../src/domain/view.ts";
import type { Address, Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import type { TopicContext } from "./machine.ts";
import { removeMessages } from "./message-removal.ts";

/** Everything that belongs to the message goes with it; whoever was shown it is told. */
export function deleteMessage(
  context: TopicContext,
  asked: Command<"message.delete">,
  view: View,
): Outcome<TopicContext> {
  const caller = callerOf(asked, view);
  if (caller === null) return refuse.noSuchUser();
  const { id: messageId } = asked.to as Extract<Address, { actor: "message" }>;
  const found = findChangeable(view, caller, messageId, placeOf(context));
  if ("kind" in found) return found;
  const refused = checkDeletion(view, caller, found);
  if (refused !== null) return refused;
  return done({}, removeMessages(view, { ...context, id: context.id ?? 0 }, [found.message], [caller.id]));
}

/** null: a conversation that is not there. */
export function placeOf(context: TopicContext): TopicContext | null {
  return context.id === null ? null : context;
}
