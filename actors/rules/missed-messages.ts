/**
 * Finds the users who miss a new message and stores it for their next email (D31; actors/user/missed-messages.ts).
 * Only users for whom the message can be relevant are candidates: participants, mentioned users, followers of the
 * topic and users who want emails about the channel, never all subscribers. Many candidates are examined in slices, so
 * that other commands are not delayed.
 *
 * Timers of a user's batch of missed messages (M8). Only the timer named in the row is valid; others are ignored when
 * they fire. No more timers are set than necessary (S3).
 *
 * Keeps the lowest of many ids in any order, for work that proceeds in slices by ascending id.
 */
import { isAway, type MessageInConversation, mailReason } from "../../domain/mail-reasons.ts";
import { topicHolders } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { MissedMessagesRecord } from "../../schemas/missed-messages.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";

/** Without duplicates. It holds a small multiple of `count` ids, and trims them occasionally. */
export class LowestIds {
  readonly #count: number;
  #kept = new Set<number>();
  /** Ids from here on are not among the lowest. */
  #ceiling = Number.POSITIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
  }

  add(id: number): void {
    if (id >= this.#ceiling) return;
    this.#kept.add(id);
    if (this.#kept.size >= 4 * this.#count) this.#cut();
  }

  #cut(): void {
    const lowest = this.ascending();
    this.#kept = new Set(lowest);
    this.#ceiling = (lowest.at(-1) ?? this.#ceiling) + 1;
  }

  ascending(): number[] {
    if (this.#kept.size === 0) return [];
    return [...this.#kept].sort((a, b) => a - b).slice(0, this.#count);
  }
}

/** The row with a new due time, and a timer for it unless the current timer fires earlier and will check again. */
export function dueAgain(view: View, userId: UserId, row: MissedMessagesRecord, dueAt: number): Effect[] {
  const firesBefore = row.timerDueAt > view.now && row.timerDueAt <= dueAt;
  if (firesBefore) return [effects.put("missedMessages", userId, { ...row, dueAt })];
  return [effects.put("missedMessages", userId, { ...row, dueAt, timerDueAt: dueAt }), setTimer(userId, dueAt)];
}

export function setTimer(userId: UserId, at: number): Effect {
  return effects.schedule(at, command({ actor: "user", id: userId }, "missed-messages.due", { at }, null));
}

/**
 * Whether the batch has lost its timer because the timer's command became a dead letter (M6). The next message sets a
 * new one.
 */
function hasLostTimer(view: View, row: MissedMessagesRecord): boolean {
  return row.messageIds.length > 0 && row.timerDueAt + limits.missed_timer_late_ms_max < view.now;
}

/** The first slice, and a command for the next one if any users are left. */
export function rememberMissed(placed: MessageInConversation, view: View, afterUserId = 0): Effect[] {
  const { ids, nextAfter } = concerned(placed, view, afterUserId);
  const missing = ids.filter((id) => isMissed(placed, view, id)).flatMap((id) => missed(view, id, placed.message.id));
  if (nextAfter === null) return missing;
  const rest = { messageId: placed.message.id, afterUserId: nextAfter };
  return [...missing, effects.send(command({ actor: "realm" }, "missed-messages.collect", rest, null))];
}

/** After an edit that newly mentions users by name. Users who already had a reason to get an email are skipped. */
export function rememberMentioned(before: MessageRecord, after: MessageInConversation, view: View): Effect[] {
  const added = after.message.mentionedUserIds.filter((id) => !before.mentionedUserIds.includes(id));
  const former = messageInConversation(view, before.id);
  return added
    .filter((id) => isMissed(after, view, id) && (former === null || !isMissed(former, view, id)))
    .flatMap((id) => missed(view, id, after.message.id));
}

/** null: the message was deleted. */
export function messageInConversation(
  view: View,
  messageId: MessageId,
): (MessageInConversation & { conversation: ConversationRecord }) | null {
  const message = view.row("messages", messageId);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined) return null;
  const { channelId, topic, userIds } = conversation;
  return { message, conversation, channelId, topic, userIds, participantIds: participantsOf(view, message) };
}

function participantsOf(view: View, { id, traits }: MessageRecord): readonly number[] {
  if (!hasTrait(traits, "mentionsTopic") || !hasTrait(traits, "hasAlerts")) return [];
  return view.row("messageAlerts", id)?.participantIds ?? [];
}

function isMissed(placed: MessageInConversation, view: View, userId: UserId): boolean {
  const user = view.users.get(userId);
  return user !== undefined && isAway(view, userId) && mailReason(view, user, placed) !== null;
}

/** Starts or extends the user's batch. The email is due a fixed time after the first message (M8). */
function missed(view: View, userId: UserId, messageId: MessageId): Effect[] {
  const row = view.row("missedMessages", userId);
  if (row !== undefined && row.messageIds.length > 0) {
    const ids = [...row.messageIds.filter((id) => id !== messageId), messageId].sort((a, b) => a - b);
    const messageIds = ids.slice(-limits.missed_messages_per_user_max);
    const grown = { ...row, messageIds, isCut: row.isCut || messageIds.length < ids.length };
    if (hasLostTimer(view, row)) return dueAgain(view, userId, grown, view.now);
    return [effects.put("missedMessages", userId, grown)];
  }
  const { hourStartedAt, mailsInHour, timerDueAt } = row ?? { hourStartedAt: 0, mailsInHour: 0, timerDueAt: 0 };
  const startedAt = view.now;
  const dueAt = startedAt + batchingMs(view, userId);
  const begun = { messageIds: [messageId], isCut: false, startedAt, dueAt, timerDueAt, hourStartedAt, mailsInHour };
  return dueAgain(view, userId, begun, dueAt);
}

function batchingMs(view: View, userId: UserId): number {
  const user = view.users.get(userId) ?? { settings: {} };
  return userSetting(user, "email_notifications_batching_period_seconds") * 1000;
}

interface Slice {
  /** Ascending. */
  readonly ids: readonly number[];
  /** null: no users are left. */
  readonly nextAfter: number | null;
}

function concerned(placed: MessageInConversation, view: View, afterUserId: UserId): Slice {
  const limit = limits.missed_users_per_command_max;
  const found = new LowestIds(limit + 1);
  const add = (ids: Iterable<number>) => {
    for (const id of ids) if (id > afterUserId) found.add(id);
  };
  let upTo = Number.MAX_SAFE_INTEGER;
  if (placed.channelId === null) add(placed.userIds ?? []);
  else {
    addMentioned(placed, view, add);
    add(emailSubscribers(view, placed.channelId));
    // The page of followers is full, so the next slice continues after its last id.
    const holders = topicHolders(view, placed.channelId, placed.topic, { afterUserId, limit });
    if (holders.length === limit) upTo = holders.at(-1)?.userId ?? upTo;
    add(holders.filter(({ policy }) => policy === topicPolicies.followed).map(({ userId }) => userId));
  }
  const all = found.ascending().filter((id) => id <= upTo);
  const ids = all.slice(0, limit);
  if (all.length > limit) return { ids, nextAfter: ids.at(-1) ?? upTo };
  return { ids, nextAfter: upTo === Number.MAX_SAFE_INTEGER ? null : upTo };
}

function addMentioned(
  { message, channelId, participantIds }: MessageInConversation,
  view: View,
  add: (ids: Iterable<number>) => void,
) {
  const subscribers = view.subscriptions.ofChannel(channelId ?? 0);
  add(message.mentionedUserIds);
  add(participantIds);
  if (hasTrait(message.traits, "mentionsChannel")) add(subscribers);
  for (const groupId of message.mentionedGroupIds) {
    const scope = view.groups.scope(groupId);
    if (scope === undefined) continue;
    if (scope.systemNames.length > 0) add(subscribers);
    for (const id of scope.ids) add(view.groups.membersOf(id));
  }
}

/**
 * Users who want emails about the channel, by their setting for it or their global setting. Iterates over the smaller
 * set.
 */
function* emailSubscribers(view: View, channelId: ChannelId): Iterable<number> {
  const { everywhere } = view.emailSubscriptions;
  const subscribers = view.subscriptions.ofChannel(channelId);
  yield* view.emailSubscriptions.inChannel(channelId);
  const isFewer = everywhere.size < subscribers.size;
  const [walked, other] = isFewer ? [everywhere, subscribers] : [subscribers, everywhere];
  if (other.size > 0) for (const id of walked) if (other.has(id)) yield id;
}
