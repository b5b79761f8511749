/**
 * The mails that the server writes: one row is one kind of mail, with what its text needs (D31). What it says is in
 * src/outbound/mail/templates.ts; who writes one calls actors/mail.ts. Another kind is another row here and there.
 */
import { type Static, type TSchema, Type } from "typebox";

/** What every text may use: filled in by `mailEffects`. */
export interface MailBase {
  readonly realmName: string;
  /** Whom it greets; "" when that is not known. */
  readonly fullName: string;
}

export const mailTemplates = {
  /** A login from a program or place that is new. `at` is milliseconds since 1970, `timezone` an IANA name or "". */
  "new-login": Type.Object({
    email: Type.String(),
    client: Type.String(),
    address: Type.String(),
    at: Type.Integer(),
    timezone: Type.String(),
  }),
  /** `comment` is the administrator's, "" for none. */
  "account-deactivated": Type.Object({ comment: Type.String() }),
  /** To the new address; `link` holds the key. */
  "confirm-new-address": Type.Object({ email: Type.String(), newEmail: Type.String(), link: Type.String() }),
  /** To the old address, when the link was followed. */
  "address-changed": Type.Object({ newEmail: Type.String() }),
} as const satisfies Record<string, TSchema>;

export type MailTemplate = keyof typeof mailTemplates;
export type MailData<T extends MailTemplate> = Static<(typeof mailTemplates)[T]>;
