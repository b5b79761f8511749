/**
 * Presence of one user (spec 2.8, 4.7): volatile (E4), not persisted per report.
 *
 *    offline --report active--> active --time passes--> idle --time passes--> offline
 *            --report idle----> idle   --report active--> active
 *    any --share off--> offline, --share on--> active
 *
 * Every state accepts every command: a report is always welcome, and only the time and the last reports decide the state.
 */
import { forServer, forUser } from "../protocol/decide.ts";
import { decide, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { lapse, type PresenceContext, report, share } from "./reports.ts";

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
