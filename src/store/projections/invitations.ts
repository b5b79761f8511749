/** The number of invitations of each inviter, so that another one needs no scan of all. */

import { type Delta, type Projection, sortedEntries } from "./projection.ts";

export class InvitationsProjection implements Projection {
  readonly tables = ["invitations"] as const;
  readonly #inviterOf = new Map<number, number>();
  readonly #counts = new Map<number, number>();

  apply(delta: Delta<"invitations">): void {
    const id = delta.key;
    const before = this.#inviterOf.get(id);
    const after = delta.row?.inviterId;
    if (before !== undefined) this.#count(before, -1);
    if (after === undefined) {
      this.#inviterOf.delete(id);
      return;
    }
    this.#inviterOf.set(id, after);
    this.#count(after, 1);
  }

  #count(inviterId: number, change: 1 | -1): void {
    const count = this.ofInviter(inviterId) + change;
    if (count === 0) this.#counts.delete(inviterId);
    else this.#counts.set(inviterId, count);
  }

  ofInviter(inviterId: number): number {
    return this.#counts.get(inviterId) ?? 0;
  }

  snapshot(): unknown {
    return { inviterOf: sortedEntries(this.#inviterOf), counts: sortedEntries(this.#counts) };
  }
}
