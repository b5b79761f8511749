/** A section of POST /register's state: a function of the view, for one user and one request. */

import type { ExtraType } from "../../domain/emoji/extra-type.ts";
import type { View } from "../../domain/view.ts";
import type { PresenceRecord } from "../../schemas/presence.ts";
import type { SectionName, StateOf } from "../../schemas/register.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { SubscriberLists } from "./subscriptions.ts";

/** The realm's presence records. */
export interface PresenceSource {
  all(): Iterable<PresenceRecord>;
  newerThan(updateId: number): Iterable<PresenceRecord>;
}

/** From the server's configuration. */
export interface UploadBounds {
  /** Limit for one file. */
  readonly maxFileMib: number;
  /** Limit for all files of an organization; null: unlimited. */
  readonly quotaMib: number | null;
}

export interface StateRequest {
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  readonly subscriberLists: SubscriberLists;
  readonly presenceHistoryDays: number;
  readonly allowsNullNotifications: boolean;
  /** The client supports topics without a name (capability `empty_topic_name`). */
  readonly allowsEmptyTopicName: boolean;
  /** The client expects its settings as one object (capability `user_settings_object`), not at the top level. */
  readonly takesSettingsObject: boolean;
  /** The client supports lists without the users it may not see (public API: user_list_incomplete). */
  readonly allowsIncompleteUserList: boolean;
  /** The client can expand URL templates (capability `linkifier_url_template`). */
  readonly takesUrlTemplates: boolean;
  /** The client supports deactivated user groups (capability `include_deactivated_groups`). */
  readonly includesDeactivatedGroups: boolean;
  /** The client supports archived channels (capability `archived_channels`). */
  readonly showsArchived: boolean;
  /** The client's name for the type of the extra emoji (D22). */
  readonly extraEmojiType: ExtraType;
  readonly siteUrl: string;
  readonly limitsPresence: boolean;
  /** Whether the server allows web-public channels (spec 4.3, D6). */
  readonly webPublicStreamsEnabled: boolean;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
  readonly uploads: UploadBounds;
  /** When this process started to serve, in milliseconds. */
  readonly startedAt: number;
  readonly presences: PresenceSource;
}

export type Section<S extends SectionName> = (view: View, user: UserRecord, request: StateRequest) => StateOf<S>;

/** By event type. */
export type Sections = { readonly [S in SectionName]: Section<S> };

/**
 * Appends the JSON of a value to an answer, in steps of bounded work. The value was collected before, so turns between
 * the steps change nothing of it. Each step yields the number of characters that it had to encode.
 */
export type JsonWriter = (parts: (string | Buffer)[]) => Iterable<number>;

/** The fields of a section at one moment: values that no turn modifies, or what writes them. */
export type CollectedFields<S extends SectionName> = {
  readonly [K in keyof StateOf<S>]: StateOf<S>[K] | JsonWriter;
};

/** A section whose size grows with the organization, for a viewer who may see all users. */
export interface LongSection<S extends SectionName> {
  /** Encodes what `collect` would have to encode, in steps like those of a `JsonWriter`. */
  prepare?(): Iterable<number>;
  /** Collects the section in one instant. */
  collect(user: UserRecord): CollectedFields<S>;
}

/** Each request begins the sections that it wants. */
export type BeginSection<S extends SectionName> = (
  view: View,
  user: UserRecord,
  request: StateRequest,
) => LongSection<S>;

/** By event type. */
export type LongSections = { readonly [S in SectionName]?: BeginSection<S> };
