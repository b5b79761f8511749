/**
 * What somebody missed becomes mails, one a conversation, as on the public server (D31). What counts is how things are when the
 * mail falls due: what was read, deleted, hidden or switched off meanwhile is not in it.
 */
import { limits } from "../../schemas/limits.ts";
import type { MissedMessagesRecord, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { mailReason } from "../../src/domain/mail-reasons.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import { ReadState } from "../../src/domain/read-state.ts";
import type { View } from "../../src/domain/view.ts";
import type { Address, Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { mailEffects } from "../mail.ts";
import { placedMessage } from "../topic/missed-messages.ts";
import { type Missed, missedMails } from "./missed-mails.ts";
import { dueAgain, ring } from "./missed-timers.ts";

const hourMs = 60 * 60 * 1000;

export function mailMissedMessages(_context: unknown, asked: Command<"missed-messages.due">, view: View): Outcome {
  const userId = (asked.to as Extract<Address, { actor: "user" }>).id;
  const row = view.row("missedMessages", userId);
  // A timer of before the row was put off, or that came to nothing.
  if (row === undefined || row.ringsAt !== asked.params.at) return done({}, []);
  if (row.dueAt > view.now) return done({}, dueAgain(view, userId, row, row.dueAt));
  if (hasBacklog(view)) return done({}, dueAgain(view, userId, row, view.now + limits.missed_mails_pause_ms));
  const user = view.users.get(userId);
  return done({}, user?.isActive === true ? mailsDue(view, user, row) : [effects.remove("missedMessages", userId)]);
}

/** Whether mails wait for a mail server that takes none: looked for only where so many may be. */
function hasBacklog(view: View): boolean {
  const max = limits.missed_mails_pending_max;
  const [oldest] = view.keys("mails", { limit: 1 });
  if (oldest === undefined || view.counter("mail") - oldest + 1 < max) return false;
  return view.keys("mails", { limit: max }).length === max;
}

/** As many as the hour has room for; what is more waits until the next one begins. */
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
  const after = { ...row, messageIds: laterIds, isCut, dueAt, ringsAt: dueAt, hourStartedAt, mailsInHour };
  return [
    ...mailEffects(view, ...mails),
    effects.put("missedMessages", user.id, after),
    // The hour's end has a timer since the hour began.
    ...(isSameHour ? [] : [ring(user.id, dueAt)]),
  ];
}

function stillMissed(view: View, user: UserRecord, messageIds: readonly number[]): Missed[] {
  const state = new ReadState(view, user.id);
  return messageIds.flatMap((id) => {
    const placed = placedMessage(view, id);
    if (placed === null || !canReadMessage(view, user, placed.message)) return [];
    const reason = state.isRead(placed.message, placed.conversation) ? null : mailReason(view, user, placed);
    return reason === null ? [] : [{ ...placed, reason }];
  });
}

/** Another batching period counts from the same first message (behaviour 2.1). What waits for the next hour goes on waiting. */
export function moveDueTime(view: View, user: UserRecord): Effect[] {
  const row = view.row("missedMessages", user.id);
  if (row === undefined || row.messageIds.length === 0) return [];
  const isHourFull = row.mailsInHour >= limits.missed_mails_per_hour_max && view.now - row.hourStartedAt < hourMs;
  if (isHourFull) return [];
  const periodMs = userSetting(user, "email_notifications_batching_period_seconds") * 1000;
  return dueAgain(view, user.id, row, Math.max(view.now, row.startedAt + periodMs));
}
