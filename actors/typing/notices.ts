/**
 * Typing notices (spec section 6; realtime.md, Who gets what): start, stop, and the stop that the server sends when a
 * typist expires.
 */

import { mayPost } from "../../domain/message-rules.ts";
import { hasContentAccess } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { TypingTarget } from "../../schemas/presence.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { addressAs, type Command, command, type Params } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { checkDirectRecipients, checkInitiator, isSubscribedOrBot } from "../rules/posting-access.ts";
import { contextAt } from "../topic/context.ts";
import { checkEditTyping, editNotice } from "./edit-notices.ts";
import { channelRecipients, checkSharing, directRecipients } from "./recipients.ts";

export interface TypingContext {
  /** Expiry times by typist id. Bounded by `typing_typists_per_conversation_max`. */
  readonly typists: Readonly<Record<number, number>>;
}

export function startTyping(
  sender: UserRecord,
  { target }: Params<"typing.start">,
  view: View,
  asked: Command<"typing.start">,
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
        `typing:${conversationOf(asked)}:${sender.id}`,
        limits.typing_expiry_ms,
        command(asked.to, "typing.expire", { userId: sender.id, target }, null),
      ),
    ],
    { typists: { ...context.typists, [sender.id]: until } },
    "typing",
  );
}

export function stopTyping(
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

export function expireTyping(
  context: TypingContext,
  asked: Command<"typing.expire">,
  view: View,
): Outcome<TypingContext> {
  const { userId, target } = asked.params;
  const until = context.typists[userId];
  const sender = view.users.get(userId);
  if (until === undefined || sender === undefined) return done({}, []);
  return stopped(context, userId, notice(view, sender, target, "stop"));
}

function conversationOf(asked: Command): string {
  return addressAs(asked.to, "typing").conversation;
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
 * id; the addresses shown to each reader are filled in on delivery (src/edge/realtime/typing-events.ts).
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
