/**
 * A scheduled message is due: its conversation decides as if its writer sent it now (M3, M8). One command does it all: the end of
 * the timer, the end of the row and the post are one nested transaction, so that no crash comes between, and an edit or a
 * deletion is before it or after it in the line (M7), never in the middle.
 */
import { parseMessage } from "../../src/domain/message-content.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { failureEffects, postOf, tellScheduled } from "../scheduled-messages.ts";
import type { TopicContext } from "./machine.ts";
import { postMessage } from "./messages.ts";

export function deliverScheduledMessage(
  context: TopicContext,
  { params: { userId, id, timer } }: Command<"scheduled-messages.due">,
  view: View,
): Outcome<TopicContext> {
  const row = view.row("scheduledMessages", [userId, id]);
  const writer = view.users.get(userId);
  // Deleted, or changed: then another timer counts.
  if (row === undefined || row.timer !== timer || writer === undefined) return done({}, []);
  const post = postOf(row, parseMessage(view, writer, row.content, row.siteUrl));
  const outcome = postMessage(context, post, view);
  if (outcome.kind === "refused") return done({}, failureEffects(view, row, outcome.msg));
  const ended = [
    effects.remove("scheduledMessages", [userId, id]),
    tellScheduled(userId, { op: "remove", scheduled_message_id: id }),
  ];
  return done({}, [...outcome.effects, ...ended], outcome.context);
}
