/** Submessages: polls and to-do lists (public API: /submessage). One row each, bounded per message. */

import { stepFault } from "../../domain/message-content.ts";
import { findChangeable } from "../../domain/message-rules.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import { parseJson } from "../../schemas/json.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait, messageTraits } from "../../schemas/message-traits.ts";
import type { SubmessageRecord, WidgetRecord } from "../../schemas/submessages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { addressAs, type Command, done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { submessageRows } from "../rules/message-rows.ts";
import { messageRows, type TopicContext } from "./context.ts";
import { policiesAfterReaction } from "./post-effects.ts";
import { changeAudience } from "./update-events.ts";

export function addSubmessage(
  caller: UserRecord,
  { msgType, content }: Params<"submessage.add">,
  view: View,
  { to }: Command<"submessage.add">,
  context: TopicContext,
): Outcome<TopicContext> {
  const found = findChangeable(view, caller, addressAs(to, "message").id, context);
  if (isRefusal(found)) return found;
  const { message, channel } = found;
  const isAuthor = message.senderId === caller.id;
  const widget = view.row("widgets", message.id);
  if (widget === undefined && !isAuthor) return refuse.badRequest("You cannot attach a submessage to this message.");
  const data = parseJson(content);
  if (data === undefined) return refuse.badRequest("Invalid json for submessage");
  const fault = stepFault(widget?.widgetType ?? "", data, isAuthor);
  if (fault !== null) return refuse.badRequest(fault);
  if (isFull(widget, content)) return refuse.badRequest("Too many submessages");
  const row: SubmessageRecord = { senderId: caller.id, msgType, content };
  const marked = { ...message, traits: message.traits | messageTraits.hasSubmessages };
  const id = view.counter("submessage") + 1;
  const body = { msg_type: msgType, message_id: message.id, submessage_id: id, sender_id: caller.id, content };
  return done({}, [
    ...submessageRows(view, message.id, widget, row),
    ...(hasTrait(message.traits, "hasSubmessages") ? [] : messageRows(marked, context.channelId)),
    effects.emit("submessage", body, changeAudience(view, context, caller.id, message.id)),
    // A vote counts as participation, as on the public server.
    ...(channel === null ? [] : policiesAfterReaction(view, caller, channel, context.topic)),
  ]);
}

function isFull(widget: WidgetRecord | undefined, content: string): boolean {
  const { count, characters } = widget ?? { count: 0, characters: 0 };
  const { submessages_per_message_max: countMax, submessage_characters_per_message_max: charactersMax } = limits;
  return count >= countMax || characters + content.length > charactersMax;
}

export const submessagesDecisions = {
  "submessage.add": forUser(addSubmessage),
} as const;
