/** A reusable link whose offer changes (PATCH /invites/multiuse/{invite_id}): its key stays, so links that were given away go on. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { InvitationRecord, UserRecord } from "../../schemas/records.ts";
import {
  kindOf,
  mayInvite,
  mayManageInvitation,
  refuseChannels,
  refuseGroups,
  refuseRole,
  standing,
} from "../../src/domain/invites.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { InvitationChange } from "../commands/invites.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { nextTimer } from "../timers.ts";
import { invitesChanged, takeBackExpiry } from "./effects.ts";
import { noSuchInvitation, rowOf } from "./life.ts";
import type { InvitationContext } from "./machine.ts";

export function edit(
  _context: InvitationContext,
  asked: Command<"invitation.edit">,
  view: View,
): Outcome<InvitationContext> {
  const caller = callerOf(asked, view);
  const row = rowOf(asked, view);
  const isLink = row !== undefined && kindOf(row) === "link" && standing(view, row) === "valid";
  if (!isLink || caller === null || !mayManageInvitation(caller, row)) return noSuchInvitation();
  const change = asked.params;
  if (Object.values(change).every((part) => part === null)) return done({}, []);
  const refused = refuseChange(view, caller, change);
  if (refused !== null) return refused;
  const after = changed(view, caller, row, change);
  const { expiresAt } = after;
  const expiry = command({ actor: "invitation", id: row.id }, "invitation.expire", {}, null);
  return done({}, [
    effects.put("invitations", row.id, after),
    ...(change.expiry === null ? [] : takeBackExpiry(row)),
    ...(change.expiry === null || expiresAt === null ? [] : [effects.schedule(expiresAt, expiry)]),
    invitesChanged(view, row.inviterId),
  ]);
}

/** The caller may give only what they could put into a link of their own. */
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
