/** What a presence report changes (behaviour 6.2). Times are the turn's; a report within 55 s of the last changes nothing. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { nextPresence } from "../../src/domain/presence.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import type { PresenceContext } from "./machine.ts";

const hiddenMs = limits.presence_hidden_s * 1000;
const offlineAfterMs = limits.presence_offline_threshold_s * 1000;

export function report(
  _context: PresenceContext,
  asked: Command<"presence.report">,
  view: View,
): Outcome<PresenceContext> {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  // The turn decides, whatever the request saw (M7).
  if (!userSetting(user, "presence_enabled")) return done({}, []);
  const change = nextPresence(view.presence(user.id), user.id, asked.params.status, view.now, view.position);
  if (change === null) return done({}, []);
  const all = [effects.present(change.row), lapseLater(user.id)];
  if (change.isNews) all.push(news(user.id));
  return done({}, all, untilOf(change.row));
}

/**
 * Sharing was switched on or off (spec 2.3, presence_enabled; behaviour 2.1): the person is active now, or looks offline at
 * once. Others are told at once, whoever was seen when.
 */
export function share(
  _context: PresenceContext,
  asked: Command<"presence.share">,
  view: View,
): Outcome<PresenceContext> {
  const user = view.users.get((asked.to as { userId: number }).userId);
  if (user === undefined) return refuse.noSuchUser();
  const { isShared } = asked.params;
  const at = isShared ? view.now : view.now - hiddenMs;
  // Who was never active is shown as active when they joined (behaviour 2.7): for a newcomer, that would be now.
  const isNewcomer = user.joinedAt > at;
  const row = {
    userId: user.id,
    activeAt: isShared || isNewcomer ? at : null,
    connectedAt: at,
    updateId: view.position,
  };
  return done({}, [effects.present(row), lapseLater(user.id), news(user.id)], untilOf(row));
}

function news(userId: number) {
  return effects.signal("presence", { user_ids: [userId] }, { to: "realm" }, `presence:${userId}`);
}

/** Time has passed without a report: the machine's guards find the state. */
export function lapse(
  context: PresenceContext,
  asked: Command<"presence.lapse">,
  view: View,
): Outcome<PresenceContext> {
  const userId = (asked.to as { userId: number }).userId;
  const isOffline = Math.max(context.activeUntil, context.idleUntil) <= view.now;
  return done({}, isOffline ? [] : [lapseLater(userId)]);
}

function untilOf(row: PresenceRecord): PresenceContext {
  return {
    activeUntil: row.activeAt === null ? 0 : row.activeAt + offlineAfterMs,
    idleUntil: row.connectedAt + offlineAfterMs,
  };
}

function lapseLater(userId: number) {
  return effects.wake(
    `presence:${userId}`,
    offlineAfterMs,
    command({ actor: "presence", userId }, "presence.lapse", {}, null),
  );
}
