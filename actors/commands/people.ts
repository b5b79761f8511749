/** What commands about people, bots and what is theirs carry (commands.ts). Plain data: it is stored (M3). */
import type { ParsedContent } from "../../src/domain/markdown/render.ts";
import type { FieldData, FieldDraft } from "../../src/domain/profile-fields.ts";

export interface BotCreate {
  readonly email: string;
  readonly fullName: string;
  readonly botType: number;
  readonly apiKeyHash: string;
  /** null: it posts nowhere. The token is random, and comes with the command (M4). */
  readonly service: {
    readonly name: string;
    readonly payloadUrl: string;
    readonly interfaceType: number;
    readonly token: string;
  } | null;
  /** Names of channels; null: none. */
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean;
}

/** null: not sent, stays as it is. An empty channel name is none. */
export interface BotUpdate {
  readonly botId: number;
  readonly fullName: string | null;
  readonly role: number | null;
  readonly ownerId: number | null;
  readonly payloadUrl: string | null;
  readonly interfaceType: number | null;
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean | null;
}

export interface ProfileFieldDraft extends FieldDraft {
  readonly isRequired: boolean;
  readonly isEditableByUser: boolean;
}

/** null: not sent, stays as it is. */
export interface ProfileFieldUpdate {
  readonly fieldId: number;
  readonly name: string | null;
  readonly hint: string | null;
  readonly fieldData: FieldData | null;
  readonly displayInSummary: boolean | null;
  readonly isRequired: boolean | null;
  readonly isEditableByUser: boolean | null;
}

/** A value of a person's profile; null, "" and [] remove it. */
export interface ProfileValueChange {
  readonly id: number;
  readonly value: string | readonly number[] | null;
  /** The text's Markdown, for fields that render it. */
  readonly parsed: ParsedContent | null;
}

/** A request to PATCH /settings, looked at; null leaves a thing as it is. */
export interface SettingsChange {
  /** Values of rows of `userSettings`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly fullName: string | null;
  /** `formerHash` is what the former password was verified against; null: it was wrong. */
  readonly password: { readonly formerHash: string | null; readonly hash: string } | null;
}

/** Where somebody logs in from; `fingerprint` is a hash of program and coarse place. */
export interface Login {
  readonly fingerprint: string;
  readonly client: string;
  readonly address: string;
}

/** null: not passed, so it stays (spec 4.12). */
export interface StatusChange {
  readonly text: string | null;
  readonly emojiName: string | null;
  readonly emojiCode: string | null;
  readonly reactionType: string | null;
  readonly away: boolean | null;
  /** The caller's own; else an administrator's change of somebody else's (spec 4.11). */
  readonly isOwn: boolean;
}

/** A draft whose texts are within their bounds. */
export interface DraftContent {
  /** "" has no address. */
  readonly type: "" | "channel" | "direct";
  /** One channel, or people, each once. */
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Milliseconds; null: the turn's time. */
  readonly changedAt: number | null;
}

/** Whose account: by id, or by an address as the caller knows it, on the host that the caller calls this server (spec 4.8). */
export type UserTarget = { readonly id: number } | { readonly address: string; readonly host: string };

/** Spec 4.8; null leaves as it is. */
export interface UserUpdate {
  readonly target: UserTarget;
  readonly fullName: string | null;
  /** Any number: which are roles is decided with the rest (D11). */
  readonly role: number | null;
  readonly profileData: readonly ProfileValueChange[];
  readonly newEmail: string | null;
}

export interface UserDeactivation {
  readonly userId: number;
  /** null: no mail; "": a mail without a text of the caller's (spec 4.20). */
  readonly comment: string | null;
}
