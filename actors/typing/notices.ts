/** Typing notices (spec section 6; realtime.md, Who gets what): start, stop, and the stop of who went silent. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { Audience, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { apiEmail } from "../../src/domain/people.ts";
import { hasContentAccess } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command, type TypingTarget } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { hasStrangers, strangersRefused } from "../topic/direct-access.ts";
import type { TypingContext } from "./machine.ts";

export function startTyping(
  context: TypingContext,
  asked: Command<"typing.start">,
  view: View,
): Outcome<TypingContext> {
  const sender = callerOf(asked, view);
  if (sender === null) return refuse.noSuchUser();
  const { target } = asked.params;
  const refused = checkTyping(view, sender, target);
  if (refused !== null) return refused;
  const isNew = context.typists[sender.id] === undefined;
  if (isNew && Object.keys(context.typists).length >= limits.typing_typists_per_conversation_max) return done({}, []);
  const until = view.now + limits.typing_expiry_ms;
  return done(
    {},
    [
      notice(view, sender, target, "start"),
      effects.wake(
        `typing:${conversationOf(asked)}:${sender.id}`,
        limits.typing_expiry_ms,
        command(asked.to, "typing.expire", { userId: sender.id, target }, null),
      ),
    ],
    { typists: { ...context.typists, [sender.id]: until } },
  );
}

export function stopTyping(context: TypingContext, asked: Command<"typing.stop">, view: View): Outcome<TypingContext> {
  const sender = callerOf(asked, view);
  if (sender === null) return refuse.noSuchUser();
  const { target } = asked.params;
  const refused = checkTyping(view, sender, target);
  if (refused !== null) return refused;
  return done({}, [notice(view, sender, target, "stop")], { typists: without(context.typists, sender.id) });
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
  return done({}, [notice(view, sender, target, "stop")], { typists: without(context.typists, userId) });
}

function conversationOf(asked: Command): string {
  return (asked.to as { conversation: string }).conversation;
}

function without(typists: Readonly<Record<number, number>>, userId: number): Record<number, number> {
  const left = { ...typists };
  delete left[userId];
  return left;
}

function checkTyping(view: View, sender: UserRecord, target: TypingTarget): Refusal | null {
  if (target.kind === "direct") {
    if (!userSetting(sender, "send_private_typing_notifications")) {
      return refuse.badRequest("User has disabled typing notifications for direct messages");
    }
    for (const id of target.userIds) {
      if (view.users.get(id) === undefined) return refuse.badRequest(`Invalid user ID ${id}`);
    }
    return hasStrangers(view, sender, target.userIds) ? strangersRefused() : null;
  }
  if (!userSetting(sender, "send_stream_typing_notifications")) {
    return refuse.badRequest("User has disabled typing notifications for channel messages");
  }
  const channel = view.channels.get(target.channelId);
  const isReadable = channel !== undefined && !channel.isArchived && hasContentAccess(view, sender, channel);
  return isReadable ? null : refuse.invalidChannelId();
}

/** Latest wins: an undelivered older notice of the same typist in the same conversation is dropped. */
function notice(view: View, sender: UserRecord, target: TypingTarget, op: "start" | "stop") {
  const person = (user: UserRecord) => ({ user_id: user.id, email: apiEmail(user) });
  const body =
    target.kind === "direct"
      ? {
          op,
          message_type: "direct",
          sender: person(sender),
          recipients: target.userIds.flatMap((id) => {
            const user = view.users.get(id);
            return user === undefined ? [] : [person(user)];
          }),
        }
      : { op, message_type: "stream", sender: person(sender), stream_id: target.channelId, topic: target.topic };
  const place = target.kind === "direct" ? target.userIds.join(",") : `${target.channelId}:${target.topic}`;
  return effects.signal("typing", body, audienceOf(view, sender, target), `typing:${place}:${sender.id}`);
}

/** The others who want to know. Large channels get none, as on the public server. */
function audienceOf(view: View, sender: UserRecord, target: TypingTarget): Audience {
  const candidates = target.kind === "direct" ? target.userIds : view.subscriptions.ofChannel(target.channelId);
  const size = target.kind === "direct" ? target.userIds.length : view.subscriptions.ofChannel(target.channelId).size;
  if (target.kind === "channel" && size > limits.typing_channel_subscribers_max) return { to: "users", ids: [] };
  const ids: number[] = [];
  for (const id of candidates) {
    const user = view.users.get(id);
    if (id !== sender.id && user?.isActive === true && userSetting(user, "receives_typing_notifications")) ids.push(id);
  }
  return { to: "users", ids };
}
