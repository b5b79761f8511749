/** Links that set a new password (D257): by email, or for an operator. */

import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import type { UserId } from "./ids.ts";

const limits = {
  password_reset_link_ms: 24 * 60 * 60 * 1000,
  password_resets_per_hour_max: 2,
  password_resets_per_day_max: 5,
  /** A request so soon after another one is the same: the button was pressed twice. */
  password_reset_repeat_ms: 60 * 1000,
} as const;

/** Keyed by the SHA-256 of the key in the link (S2). Removed when the link is used or has expired. */
export interface PasswordResetRecord {
  readonly userId: UserId;
  /** The address of the account when the link was made: it is not valid for another one. */
  readonly email: string;
  readonly createdAt: number;
}

/** Parameters of its commands, by type. */
export interface PasswordResetCommands {
  /** Replies the same whether there is such an account or not. */
  "password.reset-request": { readonly email: string; readonly keyHash: string; readonly link: string };
  /** An operator's link: it is shown, and not sent. */
  "password.reset-link": { readonly email: string; readonly keyHash: string };
  "password.reset": { readonly keyHash: string; readonly passwordHash: string };
  "password.reset-expire": { readonly keyHash: string; readonly userId: UserId; readonly requestedAt: number };
}

export const passwordResetArea = defineArea({
  commands: defineCommands<PasswordResetCommands>(),
  tables: {
    passwordResets: defineTable<string, PasswordResetRecord>({
      fields: ["userId", "email", "createdAt"],
      dates: ["createdAt"],
    }),
    /** The links of the last day that were sent, for the limits; only the newest link is valid. */
    passwordResetRequests: defineTable<readonly [userId: UserId, requestedAt: number, keyHash: string], Empty>({
      fields: [],
    }),
    /** The link of an operator, by user, until it is revoked or expires: it counts toward no limit. */
    operatorResets: defineTable<UserId, { readonly keyHash: string }>({ fields: ["keyHash"] }),
  },
  counters: ["passwordReset"],
  limits,
});
