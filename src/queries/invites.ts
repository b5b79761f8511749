/** Invitations as clients know them (OpenAPI, Invite). */
import type { Invite } from "../../schemas/invites.ts";
import type { InvitationRecord, UserRecord } from "../../schemas/records.ts";
import { kindOf, mayManageInvitation, validInvitations } from "../domain/invites.ts";
import type { View } from "../domain/view.ts";

/** Those that the caller may manage. @param linkOf the address that a key belongs to */
export function managedInvites(view: View, caller: UserRecord, linkOf: (key: string) => string): Invite[] {
  return validInvitations(view)
    .filter((invitation) => mayManageInvitation(caller, invitation))
    .map((invitation) => ({ ...common(invitation), ...peculiar(view, invitation, linkOf) }));
}

function common(invitation: InvitationRecord) {
  const { id, inviterId, createdAt, expiresAt, role, notifiesInviter } = invitation;
  return {
    id,
    invited_by_user_id: inviterId,
    invited: seconds(createdAt),
    expiry_date: expiresAt === null ? null : seconds(expiresAt),
    invited_as: role,
    is_multiuse: kindOf(invitation) === "link",
    notify_referrer_on_join: notifiesInviter,
  };
}

function peculiar(view: View, invitation: InvitationRecord, linkOf: (key: string) => string) {
  if (kindOf(invitation) === "mail") return { email: invitation.email };
  return { link_url: linkOf(view.row("invitationLinks", invitation.id)?.key ?? "") };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
