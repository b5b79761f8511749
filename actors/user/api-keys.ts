/** API keys of a person: several, revocable one by one, stored as hashes (S2). */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ApiKeyRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { loginEffects } from "./logins.ts";

/** @param purpose a login's key makes room for later ones, a kept one ends only when it is replaced */
export function newApiKey(view: View, userId: number, hash: string, purpose: "login" | "kept"): ApiKeyRecord {
  return { hash, userId, createdAt: view.now, isKept: purpose === "kept" };
}

/**
 * POST /fetch_api_key. The password was verified before the turn: another request may have changed it meanwhile (S2). When there are
 * `api_keys_per_user_max` already, the oldest login's key goes, kept ones at the very last.
 */
export function addApiKey(_context: unknown, command: Command<"user.api-key.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.authenticationFailed();
  if (!user.isActive) return refuse.userDeactivated();
  const { hash, login, passwordHash } = command.params;
  if (passwordHash !== undefined && view.row("credentials", user.id)?.passwordHash !== passwordHash) {
    return refuse.authenticationFailed();
  }
  return done({ email: user.email, user_id: user.id }, [
    ...(login === undefined ? [] : loginEffects(view, user, login)),
    ...furtherKey(view, user.id, hash),
  ]);
}

/** One key more; when there are very many, the oldest of those that come and go makes room. */
export function furtherKey(view: View, userId: number, hash: string): Effect[] {
  const own = view.apiKeysOf(userId);
  const inOrder = [...own.filter((key) => !key.isKept), ...own.filter((key) => key.isKept)];
  const surplus = inOrder.slice(0, Math.max(0, own.length - limits.api_keys_per_user_max + 1));
  return [
    ...surplus.map((key) => effects.remove("apiKeys", key.hash)),
    effects.put("apiKeys", hash, newApiKey(view, userId, hash, "login")),
  ];
}

/** POST /users/me/api_key/regenerate: every key that there was ends in the turn that makes the new one (behaviour 11). */
export function regenerateApiKey(_context: unknown, command: Command<"user.api-key.regenerate">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.authenticationFailed();
  return done({}, replaceKeys(view, user.id, command.params.hash));
}

/** One new key instead of all others. */
export function replaceKeys(view: View, userId: number, hash: string): Effect[] {
  return [
    ...view.apiKeysOf(userId).map((key) => effects.remove("apiKeys", key.hash)),
    effects.put("apiKeys", hash, newApiKey(view, userId, hash, "kept")),
  ];
}
