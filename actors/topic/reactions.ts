/** Reactions to messages (public API: add-reaction, remove-reaction; D22): one row each, bounded per message. */

import { chooseEmoji, type EmojiChoice, findEmoji } from "../../domain/emoji-choice.ts";
import { findChangeable } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait, messageTraits } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { ReactionRecord } from "../../schemas/reactions.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  done,
  type Effect,
  effects,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { messageRows, type TopicContext } from "./context.ts";
import { policiesAfterReaction } from "./post-effects.ts";
import { changeAudience } from "./update-events.ts";

export function addReaction(
  caller: UserRecord,
  params: Params<"reaction.add">,
  view: View,
  { to }: Command<"reaction.add">,
  context: TopicContext,
): Outcome<TopicContext> {
  const found = findChangeable(view, caller, addressAs(to, "message").id, context);
  if (isRefusal(found)) return found;
  const { message } = found;
  const known = findEmoji(view, params);
  if (isRefusal(known)) return known;
  if (view.row("reactions", [message.id, caller.id, known.key]) !== undefined) return refuse.reactionAlreadyExists();
  const others = reactionsOf(view, message);
  // A name used in an existing reaction stays valid on this message even if the emoji was renamed since.
  const same = others.find(({ row }) => emojiKey(row.reactionType, row.emojiCode) === known.key);
  const chosen = same === undefined ? chooseEmoji(view, params) : nameOf(same.row);
  if (chosen.kind === "refused") return chosen;
  if (others.length >= limits.reactions_per_message_max) return refuse.badRequest("Too many reactions");
  const row: ReactionRecord = {
    emojiName: chosen.name,
    emojiCode: chosen.code,
    reactionType: chosen.reactionType,
    position: view.position,
  };
  return done({}, [
    effects.put("reactions", [message.id, caller.id, known.key], row),
    ...(others.length > 0 ? [] : marked(context, message, true)),
    reactionEvent(view, context, message, caller, "add", row),
    ...(found.channel === null ? [] : policiesAfterReaction(view, caller, found.channel, context.topic)),
  ]);
}

export function removeReaction(
  caller: UserRecord,
  { name, code, reactionType }: Params<"reaction.remove">,
  view: View,
  { to }: Command<"reaction.remove">,
  context: TopicContext,
): Outcome<TopicContext> {
  const found = findChangeable(view, caller, addressAs(to, "message").id, context);
  if (isRefusal(found)) return found;
  const { message } = found;
  if (name === null && code === null) {
    return refuse.badRequest("At least one of the following arguments must be present: emoji_name, emoji_code");
  }
  const others = reactionsOf(view, message);
  const own = others.filter(({ userId }) => userId === caller.id);
  // If only a name is given: the emoji with that name now, or the emoji of one's own reaction that was added under that
  // name.
  const sought = findEmoji(view, {
    name: name ?? "",
    code,
    reactionType: reactionType ?? (code === null ? null : "unicode_emoji"),
  });
  const reaction =
    own.find(({ key }) => !isRefusal(sought) && key === sought.key) ??
    (code === null ? own.find(({ row }) => row.emojiName === name) : undefined);
  if (reaction === undefined) return isRefusal(sought) ? sought : refuse.reactionDoesNotExist();
  return done({}, [
    effects.remove("reactions", [message.id, caller.id, reaction.key]),
    ...(others.length > 1 ? [] : marked(context, message, false)),
    reactionEvent(view, context, message, caller, "remove", reaction.row),
  ]);
}

interface Reaction {
  readonly userId: UserId;
  readonly key: string;
  readonly row: ReactionRecord;
}

function reactionsOf(view: View, message: MessageRecord): Reaction[] {
  if (!hasTrait(message.traits, "hasReactions")) return [];
  const range = { start: [message.id], end: [message.id + 1], limit: limits.reactions_per_message_max };
  return view.rows("reactions", range).map(({ key, row }) => ({ userId: key[1], key: key[2], row }));
}

function emojiKey(reactionType: string, code: string): string {
  return `${reactionType}:${code}`;
}

function nameOf({ emojiName: name, emojiCode: code, reactionType }: ReactionRecord): EmojiChoice {
  return { kind: "chosen", name, code, reactionType };
}

/** The message's row records whether it has reactions, so that readers need not look for them. */
function marked(context: TopicContext, message: MessageRecord, hasReactions: boolean): Effect[] {
  const others = message.traits & ~messageTraits.hasReactions;
  const traits = hasReactions ? others | messageTraits.hasReactions : others;
  return messageRows({ ...message, traits }, context.channelId);
}

function reactionEvent(
  view: View,
  context: TopicContext,
  message: MessageRecord,
  caller: UserRecord,
  op: "add" | "remove",
  row: ReactionRecord,
): Effect {
  const body = {
    op,
    user_id: caller.id,
    message_id: message.id,
    emoji_name: row.emojiName,
    emoji_code: row.emojiCode,
    reaction_type: row.reactionType,
  };
  return effects.emit("reaction", body, changeAudience(view, context, caller.id, message.id));
}

export const reactionsDecisions = {
  "reaction.add": forUser(addReaction),
  "reaction.remove": forUser(removeReaction),
} as const;
