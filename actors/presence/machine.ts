/**
 * Presence of one user (spec 2.8, 4.7): volatile (E4), not persisted per report.
 *
 * offline --report active--> active --time passes--> idle --time passes--> offline --report idle----> idle   --report
 * active--> active any --share off--> offline, --share on--> active
 *
 * Every state accepts every command: a report is always welcome, and only the time and the last reports decide the
 * state.
 *
 * Effects of a presence report (behaviour 6.2). Times are the turn's. A report within 55 s of the previous one changes
 * nothing.
 */

import { nextPresence } from "../../domain/presence.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/presence.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  addressAs,
  type Command,
  command,
  done,
  type Effect,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { decide, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";

interface PresenceContext {
  /** Times in milliseconds until which the user counts as active or idle; 0: not at all. */
  readonly activeUntil: number;
  readonly idleUntil: number;
}

function stateAt({ activeUntil, idleUntil }: PresenceContext, now: number): string {
  if (activeUntil > now) return "active";
  return idleUntil > now ? "idle" : "offline";
}

const hiddenMs = limits.presence_hidden_s * 1000;
const offlineAfterMs = limits.presence_offline_threshold_s * 1000;

function report(
  user: UserRecord,
  { status }: Params<"presence.report">,
  view: View,
  _asked: unknown,
  context: PresenceContext,
): Outcome<PresenceContext> {
  // The setting in the turn decides, even if the request saw another value (M7).
  if (!userSetting(user, "presence_enabled")) return timePassed(context, view);
  const change = nextPresence(view.presence(user.id), user.id, status, view.now, view.position);
  if (change === null) return timePassed(context, view);
  const all = [effects.updatePresence(change.row), lapseLater(user.id)];
  if (change.isNews) all.push(news(user.id));
  return reported(all, change.row, view);
}

/**
 * `presence_enabled` was switched on or off (spec 2.3; behaviour 2.1): the user becomes active now or appears offline
 * at once. Others are notified immediately, regardless of the last report.
 */
function share(
  { isShared }: Params<"presence.share">,
  view: View,
  request: Command<"presence.share">,
): Outcome<PresenceContext> {
  const user = view.users.get(addressAs(request.to, "presence").userId);
  if (user === undefined) return refuse.noSuchUser();
  const at = isShared ? view.now : view.now - hiddenMs;
  // A user who was never active counts as active since joining (behaviour 2.7). For a user who has just joined that
  // would be now.
  const isNew = user.joinedAt > at;
  const row = {
    userId: user.id,
    activeAt: isShared || isNew ? at : null,
    connectedAt: at,
    updateId: view.position,
  };
  return reported([effects.updatePresence(row), lapseLater(user.id), news(user.id)], row, view);
}

function news(userId: UserId) {
  return effects.emitVolatile("presence", { user_ids: [userId] }, { to: "realm" }, `presence:${userId}`);
}

function reported(all: Effect[], row: PresenceRecord, view: View): Outcome<PresenceContext> {
  const context = untilOf(row);
  return done({}, all, context, stateAt(context, view.now));
}

/** Nothing is reported, and the state is what the time has made of the last report. */
function timePassed(context: PresenceContext, view: View, all: Effect[] = []): Outcome<PresenceContext> {
  return done({}, all, undefined, stateAt(context, view.now));
}

/** Handles time that passed without a report. */
function lapse(context: PresenceContext, request: Command<"presence.lapse">, view: View): Outcome<PresenceContext> {
  const userId = addressAs(request.to, "presence").userId;
  const isOffline = Math.max(context.activeUntil, context.idleUntil) <= view.now;
  return timePassed(context, view, isOffline ? [] : [lapseLater(userId)]);
}

function untilOf(row: PresenceRecord): PresenceContext {
  return {
    activeUntil: row.activeAt === null ? 0 : row.activeAt + offlineAfterMs,
    idleUntil: row.connectedAt + offlineAfterMs,
  };
}

function lapseLater(userId: UserId) {
  return effects.setVolatileTimer(
    `presence:${userId}`,
    offlineAfterMs,
    command({ actor: "presence", userId }, "presence.lapse", {}, null),
  );
}

const accepted = decide<PresenceContext>({
  "presence.report": forUser(report),
  "presence.lapse": lapse,
  "presence.share": forServer(share),
});

/** Time alone may change the state, so any command can find it changed. */
function leadTo(states: Readonly<Record<string, string>>) {
  return { on: lead(accepted, { "presence.report": states, "presence.lapse": states, "presence.share": states }) };
}

const active = "reported as active lately";
const idle = "reported as idle lately";
const offline = "not reported lately";

export const presenceMachine = setupMachine<PresenceContext>().createMachine({
  id: "presence",
  context: { activeUntil: 0, idleUntil: 0 },
  initial: "offline",
  states: { offline: leadTo({ active, idle }), idle: leadTo({ active, offline }), active: leadTo({ idle, offline }) },
  on: rejectUnhandled,
});
