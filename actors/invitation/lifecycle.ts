/**
 * Revoking, expiring, resending and forgetting an invitation (spec 3; public API: revoke-email-invite,
 * revoke-invite-link, resend-email-invite).
 */
import { kindOf, mayManageInvitation, standing } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { InvitationRecord, InvitationState } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Command, done, type Effect, effects, type Outcome, type Params } from "../protocol/decision.ts";
import { endEffects, invitationMail, refuseDailyLimit, sentEffects } from "../rules/invitations.ts";
import { mailEffects } from "../rules/mail.ts";

/** In every state but `unknown`. */
export interface KnownInvitation {
  readonly row: InvitationRecord;
}

export function stateOf(view: View, row: InvitationRecord): InvitationState | "lapsed" {
  if (row.state !== "valid") return row.state;
  return standing(view, row) === "valid" ? "valid" : "lapsed";
}

/** Also returned for an invitation that the caller may not manage, so that its existence is not revealed. */
export function noSuchInvitation(): Refusal {
  return refuse.badRequest("No such invitation");
}

/**
 * DELETE /invites/{invite_id} and /invites/multiuse/{invite_id}; also sent by the server when the inviter is
 * deactivated.
 */
export function revoke(
  caller: UserRecord | null,
  { isLink }: Params<"invitation.revoke">,
  view: View,
  _asked: unknown,
  { row }: KnownInvitation,
): Outcome<KnownInvitation> {
  if (caller !== null && !isManaged(caller, isLink, row)) return noSuchInvitation();
  return done({}, endEffects(view, row, "revoked"), undefined, "revoked");
}

/** Whether the caller may manage the invitation, and used the endpoint of its kind. */
function isManaged(caller: UserRecord, isLink: boolean, row: InvitationRecord): boolean {
  return isLink === (kindOf(row) === "link") && mayManageInvitation(caller, row);
}

/** The server revokes all invitations of an inviter, whatever their states are. */
export function revokeEnded(caller: UserRecord | null): Outcome {
  return caller === null ? done({}, []) : noSuchInvitation();
}

export function revokeAgain(
  caller: UserRecord | null,
  { isLink }: Params<"invitation.revoke">,
  _view: unknown,
  _asked: unknown,
  { row }: KnownInvitation,
): Outcome {
  if (caller === null) return done({}, []);
  return kindOf(row) === "link" && isManaged(caller, isLink, row)
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
  return done({}, endEffects(view, row, "expired"), undefined, "expired");
}

/**
 * POST /invites/{invite_id}/resend. Only hashes of keys are stored, so each email gets a new key; the newest few keys
 * stay valid.
 */
export function resend(
  caller: UserRecord,
  { keyHash, link }: Params<"invitation.resend">,
  view: View,
  _asked: unknown,
  { row }: KnownInvitation,
): Outcome<KnownInvitation> {
  if (kindOf(row) !== "mail" || !mayManageInvitation(caller, row)) return noSuchInvitation();
  const inviter = view.users.get(row.inviterId) ?? caller;
  const refused = refuseDailyLimit(view, caller.id, 1);
  if (refused !== null) return refused;
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
  return done({}, removal(row), undefined, "unknown");
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
