/** Changes of email addresses that wait for a confirmation (spec 4.18). */

import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import type { UserId } from "./ids.ts";

const limits = {
  email_change_link_ms: 24 * 60 * 60 * 1000,
  /** A request for the same address within this time sends nothing: the button was pressed twice (D261). */
  email_change_repeat_ms: 60 * 1000,
  email_changes_per_hour_max: 2,
  email_changes_per_day_max: 5,
} as const;

/** Keyed by the SHA-256 of the key in the link (S2). Removed when the link is followed or has expired. */
export interface EmailChangeRecord {
  readonly userId: UserId;
  readonly newEmail: string;
  readonly createdAt: number;
}

/** Parameters of its commands, by type. */
export interface EmailChangeCommands {
  "user.email-change.request": { readonly newEmail: string; readonly keyHash: string; readonly link: string };
  "user.email-change.expire": { readonly keyHash: string; readonly requestedAt: number };
  "user.email-change.confirm": { readonly keyHash: string };
}

/** Their replies, by type; other commands reply without fields. */
export interface EmailChangeReplies {
  readonly "user.email-change.confirm": { readonly email: string };
}

export const emailChangeArea = defineArea({
  commands: defineCommands<EmailChangeCommands, EmailChangeReplies>(),
  tables: {
    emailChanges: defineTable<string, EmailChangeRecord>({
      fields: ["userId", "newEmail", "createdAt"],
      dates: ["createdAt"],
    }),
    /** Requests of the last day, for the rate limit; only the newest one's link is valid. */
    emailChangeRequests: defineTable<readonly [userId: UserId, requestedAt: number, keyHash: string], Empty>({
      fields: [],
    }),
  },
  limits,
});
