/** Log-ins with address and password, for an API key or a session (behaviour 11, D28). */
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { RateLimits } from "../rate-limits.ts";
import type { Passwords } from "./passwords.ts";

export interface LoginTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
}

export interface VerifiedLogin {
  readonly user: UserRecord;
  /** The hash that the password was verified against. If it has changed by the turn, the log-in is rejected (S2). */
  readonly passwordHash: string | null;
}

export async function verifyLogin(
  realm: Realm,
  given: { readonly username: string; readonly password: string },
  address: string,
  { passwords, rates }: LoginTools,
): Promise<VerifiedLogin | Refusal> {
  // Counted before the slow comparison, or many concurrent attempts would all pass.
  const state = rates.take("login", address);
  if (state !== null && state.retryAfterS > 0) return refuse.rateLimitHit(state.retryAfterS);
  const user = realm.view.users.byEmail(given.username.trim());
  const passwordHash = user === undefined ? null : (realm.view.row("credentials", user.id)?.passwordHash ?? null);
  const matches = await passwords.verify(passwordHash, given.password);
  if (matches !== false) rates.giveBack("login", address);
  if (matches === null) return refuse.overloaded();
  if (!matches) rates.failed("password", address);
  if (!matches || user === undefined) return refuse.authenticationFailed();
  return user.isActive ? { user, passwordHash } : refuse.userDeactivated();
}
