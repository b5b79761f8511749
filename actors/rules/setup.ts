/** The open setup of an organization (schemas/setup.ts). */

import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** @returns null: it is set up, or its owner is none any more */
export function openSetup(view: View): { readonly secret: string; readonly owner: UserRecord } | null {
  const open = view.row("setup", "owner");
  const owner = view.users.get(open?.userId ?? 0);
  if (open === undefined || owner?.isActive !== true || owner.role !== roles.owner) return null;
  return { secret: open.secret, owner };
}

/** Somebody has chosen a password for the owner: the account is claimed, and the link does nothing any more. */
export function endSetup(view: View, userId: UserId): Effect[] {
  return view.row("setup", "owner")?.userId === userId ? [effects.remove("setup", "owner")] : [];
}
