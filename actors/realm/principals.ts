/**
 * The users that a subscription request applies to (public API, parameter principals): ids or addresses; by default the
 * caller.
 */

import { apiEmail, canAccessUser, deliveryEmail, personByAddress } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";

/**
 * Each user once, in the order of the request. A user or an address that the caller may not see is treated as
 * nonexistent (S1).
 */
export function resolvePrincipals(
  view: View,
  caller: UserRecord,
  principals: readonly (number | string)[] | null,
): UserRecord[] | Refusal {
  if (principals === null || principals.length === 0) return [caller];
  const users = new Map<number, UserRecord>();
  for (const principal of principals) {
    const user = typeof principal === "number" ? view.users.get(principal) : addressed(view, caller, principal);
    if (user === undefined || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
    if (!user.isActive) return refuse.badRequest("User is deactivated");
    users.set(user.id, user);
  }
  return [...users.values()];
}

function addressed(view: View, caller: UserRecord, address: string): UserRecord | undefined {
  const user = personByAddress(view, caller, address);
  if (user === undefined) return undefined;
  const isShown = deliveryEmail(user, caller) !== null || apiEmail(user) === address.toLowerCase();
  return isShown ? user : undefined;
}
