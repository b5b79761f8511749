/** What a section of POST /register's state is: a function of the view, for one person and one request. */
import type { UserRecord } from "../../schemas/records.ts";
import type { ExtraType } from "../domain/emoji/extra-type.ts";
import type { View } from "../domain/view.ts";
import type { PresenceSource } from "./presence.ts";
import type { SubscriberLists } from "./subscriptions.ts";

/** As the server is configured. */
export interface UploadBounds {
  /** Of one file. */
  readonly maxFileMib: number;
  /** Of all files of an organization; null: no bound. */
  readonly quotaMib: number | null;
}

export interface StateRequest {
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  readonly subscriberLists: SubscriberLists;
  readonly presenceHistoryDays: number;
  readonly allowsNullNotifications: boolean;
  /** The client knows topics without a name (capability `empty_topic_name`). */
  readonly allowsEmptyTopicName: boolean;
  /** The client takes its settings as one object (capability `user_settings_object`), not at the top level. */
  readonly takesSettingsObject: boolean;
  /** Whether the client can do without people of whom it may not know (public API: user_list_incomplete). */
  readonly allowsIncompleteUserList: boolean;
  /** The client can expand URL templates (capability `linkifier_url_template`). */
  readonly takesUrlTemplates: boolean;
  /** The client knows deactivated user groups as such (capability `include_deactivated_groups`). */
  readonly includesDeactivatedGroups: boolean;
  /** Whether archived channels exist for the client (capability `archived_channels`). */
  readonly showsArchived: boolean;
  /** What the client calls the extra emoji's type (D22). */
  readonly extraEmojiType: ExtraType;
  readonly siteUrl: string;
  readonly limitsPresence: boolean;
  /** Server switch of spec 4.3 (D6). */
  readonly webPublicStreamsEnabled: boolean;
  readonly uploads: UploadBounds;
  /** When this process began to serve; milliseconds. */
  readonly startedAt: number;
  readonly presences: PresenceSource;
}

export type Section = (view: View, user: UserRecord, request: StateRequest) => Record<string, unknown>;
