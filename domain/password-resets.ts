/** The links that set a new password (D257): their form, and whether one is valid. */
import { limits } from "../schemas/limits.ts";
import type { PasswordResetRecord } from "../schemas/password-reset.ts";
import type { UserRecord } from "../schemas/users.ts";
import type { View } from "./view.ts";

export const passwordResetPrefix = "/accounts/password/reset/";

/** @param site the organization's address, without a trailing slash */
export function resetLink(site: string, key: string): string {
  return `${site}${passwordResetPrefix}${key}`;
}

/** The account whose password the link may set now; undefined: the link is not valid. */
export function accountOfReset(view: View, reset: PasswordResetRecord | undefined): UserRecord | undefined {
  if (reset === undefined || view.now - reset.createdAt >= limits.password_reset_link_ms) return undefined;
  const user = view.users.get(reset.userId);
  return user?.isActive === true && user.botType === null && user.email === reset.email ? user : undefined;
}
