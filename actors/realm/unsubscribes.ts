/** The secret that signs the organization's links in emails (D258). */
import type { View } from "../../domain/view.ts";
import type { Params } from "../protocol/commands.ts";
import { done, forServer, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";

/** Several emails may have found none at the same time; links that were sent stay valid. */
export function setLinkSecret(params: Params<"link-secret.set">, view: View): Outcome {
  const isSet = view.row("linkSecrets", "unsubscribe") !== undefined;
  return done({}, isSet ? [] : [effects.put("linkSecrets", "unsubscribe", { secret: params.secret })]);
}

export const unsubscribesDecisions = {
  "link-secret.set": forServer(setLinkSecret),
} as const;
