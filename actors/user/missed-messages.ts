/**
 * Turns missed messages into emails, one per conversation, as on the public server (D31). Messages are checked when the
 * email is due: those that were read, deleted or hidden meanwhile, or whose emails were disabled, are not included.
 */

import { mailReason } from "../../domain/mail-reasons.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import type { MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { MissedMessagesRecord } from "../../schemas/missed-messages.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  done,
  type Effect,
  effects,
  forServer,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { mailEffects } from "../rules/mail.ts";
import { dueAgain, messageInConversation, setTimer } from "../rules/missed-messages.ts";
import { type Missed, missedMails } from "./missed-mails.ts";

const hourMs = 60 * 60 * 1000;

export function mailMissedMessages(
  params: Params<"missed-messages.due">,
  view: View,
  command: Command<"missed-messages.due">,
): Outcome {
  const userId = addressAs(command.to, "user").id;
  const row = view.row("missedMessages", userId);
  // An obsolete timer: the row was postponed or removed since.
  if (row === undefined || row.timerDueAt !== params.at) return done({}, []);
  if (row.dueAt > view.now) return done({}, dueAgain(view, userId, row, row.dueAt));
  if (hasBacklog(view)) return done({}, dueAgain(view, userId, row, view.now + limits.missed_mails_pause_ms));
  const user = view.users.get(userId);
  return done({}, user === undefined ? [effects.remove("missedMessages", userId)] : mailsDue(view, user, row));
}

/** A deactivated user gets no emails. */
export function forgetMissedMessages(_params: unknown, _view: View, command: Command<"missed-messages.due">): Outcome {
  const userId = addressAs(command.to, "user").id;
  return done({}, [effects.remove("missedMessages", userId)]);
}

/**
 * Whether there is a backlog of emails, for example because the mail server accepts none. Counts only if the id range
 * allows so many.
 */
function hasBacklog(view: View): boolean {
  const max = limits.missed_mails_pending_max;
  const [oldest] = view.keys("mails", { limit: 1 });
  if (oldest === undefined || view.counter("mail") - oldest + 1 < max) return false;
  return view.keys("mails", { limit: max }).length === max;
}

/** Sends as many emails as the hourly limit allows; the others wait for the next hour. */
function mailsDue(view: View, user: UserRecord, row: MissedMessagesRecord): Effect[] {
  const isSameHour = view.now - row.hourStartedAt < hourMs;
  const hourStartedAt = isSameHour ? row.hourStartedAt : view.now;
  const before = isSameHour ? row.mailsInHour : 0;
  const { mails, laterIds } = missedMails(view, user, stillMissed(view, user, row.messageIds), {
    room: limits.missed_mails_per_hour_max - before,
    isCut: row.isCut,
  });
  const mailsInHour = before + mails.length;
  if (mailsInHour === 0) return [effects.remove("missedMessages", user.id)];
  const dueAt = hourStartedAt + hourMs;
  const isCut = row.isCut && laterIds.length > 0;
  const after = { ...row, messageIds: laterIds, isCut, dueAt, timerDueAt: dueAt, hourStartedAt, mailsInHour };
  return [
    ...mailEffects(view, ...mails),
    effects.put("missedMessages", user.id, after),
    // The timer for the end of the hour was set when the hour began.
    ...(isSameHour ? [] : [setTimer(user.id, dueAt)]),
  ];
}

function stillMissed(view: View, user: UserRecord, messageIds: readonly MessageId[]): Missed[] {
  const state = new ReadState(view, user.id);
  return messageIds.flatMap((id) => {
    const placed = messageInConversation(view, id);
    if (placed === null || !canReadMessage(view, user, placed.message)) return [];
    const reason = state.isRead(placed.message, placed.conversation) ? null : mailReason(view, user, placed);
    return reason === null ? [] : [{ ...placed, reason }];
  });
}

/**
 * Applies a new batching period, counted from the same first message (behaviour 2.1). Messages that wait for the next
 * hour keep waiting.
 */
export function moveDueTime(view: View, user: UserRecord): Effect[] {
  const row = view.row("missedMessages", user.id);
  if (row === undefined || row.messageIds.length === 0) return [];
  const isHourFull = row.mailsInHour >= limits.missed_mails_per_hour_max && view.now - row.hourStartedAt < hourMs;
  if (isHourFull) return [];
  const periodMs = userSetting(user, "email_notifications_batching_period_seconds") * 1000;
  return dueAgain(view, user.id, row, Math.max(view.now, row.startedAt + periodMs));
}

export const missedMessagesDecisions = {
  "missed-messages.due": forServer(mailMissedMessages),
} as const;
