/**
 * Decides which users share and which receive typing notices (spec 2.3, 6; realtime.md, Who gets what), for new
 * messages and for edits.
 */

import { hasMuted } from "../../domain/muted-users.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";

export function checkSharing(sender: UserRecord, isDirect: boolean): Refusal | null {
  if (isDirect) {
    return userSetting(sender, "send_private_typing_notifications")
      ? null
      : refuse.badRequest("User has disabled typing notifications for direct messages");
  }
  return userSetting(sender, "send_stream_typing_notifications")
    ? null
    : refuse.badRequest("User has disabled typing notifications for channel messages");
}

/** Ids of the active candidates, without the typist, who want typing notices and have not muted the typist. */
export function recipientsAmong(view: View, sender: UserRecord, candidates: Iterable<number>): number[] {
  const found: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (user === undefined || id === sender.id || !user.isActive) continue;
    if (userSetting(user, "receives_typing_notifications") && !hasMuted(view, id, sender.id)) found.push(id);
  }
  return found;
}

/** All participants, including the typist's own clients, as on the public server. */
export function directRecipients(view: View, sender: UserRecord, userIds: readonly UserId[]): number[] {
  const others = recipientsAmong(view, sender, userIds);
  return userSetting(sender, "receives_typing_notifications") ? [...others, sender.id] : others;
}

/** Large channels have no typing notices, as on the public server. */
export function channelRecipients(view: View, sender: UserRecord, channelId: ChannelId): number[] {
  const subscribers = view.subscriptions.ofChannel(channelId);
  return subscribers.size > limits.typing_channel_subscribers_max ? [] : recipientsAmong(view, sender, subscribers);
}
