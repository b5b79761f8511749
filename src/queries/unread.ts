/** Unread and starred messages in POST /register (behaviour 8; OpenAPI, register: unread_msgs, starred_messages). */

import { isMentioned, isWildcardMentioned } from "../../domain/message-flags.ts";
import { compareText } from "../../domain/text.ts";
import { isTopicMuted, shownTopic } from "../../domain/topics.ts";
import { collectUnread, type UnreadMessage } from "../../domain/unread.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { personalFlags } from "../../schemas/message-flags.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import type { RegisterState } from "../../schemas/register.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

type UnreadMessages = NonNullable<RegisterState["unread_msgs"]>;

interface Group {
  readonly conversation: ConversationRecord;
  readonly isMuted: boolean;
  /** Listed, but not counted (D280). */
  readonly isArchived: boolean;
  readonly ids: number[];
}

export function unreadMessages(view: View, user: UserRecord, allowsEmptyTopicName: boolean): UnreadMessages {
  const { messages, isTruncated } = collectUnread(view, user.id);
  const groups = new Map<number, Group>();
  const isMuted = muteTest(view, user.id);
  const mentions: number[] = [];
  for (const message of messages) {
    const group = groupOf(view, groups, message.conversation, isMuted);
    group.ids.push(message.id);
    if (calls(view, user, message, group.isMuted)) mentions.push(message.id);
  }
  const all = [...groups.values()];
  return {
    count: all.reduce((sum, { ids, isMuted, isArchived }) => sum + (isMuted || isArchived ? 0 : ids.length), 0),
    ...directGroups(user, all),
    streams: channelGroups(view, all, allowsEmptyTopicName),
    mentions,
    old_unreads_missing: isTruncated,
  };
}

type MuteTest = (channelId: number, topic: string) => boolean;

/** Few users have topic policies; without them the channel's setting suffices. */
function muteTest(view: View, userId: number): MuteTest {
  const hasPolicies = view.keys("userTopics", { start: [userId], end: [userId + 1], limit: 1 }).length > 0;
  if (hasPolicies) return (channelId, topic) => isTopicMuted(view, userId, channelId, topic);
  return (channelId) => view.subscriptions.get(userId, channelId)?.isMuted === true;
}

function groupOf(view: View, groups: Map<number, Group>, conversation: ConversationRecord, test: MuteTest): Group {
  const known = groups.get(conversation.id);
  if (known !== undefined) return known;
  const { channelId, topic } = conversation;
  const isMuted = channelId !== null && test(channelId, topic);
  const isArchived = channelId !== null && view.channels.get(channelId)?.isArchived === true;
  const group = { conversation, isMuted, isArchived, ids: [] };
  groups.set(conversation.id, group);
  return group;
}

/** Personal and group mentions always count, wildcard mentions only if the topic is not muted. */
function calls(view: View, user: UserRecord, { id, traits }: UnreadMessage, isMuted: boolean): boolean {
  const isForAll = hasTrait(traits, "mentionsChannel") || hasTrait(traits, "mentionsTopic");
  if (!isForAll && !hasTrait(traits, "mentionsPeople")) return false;
  const message = view.row("messages", id);
  if (message === undefined) return false;
  return isMentioned(view, user, message) || (!isMuted && isWildcardMentioned(view, user, message));
}

function directGroups(user: UserRecord, groups: readonly Group[]) {
  const pms: { other_user_id: number; sender_id: number; unread_message_ids: readonly number[] }[] = [];
  const huddles: { user_ids_string: string; unread_message_ids: readonly number[] }[] = [];
  for (const { conversation, ids } of groups) {
    const { userIds } = conversation;
    if (userIds === null) continue;
    if (userIds.length > 2) huddles.push({ user_ids_string: userIds.join(","), unread_message_ids: ids });
    else {
      const other = userIds.find((id) => id !== user.id) ?? user.id;
      pms.push({ other_user_id: other, sender_id: other, unread_message_ids: ids });
    }
  }
  return {
    pms: pms.sort((a, b) => a.other_user_id - b.other_user_id),
    huddles: huddles.sort((a, b) => compareText(a.user_ids_string, b.user_ids_string)),
  };
}

/** There may be thousands of topics, so this uses loops without a list for each. */
function channelGroups(view: View, groups: readonly Group[], allowsEmptyTopicName: boolean) {
  const byChannel = new Map<number, { readonly folded: string; readonly topic: string; readonly ids: number[] }[]>();
  for (const { conversation, ids } of groups) {
    const { channelId, topic } = conversation;
    if (channelId === null) continue;
    const entry = { folded: fold(topic), topic, ids };
    const known = byChannel.get(channelId);
    if (known === undefined) byChannel.set(channelId, [entry]);
    else known.push(entry);
  }
  const streams: { stream_id: number; topic: string; unread_message_ids: readonly number[] }[] = [];
  for (const channelId of [...byChannel.keys()].sort((a, b) => a - b)) {
    for (const { topic, ids } of (byChannel.get(channelId) ?? []).sort(byFolded)) {
      streams.push({
        stream_id: channelId,
        topic: shownTopic(view, topic, allowsEmptyTopicName),
        unread_message_ids: ids,
      });
    }
  }
  return streams;
}

function byFolded(a: { readonly folded: string }, b: { readonly folded: string }): number {
  return a.folded < b.folded ? -1 : 1;
}

/** The newest starred messages, ascending, including those in channels that the user has left. */
export const starredMessagesState: Section<"starred_messages"> = (view, user) => {
  const range = {
    start: [user.id, personalFlags.starred + 1],
    end: [user.id, personalFlags.starred],
    reverse: true,
    limit: limits.starred_messages_shown_max,
  };
  const starred = view.keys("messageFlags", range).map(([, , id]) => id);
  return { starred_messages: starred.reverse() };
};
