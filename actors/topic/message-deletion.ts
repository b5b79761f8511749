/** Deletes one message (public API: delete-message; behaviour 5.7). */

import { checkDeletion, findChangeable } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { addressAs, type Command } from "../protocol/commands.ts";
import { done, forUser, type Outcome } from "../protocol/decide.ts";
import { removeMessages } from "../rules/message-removal.ts";
import type { TopicContext } from "./context.ts";

/** Deletes everything that belongs to the message and notifies everybody who has received it. */
export function deleteMessage(
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
  return done({}, removeMessages(view, { ...context, id: context.id ?? 0 }, [found.message], [caller.id]));
}

export const messageDeletionDecisions = {
  "message.delete": forUser(deleteMessage),
} as const;
