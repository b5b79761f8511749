/**
 * Confirms an email change when the user opens the link (spec 4.1 rule 2). The realm actor decides, because addresses
 * are unique within an organization. The key proves that the user can read email to the new address; no further
 * authentication is required.
 */

import { refuseEmailChange } from "../../domain/own-account.ts";
import { addressFaultTexts, addressJudge } from "../../domain/realm-domains.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { done, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";
import { mailEffects } from "../rules/mail.ts";
import { addressEvents } from "../rules/user-events.ts";

/** An email to the old address tells its owner about the change, in case somebody else made it. */
export function confirmEmailChange({ keyHash }: Params<"user.email-change.confirm">, view: View): Outcome {
  const change = view.row("emailChanges", keyHash);
  if (change === undefined || view.now - change.createdAt >= limits.email_change_link_ms) return refuse.notFound();
  const before = view.users.get(change.userId);
  if (before === undefined || !before.isActive) return refuse.userDeactivated();
  const refused = refuseEmailChange(view, before);
  if (refused !== null) return refused;
  const holder = view.users.byEmail(change.newEmail);
  if (holder !== undefined && holder.id !== before.id)
    return refuse.badRequest("This address belongs to another account by now.");
  const fault = addressJudge(view)(change.newEmail);
  if (fault !== null) return refuse.badRequest(addressFaultTexts[fault]);
  const after = { ...before, email: change.newEmail };
  return done({ email: after.email }, [
    effects.remove("emailChanges", keyHash),
    effects.put("users", after.id, after),
    ...addressEvents(before, after),
    ...mailEffects(view, { template: "address-changed", to: before, data: { newEmail: after.email } }),
  ]);
}

export const emailChangeDecisions = {
  "user.email-change.confirm": forServer(confirmEmailChange),
} as const;
