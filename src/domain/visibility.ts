/** What somebody wants to see of a conversation: the channel's mute and the policy for the topic (behaviour 8). */
import { fold } from "../../schemas/fold.ts";
import type { ConversationRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

/** Values of `visibilityPolicy` (public API: update-user-topic); no row: 0. */
const policies = { muted: 1, unmuted: 2, followed: 3 } as const;

type Place = Pick<ConversationRecord, "channelId" | "topic">;

function policyOf(view: View, userId: number, { channelId, topic }: Place): number {
  return view.row("userTopics", [userId, channelId ?? 0, fold(topic)])?.visibilityPolicy ?? 0;
}

export function isFollowedPlace(view: View, userId: number, place: Place): boolean {
  return place.channelId !== null && policyOf(view, userId, place) === policies.followed;
}

/** The topic is muted, or its channel is and the topic is neither unmuted nor followed. Direct messages never are. */
export function isMutedPlace(view: View, userId: number, place: Place): boolean {
  if (place.channelId === null) return false;
  const policy = policyOf(view, userId, place);
  if (policy === policies.muted) return true;
  const isChannelMuted = view.subscriptions.get(userId, place.channelId)?.isMuted === true;
  return isChannelMuted && policy !== policies.unmuted && policy !== policies.followed;
}
