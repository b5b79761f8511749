/**
 * The kinds of emails: one row per kind, with the data for its text (D31). The texts are in
 * src/outbound/mail/templates.ts; actors/rules/mail.ts queues emails. A new kind needs a row here and a template there.
 */
import { type Static, type TSchema, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";

const limits = {
  pending_mails_scanned_max: 10_000,
  mail_attempts_max: 16,
  mail_back_off_ms_min: 30_000,
  mail_back_off_ms_max: 4 * 60 * 60 * 1000,
  mail_deliveries_concurrent_max: 4,
  mail_delivery_ms_max: 60_000,
  mail_connect_ms_max: 10_000,
  mail_silence_ms_max: 30_000,
  mails_waiting_in_memory_max: 250,
  mail_drain_ms_max: 1000,
} as const;

/** Data available to every text; filled in by `mailEffects`. */
export interface MailBase {
  readonly realmName: string;
  /** Name in the salutation; "" if unknown. */
  readonly fullName: string;
}

/** Reasons for sending a message by email; the first that applies is used. */
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

/** The recipient and the messages of an email, which are checked again before each retry. */
const aboutMessages = { userId: Type.Integer(), messageIds: Type.Array(Type.Integer()) };

export const mailTemplates = {
  /** A login from a new program or location. `at`: milliseconds since 1970; `timezone`: an IANA name or "". */
  "new-login": Type.Object({
    email: Type.String(),
    client: Type.String(),
    address: Type.String(),
    at: Type.Integer(),
    timezone: Type.String(),
  }),
  /** `comment`: from the administrator; "": none. */
  "account-deactivated": Type.Object({ comment: Type.String() }),
  /** Sent to the new address; `link` contains the key. */
  "confirm-new-address": Type.Object({ email: Type.String(), newEmail: Type.String(), link: Type.String() }),
  /** Sent to the old address after the link was followed. */
  "address-changed": Type.Object({ newEmail: Type.String() }),
  /** `link` contains the key. */
  "password-reset": Type.Object({ email: Type.String(), link: Type.String() }),
  /** Sent after a link was used. */
  "password-changed": Type.Object({ email: Type.String() }),
  /** Sent to an address without an account. `at`: when the link expires, in milliseconds since 1970; null: never. */
  invitation: Type.Object({
    inviter: Type.String(),
    at: Type.Union([Type.Integer(), Type.Null()]),
    link: Type.String(),
  }),
  /** Missed messages in one conversation. `path` leads to it, relative to the organization's URL. */
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
    /** `html` null: too long for an email. */
    messages: Type.Array(
      Type.Object({ sender: Type.String(), sentAt: Type.Integer(), html: Type.Union([Type.String(), Type.Null()]) }),
    ),
    /** Number of older messages left out. */
    omitted: Type.Integer(),
    isCut: Type.Boolean(),
    ...aboutMessages,
  }),
  /** The same if emails must not contain the messages, their authors or the conversation. */
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

/** A pending email: written in the turn that causes it, deleted in the turn that records its acceptance (M3). */
export interface MailRecord {
  readonly id: number;
  /** Template name; see outbound/mail. */
  readonly template: string;
  readonly to: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** Number of failed attempts. */
  readonly attempts: number;
  /** Earliest time of the next attempt. */
  readonly dueAt: number;
}

/** Parameters of its commands, by type. */
export interface MailsCommands {
  "mail.sent": Record<string, never>;
  /** `reason` contains status codes only, never content (S2). */
  "mail.failed": { readonly isPermanent: boolean; readonly reason: string };
  "mail.due": Record<string, never>;
  /** `wasAccepted`: the email had already been accepted for delivery. */
  "mail.abandon": { readonly wasAccepted: boolean };
}

export const mailsArea = defineArea({
  commands: defineCommands<MailsCommands>(),
  tables: {
    mails: defineTable<number, MailRecord>({
      fields: ["id", "template", "to", "data", "createdAt", "attempts", "dueAt"],
      dates: ["createdAt", "dueAt"],
    }),
    /** Emails that were given up, until an operator resends or drops them. */
    deadMails: defineTable<number, MailRecord>({
      fields: ["id", "template", "to", "data", "createdAt", "attempts", "dueAt"],
      dates: ["createdAt", "dueAt"],
    }),
  },
  counters: ["mail"],
  limits,
});
