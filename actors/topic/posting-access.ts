/** Who may write into a private channel: its subscribers, and bots whose owner is one (behaviour 5.1). */
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { hasContentAccess, isGuest } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";

export function isSubscribedOrBot(view: View, sender: UserRecord, channel: ChannelRecord): boolean {
  if (view.subscriptions.isSubscribed(sender.id, channel.id)) return true;
  if (sender.botOwnerId !== null && view.subscriptions.isSubscribed(sender.botOwnerId, channel.id)) return true;
  return channel.isHistoryPublic && !isGuest(sender) && hasContentAccess(view, sender, channel);
}
