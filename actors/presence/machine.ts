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
import { decide, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { isActive, isIdle, isOffline, type PresenceContext, timed } from "./context.ts";
import { lapse, report, share } from "./reports.ts";

const accepted = decide<PresenceContext>({
  "presence.report": forUser(report),
  "presence.lapse": lapse,
  "presence.share": forServer(share),
});

/** Time alone may change the state, so any command can find it changed. */
const accepting = Object.keys(accepted).join(", ");

export const presenceMachine = setupMachine<PresenceContext>().createMachine({
  id: "presence",
  context: { activeUntil: 0, idleUntil: 0 },
  initial: "offline",
  states: {
    // The guards read the turn's time, which the initial transition does not have; see `timed`.
    offline: {
      on: accepted,
      always: [
        { guard: timed(isActive), target: "active", description: accepting },
        { guard: timed(isIdle), target: "idle", description: accepting },
      ],
    },
    idle: {
      on: accepted,
      always: [
        { guard: timed(isActive), target: "active", description: accepting },
        { guard: timed(isOffline), target: "offline", description: accepting },
      ],
    },
    active: {
      on: accepted,
      always: [
        { guard: timed(isIdle), target: "idle", description: accepting },
        { guard: timed(isOffline), target: "offline", description: accepting },
      ],
    },
  },
  on: rejectUnhandled,
});
