/**
 * Messages of the notification bot in a channel about changes of the channel (behaviour 2.3 e, 2.4), if the
 * organization enables them (`send_channel_events_messages`).
 */

import { privacyName } from "../../domain/channels.ts";
import { shownGroupValue } from "../../domain/group-values.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { emptyTopicName } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";

import type { Command } from "../protocol/decision.ts";
import { type BotPostOptions, botMessage, silentMention } from "../rules/notification-bot.ts";

/** @param channel after the change */
export function notices(
  view: View,
  channel: ChannelRecord,
  contents: readonly string[],
  more: BotPostOptions = {},
): Command[] {
  if (!realmSetting(view, "send_channel_events_messages")) return [];
  return contents.map((content) => botMessage(channel, "channel events", content, more));
}

export function createdNotice(channel: ChannelRecord, creator: UserRecord): string {
  const title = `**${privacyName(channel)}** channel created by ${silentMention(creator)}. **Description:**`;
  return `${title}\n${quoted(channel.description)}`;
}

export function privacyNotice(caller: UserRecord, before: ChannelRecord, after: ChannelRecord): string {
  const [from, to] = [privacyName(before), privacyName(after)];
  const link = "[access permissions](/help/channel-permissions)";
  return `${silentMention(caller)} changed the ${link} for this channel from **${from}** to **${to}**.`;
}

export function renameNotice(caller: UserRecord, before: string, after: string): string {
  return `${silentMention(caller)} renamed channel **${before}** to **${after}**.`;
}

export function descriptionNotice(caller: UserRecord, before: string, after: string): string {
  const old = `* **Old description:**\n\n${quoted(before)}`;
  const now = `* **New description:**\n\n${quoted(after)}`;
  return `${silentMention(caller)} changed the description for this channel.\n\n${old}\n${now}`;
}

export function retentionNotice(caller: UserRecord, before: number | null, after: number | null): string {
  const link = "[message retention period](/help/message-retention-policy)";
  const forms = `* **Old retention period**: ${period(before)}\n* **New retention period**: ${period(after)}`;
  return `${silentMention(caller)} has changed the ${link} for this channel:\n${forms}`;
}

function period(days: number | null): string {
  if (days === null) return "that of the organization";
  if (days < 0) return "forever";
  return days === 1 ? "1 day" : `${days} days`;
}

const policyNames: Readonly<Record<ChannelRecord["topicsPolicy"], string>> = {
  inherit: "Automatic",
  allow_empty_topic: "Yes, the empty topic is allowed",
  disable_empty_topic: "No, the empty topic is not allowed",
  empty_topic_only: "Only the empty topic is allowed",
};

export function topicsPolicyNotice(view: View, caller: UserRecord, before: ChannelRecord, after: ChannelRecord) {
  const setting = `"Allow posting to the *${emptyTopicName(view)}* topic?" setting`;
  const [from, to] = [policyNames[before.topicsPolicy], policyNames[after.topicsPolicy]];
  return `${silentMention(caller)} changed the ${setting} from **${from}** to **${to}**.`;
}

/**
 * @param before id of the group that held the permission
 * @param after the new holders of the permission
 */
export function postingNotice(view: View, caller: UserRecord, before: number, after: GroupSettingValue): string {
  const link = "[posting permissions](/help/channel-posting-policy)";
  const old = holders(view, shownGroupValue(view, before));
  return `${silentMention(caller)} changed the ${link} for this channel:\n\n* **Old**: ${old}\n* **New**: ${holders(view, after)}`;
}

function holders(view: View, value: GroupSettingValue): string {
  const groupIds = typeof value === "number" ? [value] : value.direct_subgroups;
  const people = typeof value === "number" ? [] : value.direct_members;
  const names = [
    ...groupIds.flatMap((id) => view.groups.get(id)?.name ?? []).map((name) => `@_*${name}*`),
    ...people.flatMap((id) => view.users.get(id) ?? []).map(silentMention),
  ];
  return names.length === 0 ? "nobody" : names.join(", ");
}

export function archivingNotice(channel: ChannelRecord, isArchived: boolean): string {
  return `Channel #**${channel.name}** has been ${isArchived ? "archived" : "unarchived"}.`;
}

/** The fence is longer than any run of backticks in the text, so the text cannot end it. */
function quoted(text: string): string {
  if (text === "") return "```` quote\n*No description.*\n````";
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(4, ...runs.map((length) => length + 1)));
  return `${fence} quote\n${text}\n${fence}`;
}
