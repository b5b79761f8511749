/**
 * Who misses a message that was posted: it is remembered for their next mail (D31; actors/user/missed-messages.ts). Asked are only
 * people whom the message may concern by what it is: participants, whoever it mentions, followers of the topic and who wants
 * mails about the channel, never all subscribers. Many of them are asked in slices, so that nobody waits for all.
 */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { LowestIds } from "../../src/domain/lowest-ids.ts";
import { isAway, mailReason, type Placed } from "../../src/domain/mail-reasons.ts";
import { topicHolders, topicPolicies } from "../../src/domain/user-topics.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { dueAgain, isForgotten } from "../user/missed-timers.ts";

/** The first slice, and a command for the next where there is one. */
export function rememberMissed(placed: Placed, view: View, afterUserId = 0): Effect[] {
  const { ids, nextAfter } = concerned(placed, view, afterUserId);
  const missing = ids.filter((id) => isMissed(placed, view, id)).flatMap((id) => missed(view, id, placed.message.id));
  if (nextAfter === null) return missing;
  const rest = { messageId: placed.message.id, afterUserId: nextAfter };
  return [...missing, effects.tell(command({ actor: "realm" }, "missed-messages.gather", rest, null))];
}

/** The next slice. The message may be gone by now, or somewhere else. */
export function gatherMissed(_context: unknown, asked: Command<"missed-messages.gather">, view: View): Outcome {
  const { messageId, afterUserId } = asked.params;
  const placed = placedMessage(view, messageId);
  return done({}, placed === null ? [] : rememberMissed(placed, view, afterUserId));
}

/** An edit that mentions people by name who were not mentioned before; whoever had a reason to be told was told. */
export function rememberMentioned(before: MessageRecord, after: Placed, view: View): Effect[] {
  const added = after.message.mentionedUserIds.filter((id) => !before.mentionedUserIds.includes(id));
  const former = placedMessage(view, before.id);
  return added
    .filter((id) => isMissed(after, view, id) && (former === null || !isMissed(former, view, id)))
    .flatMap((id) => missed(view, id, after.message.id));
}

/** null: it is gone. */
export function placedMessage(view: View, messageId: number): (Placed & { conversation: ConversationRecord }) | null {
  const message = view.row("messages", messageId);
  const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
  if (message === undefined || conversation === undefined) return null;
  const { channelId, topic, userIds } = conversation;
  return { message, conversation, channelId, topic, userIds, participantIds: participantsOf(view, message) };
}

function participantsOf(view: View, { id, traits }: MessageRecord): readonly number[] {
  if (!hasTrait(traits, "mentionsTopic") || !hasTrait(traits, "callsAttention")) return [];
  return view.row("messageAttention", id)?.participantIds ?? [];
}

function isMissed(placed: Placed, view: View, userId: number): boolean {
  const user = view.users.get(userId);
  return user !== undefined && isAway(view, userId) && mailReason(view, user, placed) !== null;
}

/** The person's batch begins, or grows: the mail falls due by when its first message came (M8). */
function missed(view: View, userId: number, messageId: number): Effect[] {
  const row = view.row("missedMessages", userId);
  if (row !== undefined && row.messageIds.length > 0) {
    const ids = [...row.messageIds.filter((id) => id !== messageId), messageId].sort((a, b) => a - b);
    const messageIds = ids.slice(-limits.missed_messages_per_person_max);
    const grown = { ...row, messageIds, isCut: row.isCut || messageIds.length < ids.length };
    if (isForgotten(view, row)) return dueAgain(view, userId, grown, view.now);
    return [effects.put("missedMessages", userId, grown)];
  }
  const { hourStartedAt, mailsInHour, ringsAt } = row ?? { hourStartedAt: 0, mailsInHour: 0, ringsAt: 0 };
  const startedAt = view.now;
  const dueAt = startedAt + batchingMs(view, userId);
  const begun = { messageIds: [messageId], isCut: false, startedAt, dueAt, ringsAt, hourStartedAt, mailsInHour };
  return dueAgain(view, userId, begun, dueAt);
}

function batchingMs(view: View, userId: number): number {
  const user = view.users.get(userId) ?? { settings: {} };
  return userSetting(user, "email_notifications_batching_period_seconds") * 1000;
}

interface Slice {
  /** Ascending. */
  readonly ids: readonly number[];
  /** null: nobody is left. */
  readonly nextAfter: number | null;
}

function concerned(placed: Placed, view: View, afterUserId: number): Slice {
  const limit = limits.missed_people_per_command_max;
  const found = new LowestIds(limit + 1);
  const add = (ids: Iterable<number>) => {
    for (const id of ids) if (id > afterUserId) found.add(id);
  };
  let upTo = Number.MAX_SAFE_INTEGER;
  if (placed.channelId === null) add(placed.userIds ?? []);
  else {
    addMentioned(placed, view, add);
    add(wishers(view, placed.channelId));
    // Of those beyond a full page nothing is known yet.
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
  { message, channelId, participantIds }: Placed,
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

/** Whoever wants mails about the channel, by what they set for it or for all: the smaller set is walked through. */
function* wishers(view: View, channelId: number): Iterable<number> {
  const { everywhere } = view.mailWishes;
  const subscribers = view.subscriptions.ofChannel(channelId);
  yield* view.mailWishes.inChannel(channelId);
  const isFewer = everywhere.size < subscribers.size;
  const [walked, other] = isFewer ? [everywhere, subscribers] : [subscribers, everywhere];
  if (other.size > 0) for (const id of walked) if (other.has(id)) yield id;
}
