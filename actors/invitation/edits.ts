/**
 * PATCH /invites/multiuse/{invite_id} changes what a reusable link grants. Its key stays the same, so links already
 * shared keep working.
 */
import {
  kindOf,
  mayInvite,
  mayManageInvitation,
  refuseChannels,
  refuseGroups,
  refuseRole,
} from "../../domain/invites.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { InvitationChange, InvitationRecord } from "../../schemas/invites.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, done, effects, type Outcome, type Params } from "../protocol/decision.ts";
import { cancelExpiryTimer, invitesChanged } from "../rules/invitations.ts";
import { nextTimer } from "../rules/timers.ts";
import { type KnownInvitation, noSuchInvitation } from "./lifecycle.ts";

export function edit(
  caller: UserRecord,
  change: Params<"invitation.edit">,
  view: View,
  _asked: unknown,
  { row }: KnownInvitation,
): Outcome<KnownInvitation> {
  if (kindOf(row) !== "link" || !mayManageInvitation(caller, row)) return noSuchInvitation();
  if (Object.values(change).every((part) => part === null)) return done({}, []);
  const refused = refuseChange(view, caller, change);
  if (refused !== null) return refused;
  const after = changed(view, caller, row, change);
  const { expiresAt } = after;
  const expiry = command({ actor: "invitation", id: row.id }, "invitation.expire", {}, null);
  const all = [
    effects.put("invitations", row.id, after),
    ...(change.expiry === null ? [] : cancelExpiryTimer(row)),
    ...(change.expiry === null || expiresAt === null ? [] : [effects.schedule(expiresAt, expiry)]),
    invitesChanged(view, row.inviterId),
  ];
  return done({}, all, { row: after });
}

/** Callers may grant only what they could grant in a new link. */
function refuseChange(
  view: View,
  caller: UserRecord,
  { role, channelIds, groupIds }: InvitationChange,
): Refusal | null {
  if (!mayInvite(view, caller, "link")) return refuse.insufficientPermission();
  return (
    (role === null ? null : refuseRole(caller, role)) ??
    refuseChannels(view, caller, channelIds ?? []) ??
    refuseGroups(view, caller, groupIds ?? [])
  );
}

function changed(view: View, caller: UserRecord, row: InvitationRecord, change: InvitationChange): InvitationRecord {
  const { expiry, role, channelIds, groupIds, includesDefaults, welcome } = change;
  const minutes = expiry?.minutes ?? null;
  return {
    ...row,
    expiresAt: expiry === null ? row.expiresAt : minutes === null ? null : view.now + minutes * 60_000,
    timer: expiry === null ? row.timer : minutes === null ? null : nextTimer(view),
    role: role ?? row.role,
    channelIds: channelIds === null ? row.channelIds : [...new Set(channelIds)],
    groupIds: groupIds === null ? row.groupIds : [...new Set(groupIds)],
    includesDefaults: includesDefaults ?? row.includesDefaults,
    // Only administrators may set it (spec 4.14, D17).
    welcomeText: welcome !== null && isAdministrator(caller) ? welcome.text : row.welcomeText,
  };
}
