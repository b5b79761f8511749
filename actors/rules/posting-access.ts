/**
 * Permission to post (behaviour 5.1): direct messages to recipients who exist and whom the sender may see, with the two
 * permissions; and messages in private channels.
 */

import { apiEmail, canAccessUser } from "../../domain/people.ts";
import { hasContentAccess, hasRealmPermission, isGuest, realmGroupId } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";

export function checkDirectRecipients(view: View, sender: UserRecord, userIds: readonly UserId[]): Refusal | null {
  for (const id of userIds) {
    if (view.users.get(id) === undefined) return refuse.badRequest(`Invalid user ID ${id}`);
  }
  // Reveals nothing about users the sender may not see, not even that they are deactivated (S1).
  if (hasHiddenUsers(view, sender, userIds)) return refuseHiddenRecipients();
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

/** Whether any of the users is invisible to the viewer. */
export function hasHiddenUsers(view: View, viewer: UserRecord, userIds: readonly UserId[]): boolean {
  return userIds.some((id) => {
    const user = view.users.get(id);
    return user !== undefined && !canAccessUser(view, viewer, user);
  });
}

export function refuseHiddenRecipients(): Refusal {
  return refuse.badRequest("You do not have permission to access some of the recipients.");
}

/** The part of a direct conversation that determines who may start it. */
type Conversation = Pick<ConversationRecord, "lastMessageId" | "userIds">;

/** Starting a conversation requires permission; replying does not. */
export function checkInitiator(context: Conversation, view: View, sender: UserRecord): Refusal | null {
  if (context.lastMessageId > 0 || !isBetweenPeople(view, sender, context.userIds ?? [])) return null;
  if (hasRealmPermission(view, sender, "direct_message_initiator_group")) return null;
  return refuse.badRequest("You do not have permission to initiate direct message conversations.");
}

/** Conversations with bots or with oneself require no permission. */
function isBetweenPeople(view: View, sender: UserRecord, userIds: readonly UserId[]): boolean {
  if (sender.botType !== null) return false;
  return userIds.some((id) => id !== sender.id && view.users.get(id)?.botType === null);
}

/** Subscribers of a private channel may post in it, and so may bots whose owner is subscribed. */
export function isSubscribedOrBot(view: View, sender: UserRecord, channel: ChannelRecord): boolean {
  if (view.subscriptions.isSubscribed(sender.id, channel.id)) return true;
  if (sender.botOwnerId !== null && view.subscriptions.isSubscribed(sender.botOwnerId, channel.id)) return true;
  return channel.isHistoryPublic && !isGuest(sender) && hasContentAccess(view, sender, channel);
}
