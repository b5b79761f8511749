/**
 * Revoking, expiring, resending and forgetting an invitation (spec 3; public API: revoke-email-invite,
 * revoke-invite-link, resend-email-invite).
 */

import { kindOf, mayManageInvitation } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { InvitationRecord } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { endEffects, invitationMail, refuseDailyLimit, sentEffects } from "../rules/invitations.ts";
import { mailEffects } from "../rules/mail.ts";
import type { InvitationContext, KnownInvitation } from "./context.ts";

/** Also returned for an invitation that the caller may not manage, so that its existence is not revealed. */
export function noSuchInvitation(): Refusal {
  return refuse.badRequest("No such invitation");
}

/**
 * DELETE /invites/{invite_id} and /invites/multiuse/{invite_id}; also sent by the server when the inviter is
 * deactivated.
 */
export function revoke(
  { row }: KnownInvitation,
  asked: Command<"invitation.revoke">,
  view: View,
): Outcome<KnownInvitation> {
  if (!isManaged(asked, view, row)) return noSuchInvitation();
  return done({}, endEffects(view, row, "revoked"), { fate: "revoked" });
}

/** Whether the caller may manage the invitation, and used the endpoint of its kind. */
function isManaged(asked: Command<"invitation.revoke">, view: View, row: InvitationRecord): boolean {
  if (asked.callerId === null) return true;
  const caller = callerOf(asked, view);
  const isOfKind = asked.params.isLink === (kindOf(row) === "link");
  return caller !== null && isOfKind && mayManageInvitation(caller, row);
}

/** The server revokes all invitations of an inviter, whatever their states are. */
export function revokeEnded(
  _context: InvitationContext,
  asked: Command<"invitation.revoke">,
): Outcome<InvitationContext> {
  return asked.callerId === null ? done({}, []) : noSuchInvitation();
}

export function revokeAgain(
  { row }: KnownInvitation,
  asked: Command<"invitation.revoke">,
  view: View,
): Outcome<KnownInvitation> {
  if (asked.callerId === null) return done({}, []);
  return kindOf(row) === "link" && isManaged(asked, view, row)
    ? refuse.badRequest("Invitation has already been revoked")
    : noSuchInvitation();
}

/** An edit may have postponed the time; the invitation has lapsed for another reason then. */
export function expire(
  { row }: KnownInvitation,
  _asked: Command<"invitation.expire">,
  view: View,
): Outcome<KnownInvitation> {
  if (row.expiresAt === null || row.expiresAt > view.now) return done({}, []);
  return done({}, endEffects(view, row, "expired"), { fate: "expired" });
}

/**
 * POST /invites/{invite_id}/resend. Only hashes of keys are stored, so each email gets a new key; the newest few keys
 * stay valid.
 */
export function resend(
  { row }: KnownInvitation,
  asked: Command<"invitation.resend">,
  view: View,
): Outcome<KnownInvitation> {
  const caller = callerOf(asked, view);
  if (kindOf(row) !== "mail" || caller === null || !mayManageInvitation(caller, row)) return noSuchInvitation();
  const inviter = view.users.get(row.inviterId) ?? caller;
  const refused = refuseDailyLimit(view, caller.id, 1);
  if (refused !== null) return refused;
  const { keyHash, link } = asked.params;
  const hashes = [...row.keyHashes, keyHash];
  const kept = hashes.slice(-limits.invitation_links_per_address_max);
  const after = { ...row, keyHashes: kept };
  const all = [
    effects.put("invitations", row.id, after),
    effects.put("invitationKeys", keyHash, { id: row.id }),
    ...hashes.filter((hash) => !kept.includes(hash)).map((hash) => effects.remove("invitationKeys", hash)),
    ...sentEffects(view, caller.id, [row.id]),
    ...mailEffects(view, invitationMail(after, inviter, link)),
  ];
  return done({}, all, { row: after });
}

/** Deletes all rows of the invitation. */
export function forget({ row }: KnownInvitation): Outcome<KnownInvitation> {
  return done({}, removal(row), { fate: "unknown" });
}

function removal({ id, email, keyHashes }: InvitationRecord): Effect[] {
  return [
    effects.remove("invitations", id),
    ...keyHashes.map((hash) => effects.remove("invitationKeys", hash)),
    ...(email === ""
      ? [effects.remove("invitationLinks", id)]
      : [effects.remove("invitationAddresses", [fold(email), id])]),
  ];
}
