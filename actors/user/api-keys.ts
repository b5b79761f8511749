/** API keys of a person: several, revocable one by one, stored as hashes (S2). */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { loginEffects } from "./logins.ts";

/** Adds a key; the oldest one goes when there are `api_keys_per_user_max` already. */
export function addApiKey(_context: unknown, command: Command<"user.api-key.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.authenticationFailed();
  if (!user.isActive) return refuse.userDeactivated();
  const own = view.apiKeysOf(user.id);
  const surplus = own.slice(0, Math.max(0, own.length - limits.api_keys_per_user_max + 1));
  const { hash, login } = command.params;
  return done({}, [
    ...(login === undefined ? [] : loginEffects(view, user, login)),
    ...surplus.map((key) => effects.remove("apiKeys", key.hash)),
    effects.put("apiKeys", hash, { hash, userId: user.id, createdAt: view.now }),
  ]);
}
