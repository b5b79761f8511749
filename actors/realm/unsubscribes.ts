/** The secret that signs the organization's links in emails (D258). */
import type { View } from "../../domain/view.ts";
import { done, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";

/** Several emails may have found none at the same time; links that were sent stay valid. */
export function setLinkSecret(params: Params<"link-secret.set">, view: View): Outcome {
  const isSet = view.row("linkSecrets", "unsubscribe") !== undefined;
  return done({}, isSet ? [] : [effects.put("linkSecrets", "unsubscribe", { secret: params.secret })]);
}

export const unsubscribesDecisions = {
  "link-secret.set": forServer(setLinkSecret),
} as const;
