/** Rows of API keys: several per user, individually revocable, stored as hashes (S2). */

import type { View } from "../../domain/view.ts";
import type { ApiKeyRecord } from "../../schemas/authentication.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** @param purpose "login": may be evicted by later logins; "kept": stays until it is replaced */
export function newApiKey(view: View, userId: UserId, hash: string, purpose: "login" | "kept"): ApiKeyRecord {
  return { hash, userId, createdAt: view.now, isKept: purpose === "kept" };
}

/** Adds a login key. If the user has too many keys, the oldest login key is evicted first. */
export function furtherKey(view: View, userId: UserId, hash: string): Effect[] {
  const own = view.apiKeysOf(userId);
  const inOrder = [...own.filter((key) => !key.isKept), ...own.filter((key) => key.isKept)];
  const surplus = inOrder.slice(0, Math.max(0, own.length - limits.api_keys_per_user_max + 1));
  return [
    ...surplus.map((key) => effects.remove("apiKeys", key.hash)),
    effects.put("apiKeys", hash, newApiKey(view, userId, hash, "login")),
  ];
}

/** Revokes all keys of a user. */
export function endKeys(view: View, userId: UserId): Effect[] {
  return view.apiKeysOf(userId).map((key) => effects.remove("apiKeys", key.hash));
}

/** Replaces all keys of a user by a new one. */
export function replaceKeys(view: View, userId: UserId, hash: string): Effect[] {
  return [...endKeys(view, userId), effects.put("apiKeys", hash, newApiKey(view, userId, hash, "kept"))];
}

/** Revokes the keys of logins. Keys that were written down stay (D135). */
export function endLoginKeys(view: View, userId: UserId): Effect[] {
  return view
    .apiKeysOf(userId)
    .filter((key) => !key.isKept)
    .map((key) => effects.remove("apiKeys", key.hash));
}
