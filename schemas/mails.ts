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

/** Why somebody gets a message by mail: the first that holds. */
export const mailReasons = [
  "direct",
  "mention",
  "group-mention",
  "topic-mention",
  "channel-mention",
  "followed-topic",
  "channel",
] as const;
export type MailReason = (typeof mailReasons)[number];

/** Whose messages a mail tells of, and which: asked again before each further attempt. */
const aboutMessages = { userId: Type.Integer(), messageIds: Type.Array(Type.Integer()) };

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
  /** To somebody who has no account yet; `at` is when the link ends, in milliseconds since 1970; null: never. */
  invitation: Type.Object({
    inviter: Type.String(),
    at: Type.Union([Type.Integer(), Type.Null()]),
    link: Type.String(),
  }),
  /** What somebody missed in one conversation. `path` leads to it, below the organization's address. */
  "missed-messages": Type.Object({
    conversation: Type.Union([
      Type.Object({ kind: Type.Literal("direct"), names: Type.Array(Type.String()), others: Type.Integer() }),
      Type.Object({
        kind: Type.Literal("channel"),
        channel: Type.String(),
        topic: Type.String(),
        isResolved: Type.Boolean(),
      }),
    ]),
    reason: Type.Enum(mailReasons),
    namesRealm: Type.Boolean(),
    timezone: Type.String(),
    path: Type.String(),
    /** `html` null: too long for a mail. */
    messages: Type.Array(
      Type.Object({ sender: Type.String(), sentAt: Type.Integer(), html: Type.Union([Type.String(), Type.Null()]) }),
    ),
    /** How many older ones the mail leaves out. */
    omitted: Type.Integer(),
    isCut: Type.Boolean(),
    ...aboutMessages,
  }),
  /** The same where mails must not say what was written, nor by whom or where. */
  "missed-messages-hidden": Type.Object({
    count: Type.Integer(),
    isCut: Type.Boolean(),
    namesRealm: Type.Boolean(),
    hiddenBy: Type.Enum(["person", "organization"]),
    ...aboutMessages,
  }),
} as const satisfies Record<string, TSchema>;

export type MailTemplate = keyof typeof mailTemplates;
export type MailData<T extends MailTemplate> = Static<(typeof mailTemplates)[T]>;
