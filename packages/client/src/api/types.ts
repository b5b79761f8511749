/** Generated from schemas/ by `npm run client:api`; do not edit. */
export type TopicLink = { readonly text: string; readonly url: string };

export type RealmDomain = { readonly domain: string; readonly allow_subdomains: boolean };

export type MatchFields = { readonly match_content: string; readonly match_subject: string };

export type BotService = { readonly base_url: string; readonly interface: number; readonly token: string };

export type NavigationView = { readonly fragment: string; readonly is_pinned: boolean; readonly name: string | null };

export type Linkifier = { readonly id: number; readonly pattern: string; readonly url_template: string };

export type ProfileDataElement = { readonly id: number; readonly value: string | readonly number[] | null };

export type UserStatus = {
  readonly away?: boolean;
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
};

export type SavedSnippet = {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly date_created: number;
};

export type GroupValue =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] };

export type UserTopic = {
  readonly stream_id: number;
  readonly topic_name: string;
  readonly last_updated: number;
  readonly visibility_policy: 0 | 1 | 2 | 3;
};

export type Playground = {
  readonly id: number;
  readonly name: string;
  readonly pygments_language: string;
  readonly url_template: string;
};

export type Reaction = {
  readonly emoji_name: string;
  readonly emoji_code: string;
  readonly reaction_type: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
  readonly user_id: number;
};

export type NewDraft = {
  readonly type: "" | "private" | "stream";
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  readonly timestamp?: number | null;
};

export type NarrowTerm =
  | { readonly operator: string; readonly operand: string | number | readonly number[]; readonly negated?: boolean }
  | readonly string[];

export type Draft = {
  readonly id: number;
  readonly type: "" | "stream" | "private";
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  readonly timestamp: number;
};

export type RealmEmoji = {
  readonly id: string;
  readonly name: string;
  readonly source_url: string;
  readonly still_url: string | null;
  readonly deactivated: boolean;
  readonly author_id: number;
};

export type Submessage = {
  readonly id: number;
  readonly message_id: number;
  readonly sender_id: number;
  readonly msg_type: string;
  readonly content: string;
};

export type EmojiById = Readonly<Record<string, RealmEmoji>>;

export type ProfileField = {
  readonly id: number;
  readonly type: number;
  readonly order: number;
  readonly name: string;
  readonly hint: string;
  readonly field_data: string;
  readonly required: boolean;
  readonly editable_by_user: boolean;
  readonly display_in_profile_summary?: boolean;
};

export type Attachment = {
  readonly id: number;
  readonly name: string;
  readonly path_id: string;
  readonly size: number;
  readonly create_time: number;
  readonly messages: readonly { readonly id: number; readonly date_sent: number }[];
};

export type EditHistoryEntry = {
  readonly user_id: number;
  readonly timestamp: number;
  readonly prev_content?: string;
  readonly prev_rendered_content?: string;
  readonly prev_topic?: string;
  readonly topic?: string;
  readonly prev_stream?: number;
  readonly stream?: number;
};

export type PermissionSetting = {
  readonly require_system_group: boolean;
  readonly allow_internet_group: boolean;
  readonly allow_nobody_group: boolean;
  readonly allow_everyone_group: boolean;
  readonly default_group_name: string;
  readonly default_for_system_groups: string | null;
  readonly allowed_system_groups: readonly string[];
};

export type ChannelFolder = {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly rendered_description: string;
  readonly creator_id: number | null;
  readonly date_created: number;
  readonly is_archived: boolean;
  readonly order: number;
};

export type Invite = {
  readonly id: number;
  readonly invited_by_user_id: number;
  readonly invited: number;
  readonly expiry_date: number | null;
  readonly invited_as: 100 | 200 | 300 | 400 | 600;
  readonly is_multiuse: boolean;
  readonly notify_referrer_on_join: boolean;
  readonly email?: string;
  readonly link_url?: string;
};

export type Reminder = {
  readonly reminder_id: number;
  readonly type: "private";
  readonly to: readonly number[];
  readonly content: string;
  readonly rendered_content: string;
  readonly scheduled_delivery_timestamp: number;
  readonly failed: boolean;
  readonly reminder_target_message_id: number;
};

export type ScheduledMessage = {
  readonly scheduled_message_id: number;
  readonly type: "stream" | "private";
  readonly to: number | readonly number[];
  readonly topic?: string;
  readonly content: string;
  readonly rendered_content: string;
  readonly scheduled_delivery_timestamp: number;
  readonly failed: boolean;
};

export type GroupSettingChange = { readonly new: GroupValue; readonly old?: GroupValue | null };

export type Bot = {
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
  readonly bot_type: number | null;
  readonly is_active: boolean;
  readonly api_key: "";
  readonly avatar_url: string | null;
  readonly owner_id: number | null;
  readonly default_sending_stream: string | null;
  readonly default_events_register_stream: string | null;
  readonly default_all_public_streams: boolean;
  readonly services: readonly BotService[];
};

export type RegisteredUser = {
  readonly user_id: number;
  readonly email: string;
  readonly delivery_email: string | null;
  readonly full_name: string;
  readonly avatar_url: string | null;
  readonly avatar_version: number;
  readonly date_joined: string;
  readonly timezone: string;
  readonly role: 100 | 200 | 300 | 400 | 600;
  readonly is_admin: boolean;
  readonly is_owner: boolean;
  readonly is_guest: boolean;
  readonly is_bot: boolean;
  readonly bot_type: number | null;
  readonly bot_owner_id: number | null;
  readonly profile_data?: Readonly<Record<string, { readonly value: string; readonly rendered_value?: string }>>;
};

export type User = {
  readonly user_id: number;
  readonly email: string;
  readonly delivery_email: string | null;
  readonly full_name: string;
  readonly avatar_url: string | null;
  readonly avatar_version: number;
  readonly date_joined: string;
  readonly timezone: string;
  readonly role: 100 | 200 | 300 | 400 | 600;
  readonly is_active: boolean;
  readonly is_admin: boolean;
  readonly is_owner: boolean;
  readonly is_guest: boolean;
  readonly is_bot: boolean;
  readonly bot_type: number | null;
  readonly bot_owner_id: number | null;
  readonly profile_data?: Readonly<Record<string, { readonly value: string; readonly rendered_value?: string }>>;
};

export type UserGroup = {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly members: readonly number[];
  readonly direct_subgroup_ids: readonly number[];
  readonly creator_id: number | null;
  readonly date_created: number | null;
  readonly is_system_group: boolean;
  readonly deactivated: boolean;
  readonly can_add_members_group: GroupValue;
  readonly can_join_group: GroupValue;
  readonly can_leave_group: GroupValue;
  readonly can_manage_group: GroupValue;
  readonly can_mention_group: GroupValue;
  readonly can_remove_members_group: GroupValue;
};
