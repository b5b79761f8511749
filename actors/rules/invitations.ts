/**
 * Effects shared by all changes of invitations: the event, the email, and the count of invitations that a user sent
 * within a day.
 */

import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { InvitationRecord, InvitationState } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";
import type { NewMail } from "./mail.ts";
import { cancelTimer } from "./timers.ts";
import { administratorsAnd } from "./user-events.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Sent to administrators and the inviter, whose clients fetch the list again (public API). */
export function invitesChanged(view: View, inviterId: UserId): Effect {
  return effects.emit("invites_changed", {}, { to: "users", ids: administratorsAnd(view, inviterId) });
}

export function invitationMail({ email, expiresAt }: InvitationRecord, inviter: UserRecord, link: string): NewMail {
  return {
    template: "invitation",
    to: { email, fullName: "" },
    data: { inviter: inviter.fullName, at: expiresAt, link },
  };
}

/** An invitation has at most one timer, however often its expiry changes. */
export function cancelExpiryTimer({ expiresAt, timer }: InvitationRecord): Effect[] {
  return expiresAt === null ? [] : cancelTimer({ dueAt: expiresAt, timer });
}

/**
 * Ends an invitation. Its final state is kept for a while, so that its page can explain why the link no longer works.
 */
export function endEffects(
  view: View,
  invitation: InvitationRecord,
  state: Exclude<InvitationState, "valid">,
): Effect[] {
  const forgetting = command({ actor: "invitation", id: invitation.id }, "invitation.forget", {}, null);
  return [
    effects.put("invitations", invitation.id, { ...invitation, state, timer: null }),
    ...cancelExpiryTimer(invitation),
    effects.schedule(view.now + limits.invitation_kept_ms, forgetting),
    invitesChanged(view, invitation.inviterId),
  ];
}

/** Records the invitations that a user sends, and deletes records older than a day. */
export function sentEffects(view: View, userId: UserId, ids: readonly number[]): Effect[] {
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

export function refuseDailyLimit(view: View, userId: UserId, count: number): Refusal | null {
  const max = limits.invitations_per_user_per_day_max;
  const range = { start: [userId, view.now - dayMs + 1], end: [userId + 1], limit: max };
  return view.keys("invitationSends", range).length + count > max ? refuse.invitationLimitReached() : null;
}
