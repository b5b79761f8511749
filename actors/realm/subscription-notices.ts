/**
 * The notification bot tells people directly that somebody else has subscribed them (public API, subscribe: parameter
 * `send_new_subscription_messages`): one message each, about channels that were there before, and none to bots.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { compareText } from "../../src/domain/text.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { botDirectMessage, silently } from "./notification-bot.ts";

export interface Joining {
  readonly channel: ChannelRecord;
  readonly userIds: readonly number[];
}

/** Whether so few people are newly subscribed that each may be told (`max_bulk_new_subscription_messages`). */
export function mayTellSubscribers(joins: readonly Joining[]): boolean {
  const people = new Set(joins.flatMap(({ userIds }) => userIds));
  return people.size <= limits.new_subscription_messages_max;
}

/** @param joins existing channels with who joins them */
export function subscriptionNotices(view: View, caller: UserRecord, joins: readonly Joining[]): Command[] {
  const names = new Map<number, string[]>();
  for (const { channel, userIds } of joins) {
    for (const id of userIds) {
      const user = view.users.get(id);
      if (user === undefined || id === caller.id || user.botType !== null) continue;
      names.set(id, [...(names.get(id) ?? []), channel.name]);
    }
  }
  return [...names].map(([id, channels]) => notice(caller, id, channels.sort(compareText)));
}

function notice(caller: UserRecord, userId: number, channels: readonly string[]): Command {
  // Private channels have links, too: by the sight of who subscribes, which reaches all that are named.
  return botDirectMessage(userId, textOf(caller, channels), { mentionsAs: caller.id });
}

function textOf(caller: UserRecord, channels: readonly string[]): string {
  const who = `${silently(caller)} subscribed you to`;
  const [first] = channels;
  if (channels.length === 1) return `${who} #**${first}**.`;
  return `${who} the following channels:\n\n${channels.map((name) => `* #**${name}**\n`).join("")}`;
}
