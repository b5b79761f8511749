/**
 * A mail that waits for another attempt may say what holds no more: its messages are deleted or hidden from the person by now, or
 * the account has ended or another address. Then it is not sent (S1); what is left of it stands in clients as unread.
 */
import type { MailData } from "../../schemas/mails.ts";
import type { MailRecord } from "../../schemas/records.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";

const aboutMessages: ReadonlySet<string> = new Set(["missed-messages", "missed-messages-hidden"]);

export function isWithdrawn(view: View, { template, to, data }: MailRecord): boolean {
  if (!aboutMessages.has(template)) return false;
  const { userId, messageIds } = data as MailData<"missed-messages-hidden">;
  const user = view.users.get(userId);
  if (user?.isActive !== true || user.email !== to) return true;
  return messageIds.some((id) => {
    const message = view.row("messages", id);
    return message === undefined || !canReadMessage(view, user, message);
  });
}
