/**
 * What an invitation's actor knows: its row, and the state that follows from it. An invitation lapses without
 * a command: its time has passed and its timer is late, or its inviter may no longer grant what it grants.
 */

import { standing } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import type { InvitationRecord, InvitationState } from "../../schemas/invites.ts";

/** In every state but `unknown`. */
export interface KnownInvitation {
  readonly row: InvitationRecord;
}

export function stateOf(view: View, row: InvitationRecord): InvitationState | "lapsed" {
  if (row.state !== "valid") return row.state;
  return standing(view, row) === "valid" ? "valid" : "lapsed";
}
