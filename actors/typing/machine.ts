/**
 * The typists in one conversation (spec section 6): volatile (E4). A typist whose client sends nothing for a while
 * expires.
 *
 * silent --typing.start--> typing --last typist stops or expires--> silent
 *
 * Both states accept every command: clients repeat and lose notices, so a stop without a start is no error.
 *
 * Typing notices (spec section 6; realtime.md, Who gets what): start, stop, and the stop that the server sends when a
 * typist expires.
 *
 * Decides which users share and which receive typing notices (spec 2.3, 6; realtime.md, Who gets what), for new
 * messages and for edits.
 *
 * Typing notices while a message is edited (public API: set-typing-status-for-message-edit). They are sent to the
 * users who would receive the edit and who want typing notices.
 */

import { checkContentEdit, findChangeable, mayPost } from "../../domain/message-rules.ts";
import { hasMuted } from "../../domain/muted-users.ts";
import { canReadMessage, hasContentAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { TypingTarget } from "../../schemas/presence.ts";
import type { Audience } from "../../schemas/runtime.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  command,
  done,
  type Effect,
  effects,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { decide, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { checkDirectRecipients, checkInitiator, isSubscribedOrBot } from "../rules/posting-access.ts";
import { contextAt } from "../topic/context.ts";

/** Rejects the notice if the sender may not edit the message. */
function checkEditTyping(view: View, sender: UserRecord, messageId: MessageId): Refusal | null {
  const place = placeOf(view, messageId);
  const found = findChangeable(view, sender, messageId, place);
  if (isRefusal(found)) return found;
  const refused = checkContentEdit(view, sender, found.message);
  if (refused !== null) return refused;
  return checkSharing(sender, found.channel === null);
}

/** If the message has been deleted, no notice is needed: clients have received the deletion. */
function editNotice(view: View, sender: UserRecord, messageId: MessageId, op: "start" | "stop"): Effect[] {
  const message = view.row("messages", messageId);
  const place = placeOf(view, messageId);
  if (message === undefined || place === null) return [];
  const recipient =
    place.channelId === null
      ? { type: "direct" as const, user_ids: place.userIds ?? [] }
      : { type: "channel" as const, channel_id: place.channelId, topic: place.topic };
  const body = { op, sender_id: sender.id, message_id: messageId, recipient };
  const audience = { to: "users", ids: listeners(view, sender, message, place) } as const;
  return [effects.emitVolatile("typing_edit_message", body, audience, `typing_edit:${messageId}:${sender.id}`)];
}

function placeOf(view: View, messageId: MessageId): ConversationRecord | null {
  const message = view.row("messages", messageId);
  return message === undefined ? null : (view.row("conversations", message.conversationId) ?? null);
}

/** In protected history, only users who received the message (S1). */
function listeners(view: View, sender: UserRecord, message: MessageRecord, place: ConversationRecord): number[] {
  const wanting =
    place.userIds === null
      ? channelRecipients(view, sender, place.channelId ?? 0)
      : recipientsAmong(view, sender, place.userIds);
  return wanting.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && canReadMessage(view, user, message);
  });
}

function checkSharing(sender: UserRecord, isDirect: boolean): Refusal | null {
  if (isDirect) {
    return userSetting(sender, "send_private_typing_notifications")
      ? null
      : refuse.badRequest("User has disabled typing notifications for direct messages");
  }
  return userSetting(sender, "send_stream_typing_notifications")
    ? null
    : refuse.badRequest("User has disabled typing notifications for channel messages");
}

/** Ids of the active candidates, without the typist, who want typing notices and have not muted the typist. */
function recipientsAmong(view: View, sender: UserRecord, candidates: Iterable<number>): number[] {
  const found: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (user === undefined || id === sender.id || !user.isActive) continue;
    if (userSetting(user, "receives_typing_notifications") && !hasMuted(view, id, sender.id)) found.push(id);
  }
  return found;
}

/** All participants, including the typist's own clients, as on the public server. */
function directRecipients(view: View, sender: UserRecord, userIds: readonly UserId[]): number[] {
  const others = recipientsAmong(view, sender, userIds);
  return userSetting(sender, "receives_typing_notifications") ? [...others, sender.id] : others;
}

/** Large channels have no typing notices, as on the public server. */
function channelRecipients(view: View, sender: UserRecord, channelId: ChannelId): number[] {
  const subscribers = view.subscriptions.ofChannel(channelId);
  return subscribers.size > limits.typing_channel_subscribers_max ? [] : recipientsAmong(view, sender, subscribers);
}

interface TypingContext {
  /** Expiry times by typist id. Bounded by `typing_typists_per_conversation_max`. */
  readonly typists: Readonly<Record<number, number>>;
}

function startTyping(
  sender: UserRecord,
  { target }: Params<"typing.start">,
  view: View,
  request: Command<"typing.start">,
  context: TypingContext,
): Outcome<TypingContext> {
  const refused = checkTyping(view, sender, target);
  if (refused !== null) return refused;
  const isNew = context.typists[sender.id] === undefined;
  if (isNew && Object.keys(context.typists).length >= limits.typing_typists_per_conversation_max) return done({}, []);
  const until = view.now + limits.typing_expiry_ms;
  return done(
    {},
    [
      ...notice(view, sender, target, "start"),
      effects.setVolatileTimer(
        `typing:${conversationOf(request)}:${sender.id}`,
        limits.typing_expiry_ms,
        command(request.to, "typing.expire", { userId: sender.id, target }, null),
      ),
    ],
    { typists: { ...context.typists, [sender.id]: until } },
    "typing",
  );
}

function stopTyping(
  sender: UserRecord,
  { target }: Params<"typing.stop">,
  view: View,
  _asked: unknown,
  context: TypingContext,
): Outcome<TypingContext> {
  const refused = checkTyping(view, sender, target);
  if (refused !== null) return refused;
  return stopped(context, sender.id, notice(view, sender, target, "stop"));
}

function expireTyping(context: TypingContext, request: Command<"typing.expire">, view: View): Outcome<TypingContext> {
  const { userId, target } = request.params;
  const until = context.typists[userId];
  const sender = view.users.get(userId);
  if (until === undefined || sender === undefined) return done({}, []);
  return stopped(context, userId, notice(view, sender, target, "stop"));
}

function conversationOf(request: Command): string {
  return addressAs(request.to, "typing").conversation;
}

function stopped({ typists }: TypingContext, userId: UserId, notices: Effect[]): Outcome<TypingContext> {
  const left = { ...typists };
  delete left[userId];
  return done({}, notices, { typists: left }, Object.keys(left).length === 0 ? "silent" : "typing");
}

/** Rejects notices from users who may not post in the conversation. */
function checkTyping(view: View, sender: UserRecord, target: TypingTarget): Refusal | null {
  if (target.kind === "edit") return checkEditTyping(view, sender, target.messageId);
  const unshared = checkSharing(sender, target.kind === "direct");
  if (unshared !== null) return unshared;
  if (target.kind === "channel") return checkChannel(view, sender, target.channelId);
  const conversation = contextAt({ actor: "direct", userIds: target.userIds }, view);
  return checkDirectRecipients(view, sender, target.userIds) ?? checkInitiator(conversation, view, sender);
}

/**
 * D24: a channel in which the sender may not post for lack of access is answered like a channel that does not exist.
 */
function checkChannel(view: View, sender: UserRecord, channelId: ChannelId): Refusal | null {
  const channel = view.channels.get(channelId);
  if (channel === undefined || channel.isArchived) return refuse.invalidChannelId();
  const hasAccess = channel.isPrivate
    ? isSubscribedOrBot(view, sender, channel)
    : hasContentAccess(view, sender, channel);
  if (!hasAccess) return refuse.invalidChannelId();
  return mayPost(view, sender, channel)
    ? null
    : refuse.badRequest("You do not have permission to post in this channel.");
}

/**
 * Latest wins: an undelivered older notice of the same typist in the same conversation is dropped. Users are named by
 * id; the addresses shown to each reader are filled in on delivery (src/edge/realtime/event-builders.ts).
 */
function notice(view: View, sender: UserRecord, target: TypingTarget, op: "start" | "stop"): Effect[] {
  if (target.kind === "edit") return editNotice(view, sender, target.messageId, op);
  const body =
    target.kind === "direct"
      ? {
          op,
          message_type: "direct" as const,
          sender_id: sender.id,
          recipient_ids: target.userIds,
        }
      : { op, message_type: "stream" as const, sender_id: sender.id, stream_id: target.channelId, topic: target.topic };
  const place = target.kind === "direct" ? target.userIds.join(",") : `${target.channelId}:${target.topic}`;
  return [effects.emitVolatile("typing", body, audienceOf(view, sender, target), `typing:${place}:${sender.id}`)];
}

function audienceOf(
  view: View,
  sender: UserRecord,
  target: Exclude<TypingTarget, { readonly kind: "edit" }>,
): Audience {
  const ids =
    target.kind === "direct"
      ? directRecipients(view, sender, target.userIds)
      : channelRecipients(view, sender, target.channelId);
  return { to: "users", ids };
}

const accepted = decide<TypingContext>({
  "typing.start": forUser(startTyping),
  "typing.stop": forUser(stopTyping),
  "typing.expire": expireTyping,
});

const last = { silent: "nobody else is typing" };

export const typingMachine = setupMachine<TypingContext>().createMachine({
  id: "typing",
  context: { typists: {} },
  initial: "silent",
  states: {
    silent: { on: lead(accepted, { "typing.start": { typing: "the typist may post here" } }) },
    typing: { on: lead(accepted, { "typing.stop": last, "typing.expire": last }) },
  },
  on: rejectUnhandled,
});
