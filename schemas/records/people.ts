/** Durable shapes of what is one person's (spec 2.3, 2.6, 2.7, 2.10). The rules of `schemas/records.ts` hold. */
import type { Role } from "../types.ts";

export interface UserRecord {
  readonly id: number;
  /** The real address, as given. Compared case-insensitively. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly joinedAt: number;
  readonly timezone: string;
  /** null for people; 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded. */
  readonly botType: number | null;
  readonly botOwnerId: number | null;
  /** Bumped when the avatar changes; the URL carries it. */
  readonly avatarVersion: number;
  /** Only what differs from the defaults (spec 2.3); what the organization set for new people is copied here when they join. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * Path of the uploaded picture below `/user_avatars/`: the realm's id and the file's name (see schemas/files.ts); null: the
   * picture is made from the address.
   */
  readonly avatarFile: string | null;
  /** Granted to single owners on the command line (D7). */
  readonly canChangeUserEmails: boolean;
}

export interface CredentialRecord {
  readonly userId: number;
  /** Argon2id in PHC form (S2). */
  readonly passwordHash: string;
}

/** Keyed by the SHA-256 of the key (S2). */
export interface ApiKeyRecord {
  readonly hash: string;
  readonly userId: number;
  readonly createdAt: number;
  /**
   * Somebody wrote it down on purpose: in zuliprc, in a bot's configuration. Keys of logins come and go, and the oldest of
   * them makes room for a new one; a kept key ends only when it is replaced.
   */
  readonly isKept: boolean;
}

/** What a bot has beside its account: what it does where a request does not say. */
export interface BotRecord {
  readonly userId: number;
  /** Where its messages go that name no channel. */
  readonly defaultSendingChannelId: number | null;
  /** The channel whose messages its event queues are narrowed to, when they are registered without a narrow. */
  readonly defaultEventsChannelId: number | null;
  /** `all_public_streams` of its event queues, where it is not said. */
  readonly isAllPublicByDefault: boolean;
}

/** Where an outgoing bot posts to, and what it proves itself with: recoverable by nature, kept apart (S2). */
export interface BotServiceRecord {
  readonly userId: number;
  readonly serviceName: string;
  readonly payloadUrl: string;
  /** 1 generic, 2 Slack-compatible. */
  readonly interfaceType: number;
  readonly token: string;
}

/** Spec 2.7. Empty texts are what is not set; a row with nothing set is removed. */
export interface StatusRecord {
  readonly userId: number;
  readonly statusText: string;
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: string;
}

/** A custom profile field of the organization (public API: /realm/profile_fields). */
export interface ProfileFieldRecord {
  readonly id: number;
  /** See `profileFieldTypes`. */
  readonly type: number;
  readonly name: string;
  readonly hint: string;
  /** Position in the list. */
  readonly order: number;
  /** Choices of a list field, the pattern of an external account; JSON text as the client gave it, "" for none. */
  readonly fieldData: string;
  readonly displayInSummary: boolean;
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
  readonly isUsedForMatching: boolean;
}

export interface ProfileValueRecord {
  readonly userId: number;
  readonly fieldId: number;
  readonly value: string;
  /** HTML, for fields of text with Markdown; null for the others. */
  readonly renderedValue: string | null;
}

export interface SavedSnippetRecord {
  readonly id: number;
  readonly userId: number;
  readonly title: string;
  readonly content: string;
  readonly createdAt: number;
}

export interface NavigationViewRecord {
  readonly userId: number;
  readonly fragment: string;
  readonly isPinned: boolean;
  /** null for built-in views. */
  readonly name: string | null;
}

export interface DraftRecord {
  readonly id: number;
  readonly userId: number;
  /** "", "channel" or "direct". */
  readonly type: string;
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** When the client last changed it. */
  readonly changedAt: number;
}

export interface AlertWordRecord {
  readonly word: string;
}

export interface MutedUserRecord {
  readonly mutedAt: number;
}

/** A custom emoji (public API: /realm/emoji). Deactivated ones stay, for what was written with them. */
export interface RealmEmojiRecord {
  readonly id: number;
  readonly name: string;
  readonly authorId: number;
  readonly isActive: boolean;
  /** Name of the image in the realm's files. */
  readonly file: string;
  /** Name of its first frame, when it is animated. */
  readonly stillFile: string | null;
  readonly createdAt: number;
}

/** Keyed by the SHA-256 of the key in the link (S2). Gone when it was followed or is too old. */
export interface EmailChangeRecord {
  readonly userId: number;
  readonly newEmail: string;
  readonly createdAt: number;
}

/** A mail that is to be sent: written in the turn of its cause, removed in the turn that knows it was taken (M3). */
export interface MailRecord {
  readonly id: number;
  /** Which template; see outbound/mail. */
  readonly template: string;
  readonly to: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** Deliveries that failed. */
  readonly attempts: number;
  /** Not before this time. */
  readonly dueAt: number;
}

/** Messages that came while somebody was away and that a mail will tell of, unless they are read first (D31). */
export interface MissedMessagesRecord {
  /** Ascending, the newest ones. Empty: the row only counts mails. */
  readonly messageIds: readonly number[];
  /** There were more than are remembered. */
  readonly isCut: boolean;
  /** When the first of them came. */
  readonly startedAt: number;
  readonly dueAt: number;
  /** When the timer rings that counts: by then, or before it to look again. */
  readonly ringsAt: number;
  /** When the hour began in which mails are counted, and how many were written in it. */
  readonly hourStartedAt: number;
  readonly mailsInHour: number;
}

/** A program and place that a person has logged in from, for the mail about new ones. */
export interface LoginRecord {
  readonly seenAt: number;
}
