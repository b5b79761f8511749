/** What invitations write and tell wherever they change: the event, the mail, and how many somebody has sent within a day. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { InvitationRecord, InvitationState, UserRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";
import type { NewMail } from "../mail.ts";
import { administratorsAnd } from "../people-events.ts";
import { takeBack } from "../timers.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** For administrators and the inviter (public API): they fetch the list again. */
export function invitesChanged(view: View, inviterId: number): Effect {
  return effects.emit("invites_changed", {}, { to: "users", ids: administratorsAnd(view, inviterId) });
}

export function invitationMail({ email, expiresAt }: InvitationRecord, inviter: UserRecord, link: string): NewMail {
  return {
    template: "invitation",
    to: { email, fullName: "" },
    data: { inviter: inviter.fullName, at: expiresAt, link },
  };
}

/** Of one invitation there is one timer, however often its time changes. */
export function takeBackExpiry({ expiresAt, timer }: InvitationRecord): Effect[] {
  return expiresAt === null ? [] : takeBack({ dueAt: expiresAt, timer });
}

/** It leads nowhere any more. What it was stays known for a while, so that its link can say so. */
export function endEffects(
  view: View,
  invitation: InvitationRecord,
  state: Exclude<InvitationState, "valid">,
): Effect[] {
  const forgetting = command({ actor: "invitation", id: invitation.id }, "invitation.forget", {}, null);
  return [
    effects.put("invitations", invitation.id, { ...invitation, state, timer: null }),
    ...takeBackExpiry(invitation),
    effects.schedule(view.now + limits.invitation_kept_ms, forgetting),
    invitesChanged(view, invitation.inviterId),
  ];
}

/** What somebody has sent within a day; what is older is forgotten by the way. */
export function sentEffects(view: View, userId: number, ids: readonly number[]): Effect[] {
  const old = view.keys("invitationSends", {
    start: [userId],
    end: [userId, view.now - dayMs + 1],
    limit: limits.invitations_per_user_per_day_max,
  });
  return [
    ...old.map((key) => effects.remove("invitationSends", key)),
    ...ids.map((id) => effects.put("invitationSends", [userId, view.now, id], {})),
  ];
}

export function refuseDailyLimit(view: View, userId: number, count: number): Refusal | null {
  const max = limits.invitations_per_user_per_day_max;
  const range = { start: [userId, view.now - dayMs + 1], end: [userId + 1], limit: max };
  return view.keys("invitationSends", range).length + count > max ? refuse.invitationLimitReached() : null;
}
