/** The context of one user's presence actor. */
import type { CommandEvent } from "../protocol/machine-setup.ts";

export interface PresenceContext {
  /** Times in milliseconds until which the user counts as active or idle; 0: not at all. */
  readonly activeUntil: number;
  readonly idleUntil: number;
}

export type Seen = { context: PresenceContext; event: CommandEvent };

export const isActive = ({ context, event }: Seen) => context.activeUntil > event.view.now;

export const isIdle = ({ context, event }: Seen) =>
  context.activeUntil <= event.view.now && context.idleUntil > event.view.now;

export const isOffline = ({ context, event }: Seen) =>
  Math.max(context.activeUntil, context.idleUntil) <= event.view.now;

/** A guard that is false in the initial transition, which has no turn and therefore no time. */
export function timed(guard: (seen: Seen) => boolean) {
  const timedGuard = (seen: Seen): boolean => (seen.event as Partial<CommandEvent>).view !== undefined && guard(seen);
  // The name appears in docs/state-machines.md.
  return Object.defineProperty(timedGuard, "name", { value: guard.name });
}
