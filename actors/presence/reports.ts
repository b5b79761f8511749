/** What a presence report changes (behaviour 6.2). Times are the turn's; a report within 55 s of the last changes nothing. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/records.ts";
import { nextPresence } from "../../src/domain/presence.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import type { PresenceContext } from "./machine.ts";

const offlineAfterMs = limits.presence_offline_threshold_s * 1000;

export function report(
  _context: PresenceContext,
  asked: Command<"presence.report">,
  view: View,
): Outcome<PresenceContext> {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const change = nextPresence(view.presence(user.id), user.id, asked.params.status, view.now, view.position);
  if (change === null) return done({}, []);
  const all = [effects.present(change.row), lapseLater(user.id)];
  if (change.isNews)
    all.push(effects.signal("presence", { user_ids: [user.id] }, { to: "realm" }, `presence:${user.id}`));
  return done({}, all, untilOf(change.row));
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
