/** Links in emails that switch such emails off, without a login (RFC 8058; D258). */
import { defineArea, defineCommands, defineTable } from "./area.ts";
import type { MailTemplate } from "./mails.ts";
import type { UserSettingName } from "./user-settings.ts";

const limits = {
  /** Channels whose own setting one command switches off; a further command continues. */
  unsubscribed_channels_per_command_max: 200,
} as const;

export interface UnsubscribeKind {
  readonly templates: readonly MailTemplate[];
  /** Settings of the user that are switched off. */
  readonly settings: readonly Exclude<UserSettingName, "timezone">[];
  /** Whether settings of single channels that demand emails are switched off, too. */
  readonly includesChannels: boolean;
}

/** The kinds of emails that a user can do without, by their name in links. Emails of all other templates have no link. */
export const unsubscribeKinds = {
  missed_messages: {
    templates: ["missed-messages", "missed-messages-hidden"],
    settings: [
      "enable_offline_email_notifications",
      "enable_followed_topic_email_notifications",
      "enable_stream_email_notifications",
    ],
    includesChannels: true,
  },
  login: { templates: ["new-login"], settings: ["enable_login_emails"], includesChannels: false },
} as const satisfies Record<string, UnsubscribeKind>;
export type UnsubscribeKindName = keyof typeof unsubscribeKinds;

/** The secret that signs the links of an organization. It must be used again, so it is not stored as a hash (S2). */
export interface LinkSecretRecord {
  readonly secret: string;
}

/** Parameters of its commands, by type. */
export interface UnsubscribesCommands {
  /** The first secret is kept. */
  "link-secret.set": { readonly secret: string };
  /** `email`: the address that the link was sent to. */
  "user.unsubscribe": { readonly kind: UnsubscribeKindName; readonly email: string };
}

export const unsubscribesArea = defineArea({
  commands: defineCommands<UnsubscribesCommands>(),
  tables: {
    linkSecrets: defineTable<"unsubscribe", LinkSecretRecord>({ fields: ["secret"] }),
  },
  limits,
});
