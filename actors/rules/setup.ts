/** The open setup of an organization (schemas/setup.ts). */
import type { View } from "../../domain/view.ts";
import type { UserId } from "../../schemas/ids.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** Somebody has chosen a password for the owner: the account is claimed, and the link does nothing any more. */
export function endSetup(view: View, userId: UserId): Effect[] {
  return view.row("setup", "owner")?.userId === userId ? [effects.remove("setup", "owner")] : [];
}
