/** The context of one user's presence actor, and the state that follows from it and the time. */

export interface PresenceContext {
  /** Times in milliseconds until which the user counts as active or idle; 0: not at all. */
  readonly activeUntil: number;
  readonly idleUntil: number;
}

export function stateAt({ activeUntil, idleUntil }: PresenceContext, now: number): string {
  if (activeUntil > now) return "active";
  return idleUntil > now ? "idle" : "offline";
}
