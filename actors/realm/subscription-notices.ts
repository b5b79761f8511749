/**
 * Direct messages from the notification bot to users whom another user subscribed (public API, subscribe: parameter
 * `send_new_subscription_messages`): one message per user about existing channels, none to bots.
 */

import { compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Command } from "../protocol/commands.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";

export interface Joining {
  readonly channel: ChannelRecord;
  readonly userIds: readonly UserId[];
}

/** Whether few enough users are newly subscribed to notify each of them (`max_bulk_new_subscription_messages`). */
export function mayNotifySubscribers(joins: readonly Joining[]): boolean {
  const people = new Set(joins.flatMap(({ userIds }) => userIds));
  return people.size <= limits.new_subscription_messages_max;
}

/** @param joins existing channels with their new subscribers */
export function subscriptionNotices(view: View, caller: UserRecord, joins: readonly Joining[]): Command[] {
  const names = new Map<number, string[]>();
  for (const { channel, userIds } of joins) {
    for (const id of userIds) {
      const user = view.users.get(id);
      if (user === undefined || id === caller.id || user.botType !== null) continue;
      const own = names.get(id);
      if (own === undefined) names.set(id, [channel.name]);
      else own.push(channel.name);
    }
  }
  return [...names].map(([id, channels]) => notice(caller, id, channels.sort(compareText)));
}

function notice(caller: UserRecord, userId: UserId, channels: readonly string[]): Command {
  // Private channels are linked too: link access is checked for the caller, who can access all of them.
  return botDirectMessage(userId, textOf(caller, channels), { mentionsAs: caller.id });
}

function textOf(caller: UserRecord, channels: readonly string[]): string {
  const who = `${silentMention(caller)} subscribed you to`;
  const [first] = channels;
  if (channels.length === 1) return `${who} #**${first}**.`;
  return `${who} the following channels:\n\n${channels.map((name) => `* #**${name}**\n`).join("")}`;
}
