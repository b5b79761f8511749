/**
 * What an invitation's actor knows: its row, its state, and the guards that follow from it. An invitation lapses without
 * a command: its time has passed and its timer is late, or its inviter may no longer grant what it grants.
 */

import { standing } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import type { InvitationRecord, InvitationState } from "../../schemas/invites.ts";

export interface InvitationContext {
  readonly fate: InvitationState | "lapsed" | "unknown";
}

/** In every state but `unknown`. */
export interface KnownInvitation extends InvitationContext {
  readonly row: InvitationRecord;
}

export function fateOf(view: View, row: InvitationRecord): InvitationState | "lapsed" {
  if (row.state !== "valid") return row.state;
  return standing(view, row) === "valid" ? "valid" : "lapsed";
}

interface Seen {
  readonly context: InvitationContext;
}

export const isExpired = ({ context }: Seen) => context.fate === "expired";
export const isRevoked = ({ context }: Seen) => context.fate === "revoked";
export const isUsed = ({ context }: Seen) => context.fate === "used";
export const isForgotten = ({ context }: Seen) => context.fate === "unknown";
