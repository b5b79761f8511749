/** What the person may do, as far as the page shows or hides it. The server decides. */
import type { Message } from "../../client/src/api/index.ts";
import { serverNow } from "./server-clock.ts";
import { channels, chat, groups, me, myId, subscribedIds } from "./store.ts";

type GroupValue =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] }
  | undefined;

/** @param seen groups on the way here, against circles */
export function isHolder(value: GroupValue, userId = myId.value, seen: ReadonlySet<number> = new Set()): boolean {
  if (value === undefined) return false;
  if (typeof value !== "number") {
    return value.direct_members.includes(userId) || value.direct_subgroups.some((id) => isHolder(id, userId, seen));
  }
  if (seen.has(value)) return false;
  const group = groups.value.find(({ id }) => id === value);
  if (group === undefined) return false;
  const next = new Set([...seen, value]);
  return group.members.includes(userId) || group.direct_subgroup_ids.some((id) => isHolder(id, userId, next));
}

function isWithin(timestamp: number, limitSeconds: number | null | undefined): boolean {
  return limitSeconds == null || serverNow() / 1000 - timestamp < limitSeconds;
}

export function canEdit({ sender_id: senderId, timestamp }: Message): boolean {
  const state = chat.value;
  if (senderId !== myId.value || state?.realm_allow_message_editing !== true) return false;
  return isWithin(timestamp, state.realm_message_content_edit_limit_seconds);
}

export function canMove(message: Message): boolean {
  const state = chat.value;
  if (message.stream_id === undefined || state === null) return false;
  const channel = channels.value.get(message.stream_id);
  return (
    isHolder(state.realm_can_move_messages_between_topics_group) ||
    isHolder(state.realm_can_move_messages_between_channels_group) ||
    isHolder(channel?.can_move_messages_within_channel_group) ||
    isHolder(channel?.can_administer_channel_group)
  );
}

export function canResolve(channelId: number): boolean {
  return (
    isHolder(chat.value?.realm_can_resolve_topics_group) ||
    isHolder(channels.value.get(channelId)?.can_resolve_topics_group)
  );
}

export function canDelete({ sender_id: senderId, timestamp, stream_id: channelId }: Message): boolean {
  const state = chat.value;
  if (state === null) return false;
  const channel = channelId === undefined ? undefined : channels.value.get(channelId);
  if (isHolder(state.realm_can_delete_any_message_group) || isHolder(channel?.can_delete_any_message_group))
    return true;
  if (senderId !== myId.value) return false;
  const mayDelete =
    isHolder(state.realm_can_delete_own_message_group) || isHolder(channel?.can_delete_own_message_group);
  return mayDelete && isWithin(timestamp, state.realm_message_content_delete_limit_seconds);
}

/** Why the person cannot post to a channel; null if they can. */
export function postingObstacle(channelId: number): string | null {
  const channel = channels.value.get(channelId);
  if (channel === undefined) return "This channel does not exist, or you may not see it.";
  if (channel.is_archived) return "This channel is archived: it can be read, but not written.";
  if (!isHolder(channel.can_send_message_group)) return "You may not post to this channel.";
  if (channel.invite_only && !subscribedIds.value.has(channelId))
    return "You are not subscribed to this private channel.";
  return null;
}

export function canAdminister(channelId: number): boolean {
  return (me.value?.role ?? 600) <= 200 || isHolder(channels.value.get(channelId)?.can_administer_channel_group);
}
