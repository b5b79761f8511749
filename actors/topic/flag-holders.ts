/**
 * People who gave messages a flag of their own (starred, collapsed). Who did so without being in the channel follows the message all
 * the same, as the public server's row for each reader makes it; and a flag ends with the message, or with its holder's sight of it.
 */
import { limits } from "../../schemas/limits.ts";
import { type PersonalFlag, personalFlags } from "../../schemas/records/read-state.ts";
import type { ChannelRecord } from "../../schemas/records.ts";
import { canReadChannelMessage, hasReceived } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { flagEvents } from "../user/read-rows.ts";

export interface HeldFlag {
  readonly messageId: number;
  readonly userId: number;
  readonly flag: PersonalFlag;
}

/** Both rows: by the person, and by the message. */
export function putFlag({ userId, flag, messageId }: HeldFlag): Effect[] {
  const number = personalFlags[flag];
  return [
    effects.put("messageFlags", [userId, number, messageId], {}),
    effects.put("flagHolders", [messageId, userId, number], {}),
  ];
}

export function removeFlag({ userId, flag, messageId }: HeldFlag): Effect[] {
  const number = personalFlags[flag];
  return [
    effects.remove("messageFlags", [userId, number, messageId]),
    effects.remove("flagHolders", [messageId, userId, number]),
  ];
}

const flagNames: ReadonlyMap<number, PersonalFlag> = new Map(
  Object.entries(personalFlags).map(([name, number]) => [number, name as PersonalFlag]),
);

/** In one look where the messages lie close together, as they do nearly always: most have no flags at all. */
export function flagsHeld(view: View, messageIds: readonly number[]): HeldFlag[] {
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
 * Ids of people who are told what becomes of messages of a channel though they are not in it, or came to it after them and may have
 * left when they ask: they gave one a flag, and can read it.
 * Not in protected history, where other messages of the same event are not theirs to know.
 */
export function onlookers(view: View, channelId: number, held: readonly HeldFlag[]): number[] {
  const channel = view.channels.get(channelId);
  if (channel === undefined || isProtected(channel)) return [];
  const outside = held.filter(({ userId, messageId }) => {
    const stays = view.subscriptions.get(userId, channelId)?.stays ?? [];
    return !view.subscriptions.isSubscribed(userId, channelId) || !hasReceived(stays, messageId);
  });
  return [...new Set(outside.filter((flag) => isReadable(view, channel, flag)).map(({ userId }) => userId))];
}

function isProtected(channel: ChannelRecord): boolean {
  return channel.isPrivate && !channel.isHistoryPublic;
}

function isReadable(view: View, channel: ChannelRecord, { userId, messageId }: HeldFlag): boolean {
  const user = view.users.get(userId);
  return user !== undefined && canReadChannelMessage(view, user, channel, messageId);
}

/** Whether a `delete_message` event of the channel tells the holder of this message. @param told beside its subscribers */
function isTold(view: View, channel: ChannelRecord, told: ReadonlySet<number>, { userId, messageId }: HeldFlag) {
  if (told.has(userId)) return true;
  const subscription = view.subscriptions.get(userId, channel.id);
  if (subscription === undefined || !view.subscriptions.isSubscribed(userId, channel.id)) return false;
  return !isProtected(channel) || hasReceived(subscription.stays, messageId);
}

/**
 * Flags of messages that are deleted. Clients drop them with the message; who is not told of the message, because they could not read
 * it any more, is told of the flag: their list of starred messages, which had it still, is shorter from now on.
 * @param also who is told of the deletion beside the channel's subscribers
 */
export function flagsOfDeleted(
  view: View,
  channelId: number | null,
  held: readonly HeldFlag[],
  also: readonly number[],
): Effect[] {
  const channel = view.channels.get(channelId ?? 0);
  const told = new Set(also);
  const untold = channel === undefined ? [] : held.filter((flag) => !isTold(view, channel, told, flag));
  return [...held.flatMap(removeFlag), ...endings(untold)];
}

function endings(flags: readonly HeldFlag[]): Effect[] {
  const idsByHolder = new Map<string, { first: HeldFlag; ids: number[] }>();
  for (const flag of flags) {
    const key = `${flag.userId} ${flag.flag}`;
    const known = idsByHolder.get(key) ?? { first: flag, ids: [] };
    idsByHolder.set(key, { ...known, ids: [...known.ids, flag.messageId] });
  }
  return [...idsByHolder.values()].flatMap(({ first, ids }) => flagEvents(first.userId, "remove", first.flag, ids));
}

/**
 * Flags on messages that go to another channel end for people who could read them and cannot any more: clients are told that the
 * messages are gone. They are told of the flags, too: who comes to the new channel later and is told once more finds the messages
 * moved, not gone.
 */
export function flagsLost(view: View, messageIds: readonly number[], fromId: number, toId: number): Effect[] {
  const [from, to] = [view.channels.get(fromId), view.channels.get(toId)];
  if (from === undefined || to === undefined || from.id === to.id) return [];
  const held = flagsHeld(view, messageIds);
  const lost = held.filter((flag) => isReadable(view, from, flag) && !isReadable(view, to, flag));
  return [...lost.flatMap(removeFlag), ...endings(lost)];
}
