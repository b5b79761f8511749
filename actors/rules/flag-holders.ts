/**
 * Personal flags on messages (starred, collapsed). A user who flagged a message without being subscribed still receives
 * its changes, as on the public server. A flag is removed when its message is deleted or its holder can no longer read
 * it.
 */

import { canReadChannelMessage, hasReceived } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type PersonalFlag, personalFlags } from "../../schemas/message-flags.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { flagEvents } from "./read-rows.ts";

export interface MessageFlag {
  readonly messageId: MessageId;
  readonly userId: UserId;
  readonly flag: PersonalFlag;
}

/** Both rows: by user and by message. */
export function putFlag({ userId, flag, messageId }: MessageFlag): Effect[] {
  const number = personalFlags[flag];
  return [
    effects.put("messageFlags", [userId, number, messageId], {}),
    effects.put("flagHolders", [messageId, userId, number], {}),
  ];
}

export function removeFlag({ userId, flag, messageId }: MessageFlag): Effect[] {
  const number = personalFlags[flag];
  return [
    effects.remove("messageFlags", [userId, number, messageId]),
    effects.remove("flagHolders", [messageId, userId, number]),
  ];
}

const flagNames: ReadonlyMap<number, PersonalFlag> = new Map(
  Object.entries(personalFlags).map(([name, number]) => [number, name as PersonalFlag]),
);

/** One range scan if the message ids are close together, as they almost always are; most messages have no flags. */
export function flagsOnMessages(view: View, messageIds: readonly MessageId[]): MessageFlag[] {
  const wanted = new Set(messageIds);
  const between = (first: number, last: number, limit: number) =>
    view.keys("flagHolders", { start: [first], end: [last + 1], limit });
  const near = between(Math.min(...messageIds), Math.max(...messageIds), limits.event_ids_per_piece_max);
  const each = limits.users_per_realm_max * flagNames.size;
  const keys = near.length < limits.event_ids_per_piece_max ? near : messageIds.flatMap((id) => between(id, id, each));
  return keys.flatMap(([messageId, userId, number]) => {
    const flag = flagNames.get(number);
    return flag === undefined || !wanted.has(messageId) ? [] : [{ messageId, userId, flag }];
  });
}

/**
 * Ids of users who receive changes of channel messages only because they flagged one: not subscribed, or only since it
 * was posted, but able to read it. None in protected history, where the event would reveal other messages.
 */
export function unsubscribedFlagHolders(view: View, channelId: ChannelId, flags: readonly MessageFlag[]): number[] {
  const channel = view.channels.get(channelId);
  if (channel === undefined || isProtected(channel)) return [];
  const outside = flags.filter(({ userId, messageId }) => {
    const periods = view.subscriptions.get(userId, channelId)?.periods ?? [];
    return !view.subscriptions.isSubscribed(userId, channelId) || !hasReceived(periods, messageId);
  });
  return [...new Set(outside.filter((flag) => isReadable(view, channel, flag)).map(({ userId }) => userId))];
}

function isProtected(channel: ChannelRecord): boolean {
  return channel.isPrivate && !channel.isHistoryPublic;
}

function isReadable(view: View, channel: ChannelRecord, { userId, messageId }: MessageFlag): boolean {
  const user = view.users.get(userId);
  return user !== undefined && canReadChannelMessage(view, user, channel, messageId);
}

/**
 * Whether the holder receives the channel's `delete_message` event for this message.
 * @param recipients further recipients besides the subscribers
 */
function receivesDeletion(
  view: View,
  channel: ChannelRecord,
  recipients: ReadonlySet<number>,
  { userId, messageId }: MessageFlag,
) {
  if (recipients.has(userId)) return true;
  const subscription = view.subscriptions.get(userId, channel.id);
  if (subscription === undefined || !view.subscriptions.isSubscribed(userId, channel.id)) return false;
  return !isProtected(channel) || hasReceived(subscription.periods, messageId);
}

/**
 * Removes the flags of deleted messages. Clients remove them with the message. A holder who does not receive the
 * deletion, because they can no longer read the message, receives the removal of the flag instead, so that their list
 * of starred messages is correct.
 * @param also recipients of the deletion besides the channel's subscribers
 */
export function flagsOfDeleted(
  view: View,
  channelId: ChannelId | null,
  flags: readonly MessageFlag[],
  also: readonly number[],
): Effect[] {
  const channel = view.channels.get(channelId ?? 0);
  const recipients = new Set(also);
  const nonRecipients =
    channel === undefined ? [] : flags.filter((flag) => !receivesDeletion(view, channel, recipients, flag));
  return [...flags.flatMap(removeFlag), ...endings(nonRecipients)];
}

function endings(flags: readonly MessageFlag[]): Effect[] {
  const idsByHolder = new Map<string, { first: MessageFlag; ids: number[] }>();
  for (const flag of flags) {
    const key = `${flag.userId} ${flag.flag}`;
    const known = idsByHolder.get(key) ?? { first: flag, ids: [] };
    idsByHolder.set(key, { ...known, ids: [...known.ids, flag.messageId] });
  }
  return [...idsByHolder.values()].flatMap(({ first, ids }) => flagEvents(first.userId, "remove", first.flag, ids));
}

/**
 * Removes the flags of users who can no longer read messages that moved to another channel. Their clients receive a
 * deletion and the removal of the flags: a user who subscribes to the new channel later sees the messages as moved, not
 * deleted.
 */
export function flagsLost(view: View, messageIds: readonly MessageId[], fromId: number, toId: number): Effect[] {
  const [from, to] = [view.channels.get(fromId), view.channels.get(toId)];
  if (from === undefined || to === undefined || from.id === to.id) return [];
  const flags = flagsOnMessages(view, messageIds);
  const lost = flags.filter((flag) => isReadable(view, from, flag) && !isReadable(view, to, flag));
  return [...lost.flatMap(removeFlag), ...endings(lost)];
}
