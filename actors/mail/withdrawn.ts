/**
 * Decides whether an email that waits for a retry may still be sent (S1). It may not if its recipient has switched such
 * emails off, if one of its messages was deleted or hidden from the user, or if the account was deactivated or changed
 * its address. The other messages are still shown as unread in clients.
 */

import { canReadMessage } from "../../domain/permissions.ts";
import { isSubscribed, unsubscribeKindOf } from "../../domain/unsubscribe-links.ts";
import type { View } from "../../domain/view.ts";
import type { MailData, MailRecord } from "../../schemas/mails.ts";

const aboutMessages: ReadonlySet<string> = new Set(["missed-messages", "missed-messages-hidden"]);

export function isWithdrawn(view: View, mail: MailRecord): boolean {
  return isUnsubscribed(view, mail) || isOutdated(view, mail);
}

function isUnsubscribed(view: View, { template, to }: MailRecord): boolean {
  const kind = unsubscribeKindOf(template);
  const user = view.users.byEmail(to);
  return kind !== undefined && user !== undefined && !isSubscribed(view, { kind, user });
}

function isOutdated(view: View, { template, to, data }: MailRecord): boolean {
  if (!aboutMessages.has(template)) return false;
  const { userId, messageIds } = data as MailData<"missed-messages-hidden">;
  const user = view.users.get(userId);
  if (user?.isActive !== true || user.email !== to) return true;
  return messageIds.some((id) => {
    const message = view.row("messages", id);
    return message === undefined || !canReadMessage(view, user, message);
  });
}
