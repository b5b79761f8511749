/** Invitation objects (OpenAPI, Invite). */

import { kindOf, mayManageInvitation, validInvitations } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import type { InvitationRecord, Invite } from "../../schemas/invites.ts";
import type { UserRecord } from "../../schemas/users.ts";

/**
 * Valid invitations that the caller may manage.
 * @param linkOf returns the URL for a key
 */
export function managedInvites(view: View, caller: UserRecord, linkOf: (key: string) => string): Invite[] {
  return validInvitations(view)
    .filter((invitation) => mayManageInvitation(caller, invitation))
    .map((invitation) => ({ ...commonFields(invitation), ...specificFields(view, invitation, linkOf) }));
}

function commonFields(invitation: InvitationRecord) {
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

function specificFields(view: View, invitation: InvitationRecord, linkOf: (key: string) => string) {
  if (kindOf(invitation) === "mail") return { email: invitation.email };
  return { link_url: linkOf(view.row("invitationLinks", invitation.id)?.key ?? "") };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
