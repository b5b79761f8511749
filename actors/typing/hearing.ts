/** Who shares that they type, and who hears of it (spec 2.3, 6; realtime.md, Who gets what): of new messages and of edits alike. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { hasMuted } from "../../src/domain/muted-users.ts";
import type { View } from "../../src/domain/view.ts";

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

/** Ids of the typist's others who want to know, and who have not muted the typist. */
export function listenersAmong(view: View, sender: UserRecord, candidates: Iterable<number>): number[] {
  const found: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (user === undefined || id === sender.id || !user.isActive) continue;
    if (userSetting(user, "receives_typing_notifications") && !hasMuted(view, id, sender.id)) found.push(id);
  }
  return found;
}

/** All participants, the typist's own clients included, as on the public server. */
export function directListeners(view: View, sender: UserRecord, userIds: readonly number[]): number[] {
  const others = listenersAmong(view, sender, userIds);
  return userSetting(sender, "receives_typing_notifications") ? [...others, sender.id] : others;
}

/** Large channels have none, as on the public server. */
export function channelListeners(view: View, sender: UserRecord, channelId: number): number[] {
  const subscribers = view.subscriptions.ofChannel(channelId);
  return subscribers.size > limits.typing_channel_subscribers_max ? [] : listenersAmong(view, sender, subscribers);
}
