/** Who may write to whom directly (behaviour 5.1): recipients that are there and may be known, and the two permissions. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { apiEmail, canAccessUser } from "../../src/domain/people.ts";
import { hasRealmPermission, realmGroupId } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { TopicContext } from "./machine.ts";

export function checkDirectRecipients(view: View, sender: UserRecord, userIds: readonly number[]): Refusal | null {
  for (const id of userIds) {
    if (view.users.get(id) === undefined) return refuse.badRequest(`Invalid user ID ${id}`);
  }
  // Of strangers nothing is said, not even that they are gone (S1).
  if (hasStrangers(view, sender, userIds)) return strangersRefused();
  for (const id of userIds) {
    const user = view.users.get(id);
    if (user?.isActive === false) return refuse.badRequest(`'${apiEmail(user)}' is no longer using Colloquy.`);
  }
  if (!isBetweenPeople(view, sender, userIds)) return null;
  const isAuthorized = userIds.some((id) => {
    const user = view.users.get(id);
    return user?.botType === null && hasRealmPermission(view, user, "direct_message_permission_group");
  });
  if (isAuthorized) return null;
  const isNobodys = realmGroupId(view, "direct_message_permission_group") === view.groups.system("role:nobody")?.id;
  return refuse.badRequest(
    isNobodys
      ? "Direct messages are disabled in this organization."
      : "This conversation does not include any users who can authorize it.",
  );
}

/** Whether somebody is among them of whom the person may not know. */
export function hasStrangers(view: View, viewer: UserRecord, userIds: readonly number[]): boolean {
  return userIds.some((id) => {
    const user = view.users.get(id);
    return user !== undefined && !canAccessUser(view, viewer, user);
  });
}

export function strangersRefused(): Refusal {
  return refuse.badRequest("You do not have permission to access some of the recipients.");
}

/** Only who may begin conversations begins one; answering is free. */
export function checkInitiator(context: TopicContext, view: View, sender: UserRecord): Refusal | null {
  if (context.lastMessageId > 0 || !isBetweenPeople(view, sender, context.userIds ?? [])) return null;
  if (hasRealmPermission(view, sender, "direct_message_initiator_group")) return null;
  return refuse.badRequest("You do not have permission to initiate direct message conversations.");
}

/** Conversations with bots, and with oneself, need nobody's leave. */
function isBetweenPeople(view: View, sender: UserRecord, userIds: readonly number[]): boolean {
  if (sender.botType !== null) return false;
  return userIds.some((id) => id !== sender.id && view.users.get(id)?.botType === null);
}
