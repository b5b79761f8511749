/** A user's API keys: several, individually revocable, stored as hashes (S2). */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Params } from "../protocol/commands.ts";
import { done, forUser, type Outcome } from "../protocol/decide.ts";
import { furtherKey, replaceKeys } from "../rules/api-keys.ts";
import { loginEffects } from "./logins.ts";

/**
 * POST /fetch_api_key. The password was verified before the turn; if another request has changed it since, the login is
 * rejected (S2). With `api_keys_per_user_max` keys, the oldest login key is evicted, and keys marked as kept only if
 * there is no other.
 */
export function addApiKey(
  user: UserRecord,
  { hash, login, passwordHash }: Params<"user.api-key.add">,
  view: View,
): Outcome {
  if (passwordHash !== undefined && view.row("credentials", user.id)?.passwordHash !== passwordHash) {
    return refuse.authenticationFailed();
  }
  return done({ email: user.email, user_id: user.id }, [
    ...(login === undefined ? [] : loginEffects(view, user, login)),
    ...furtherKey(view, user.id, hash),
  ]);
}

/**
 * POST /users/me/api_key/regenerate: the turn that creates the new key invalidates all previous ones (behaviour 11).
 */
export function regenerateApiKey(user: UserRecord, params: Params<"user.api-key.regenerate">, view: View): Outcome {
  return done({}, replaceKeys(view, user.id, params.hash));
}

export const apiKeysDecisions = {
  "user.api-key.add": forUser(addApiKey),
  "user.api-key.regenerate": forUser(regenerateApiKey),
} as const;
