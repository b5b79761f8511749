/** How an invitation goes on and ends, beside being accepted (spec 3; public API: revoke-email-invite, revoke-invite-link, resend-email-invite). */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { InvitationRecord } from "../../schemas/records.ts";
import { kindOf, mayManageInvitation, standing } from "../../src/domain/invites.ts";
import type { View } from "../../src/domain/view.ts";
import type { Address, Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { mailEffects } from "../mail.ts";
import { endEffects, invitationMail, refuseDailyLimit, sentEffects } from "./effects.ts";
import type { InvitationContext } from "./machine.ts";

export function rowOf(asked: Command, view: View): InvitationRecord | undefined {
  return view.row("invitations", (asked.to as Extract<Address, { actor: "invitation" }>).id);
}

/** Also where there is one that the caller may not manage: it is as if it were not there. */
export function noSuchInvitation(): Refusal {
  return refuse.badRequest("No such invitation");
}

/** DELETE /invites/{invite_id} and /invites/multiuse/{invite_id}; by the server when the inviter is deactivated. */
export function revoke(
  _context: InvitationContext,
  asked: Command<"invitation.revoke">,
  view: View,
): Outcome<InvitationContext> {
  const row = rowOf(asked, view);
  if (row === undefined || !isManaged(asked, view, row)) return noSuchInvitation();
  return done({}, endEffects(view, row, "revoked"), { fate: "revoked" });
}

/** By somebody who may, and of the kind that they take it for. */
function isManaged(asked: Command<"invitation.revoke">, view: View, row: InvitationRecord): boolean {
  if (asked.callerId === null) return true;
  const caller = callerOf(asked, view);
  const isOfKind = asked.params.isLink === (kindOf(row) === "link");
  return caller !== null && isOfKind && mayManageInvitation(caller, row);
}

export function revokedAlready(
  _context: InvitationContext,
  asked: Command<"invitation.revoke">,
  view: View,
): Outcome<InvitationContext> {
  if (asked.callerId === null) return done({}, []);
  const row = rowOf(asked, view);
  const isLink = row !== undefined && kindOf(row) === "link";
  return isLink && isManaged(asked, view, row)
    ? refuse.badRequest("Invitation has already been revoked")
    : noSuchInvitation();
}

/** The time is over. */
export function expire(
  _context: InvitationContext,
  asked: Command<"invitation.expire">,
  view: View,
): Outcome<InvitationContext> {
  const row = rowOf(asked, view);
  if (row === undefined || row.expiresAt === null || row.expiresAt > view.now) return done({}, []);
  return done({}, endEffects(view, row, "expired"), { fate: "expired" });
}

/** POST /invites/{invite_id}/resend: of the keys only hashes are known, so a new one goes out; the newest few are good. */
export function resend(
  _context: InvitationContext,
  asked: Command<"invitation.resend">,
  view: View,
): Outcome<InvitationContext> {
  const caller = callerOf(asked, view);
  const row = rowOf(asked, view);
  const isThere = row !== undefined && kindOf(row) === "mail" && standing(view, row) === "valid";
  if (!isThere || caller === null || !mayManageInvitation(caller, row)) return noSuchInvitation();
  const inviter = view.users.get(row.inviterId) ?? caller;
  const refused = refuseDailyLimit(view, caller.id, 1);
  if (refused !== null) return refused;
  const { keyHash, link } = asked.params;
  const hashes = [...row.keyHashes, keyHash];
  const kept = hashes.slice(-limits.invitation_links_per_address_max);
  const after = { ...row, keyHashes: kept };
  return done({}, [
    effects.put("invitations", row.id, after),
    effects.put("invitationKeys", keyHash, { id: row.id }),
    ...hashes.filter((hash) => !kept.includes(hash)).map((hash) => effects.remove("invitationKeys", hash)),
    ...sentEffects(view, caller.id, [row.id]),
    ...mailEffects(view, invitationMail(after, inviter, link)),
  ]);
}

/** Nothing of it stays. */
export function forget(
  _context: InvitationContext,
  asked: Command<"invitation.forget">,
  view: View,
): Outcome<InvitationContext> {
  const row = rowOf(asked, view);
  return done({}, row === undefined ? [] : removal(row), { fate: "unknown" });
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

/** It has ended, or never was; what it was, the page says (src/http/join.ts). */
export function leadsNowhere(_context: InvitationContext, asked: Command): Outcome<InvitationContext> {
  if (asked.type === "invitation.accept") return refuse.notFound();
  return asked.callerId === null ? done({}, []) : noSuchInvitation();
}

/** A timer that has nothing to do any more. */
export function tooLate(): Outcome<InvitationContext> {
  return done({}, []);
}
