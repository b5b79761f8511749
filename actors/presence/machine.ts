/**
 * Presence of one person (spec 2.8, 4.7): volatile (E4), never persisted per report.
 *
 *   offline --report active--> active --time passes--> idle --time passes--> offline
 *           --report idle----> idle   --report active--> active
 *   any --share off--> offline, --share on--> active
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { lapse, report, share } from "./reports.ts";

export interface PresenceContext {
  /** Times in milliseconds until which the person counts as such; 0 never. */
  readonly activeUntil: number;
  readonly idleUntil: number;
}

type Seen = { context: PresenceContext; event: CommandEvent };
const isActive = ({ context, event }: Seen) => context.activeUntil > event.view.now;
const isIdle = ({ context, event }: Seen) =>
  context.activeUntil <= event.view.now && context.idleUntil > event.view.now;
const isOffline = ({ context, event }: Seen) => Math.max(context.activeUntil, context.idleUntil) <= event.view.now;

const { decide, notUnderstood } = hosting<PresenceContext>();

const accepted = {
  "presence.report": { actions: decide(report) },
  "presence.lapse": { actions: decide(lapse) },
  "presence.share": { actions: decide(share) },
} as const;

export const presenceMachine = setup({
  types: { context: {} as PresenceContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "presence",
  context: { activeUntil: 0, idleUntil: 0 },
  initial: "offline",
  states: {
    // The guards read the turn's time, which the first, empty transition does not have: hence `on` before `always`.
    offline: {
      on: accepted,
      always: [
        { guard: timed(isActive), target: "active" },
        { guard: timed(isIdle), target: "idle" },
      ],
    },
    idle: {
      on: accepted,
      always: [
        { guard: timed(isActive), target: "active" },
        { guard: timed(isOffline), target: "offline" },
      ],
    },
    active: {
      on: accepted,
      always: [
        { guard: timed(isIdle), target: "idle" },
        { guard: timed(isOffline), target: "offline" },
      ],
    },
  },
  on: { "*": { actions: notUnderstood } },
});

/** A guard that holds only for commands: the initial transition has no turn and so no time. */
function timed(guard: (seen: Seen) => boolean) {
  return (seen: Seen): boolean => (seen.event as Partial<CommandEvent>).view !== undefined && guard(seen);
}
