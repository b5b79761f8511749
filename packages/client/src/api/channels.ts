/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { Channel } from "./type-channel.ts";
import type { GroupSettingChange, GroupValue } from "./types.ts";
export interface ChannelsOperations {
  /** Creates a channel and subscribes users to it (spec 4.3). */
  "POST /channels/create": {
    readonly params: {
      readonly name: string;
      readonly subscribers: readonly number[];
      readonly description?: string;
      readonly send_new_subscription_messages?: boolean;
      readonly announce?: boolean;
      readonly invite_only?: boolean;
      readonly is_web_public?: boolean;
      readonly is_default_stream?: boolean;
      readonly folder_id?: number | null;
      readonly topics_policy?: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
      readonly history_public_to_subscribers?: boolean;
      readonly message_retention_days?: number | string;
      readonly can_add_subscribers_group?: GroupValue;
      readonly can_administer_channel_group?: GroupValue;
      readonly can_delete_any_message_group?: GroupValue;
      readonly can_delete_own_message_group?: GroupValue;
      readonly can_move_messages_out_of_channel_group?: GroupValue;
      readonly can_move_messages_within_channel_group?: GroupValue;
      readonly can_remove_subscribers_group?: GroupValue;
      readonly can_send_message_group?: GroupValue;
      readonly can_subscribe_group?: GroupValue;
      readonly can_resolve_topics_group?: GroupValue;
    };
    readonly result: { readonly id: number };
  };
  /** Returns the channels that the caller can see. */
  "GET /streams": {
    readonly params: {
      readonly include_public?: boolean;
      readonly include_web_public?: boolean;
      readonly include_subscribed?: boolean;
      readonly exclude_archived?: boolean;
      readonly include_all?: boolean;
      readonly include_all_active?: boolean;
      readonly include_default?: boolean;
      readonly include_owner_subscribed?: boolean;
      readonly include_can_access_content?: boolean;
    };
    readonly result: {
      readonly streams: readonly {
        readonly stream_id: number;
        readonly name: string;
        readonly description: string;
        readonly rendered_description: string;
        readonly creator_id: number | null;
        readonly date_created: number;
        readonly invite_only: boolean;
        readonly is_web_public: boolean;
        readonly history_public_to_subscribers: boolean;
        readonly is_archived: boolean;
        readonly is_recently_active: boolean;
        readonly is_announcement_only: boolean;
        readonly stream_post_policy: number;
        readonly stream_weekly_traffic: number | null;
        readonly subscriber_count: number;
        readonly first_message_id: number | null;
        readonly folder_id: number | null;
        readonly message_retention_days: number | null;
        readonly topics_policy: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
        readonly can_add_subscribers_group: GroupValue;
        readonly can_administer_channel_group: GroupValue;
        readonly can_delete_any_message_group: GroupValue;
        readonly can_delete_own_message_group: GroupValue;
        readonly can_move_messages_out_of_channel_group: GroupValue;
        readonly can_move_messages_within_channel_group: GroupValue;
        readonly can_remove_subscribers_group: GroupValue;
        readonly can_send_message_group: GroupValue;
        readonly can_subscribe_group: GroupValue;
        readonly can_resolve_topics_group: GroupValue;
        readonly is_default?: boolean;
      }[];
    };
  };
  /** Returns one channel that the caller can see, archived or not. */
  "GET /streams/{stream_id}": {
    readonly params: { readonly stream_id: number };
    readonly result: { readonly stream: Channel };
  };
  /** Returns the id of the channel with the given name, compared case-insensitively. */
  "GET /get_stream_id": {
    readonly params: { readonly stream: string };
    readonly result: { readonly stream_id: number };
  };
  /** Changes a channel atomically (spec 4.4); only its administrators. */
  "PATCH /streams/{stream_id}": {
    readonly params: {
      readonly stream_id: number;
      readonly description?: string;
      readonly new_name?: string;
      readonly is_private?: boolean;
      readonly is_web_public?: boolean;
      readonly history_public_to_subscribers?: boolean;
      readonly is_default_stream?: boolean;
      readonly message_retention_days?: number | string;
      readonly is_archived?: boolean;
      readonly folder_id?: number | null;
      readonly topics_policy?: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
      readonly can_add_subscribers_group?: GroupSettingChange;
      readonly can_administer_channel_group?: GroupSettingChange;
      readonly can_delete_any_message_group?: GroupSettingChange;
      readonly can_delete_own_message_group?: GroupSettingChange;
      readonly can_move_messages_out_of_channel_group?: GroupSettingChange;
      readonly can_move_messages_within_channel_group?: GroupSettingChange;
      readonly can_remove_subscribers_group?: GroupSettingChange;
      readonly can_send_message_group?: GroupSettingChange;
      readonly can_subscribe_group?: GroupSettingChange;
      readonly can_resolve_topics_group?: GroupSettingChange;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the address for emails to a channel: always empty, because this server accepts no email. */
  "GET /streams/{stream_id}/email_address": {
    readonly params: { readonly stream_id: number; readonly sender_id?: number };
    readonly result: { readonly email: "" };
  };
  /** Always rejected: this server does not support BigBlueButton calls. */
  "GET /calls/bigbluebutton/create": {
    readonly params: { readonly meeting_name: string; readonly voice_only?: boolean };
    readonly result: { readonly url: string };
  };
  /** Archives a channel, which stays readable but accepts no messages; only its administrators. */
  "DELETE /streams/{stream_id}": {
    readonly params: { readonly stream_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deletes all messages of a topic in batches, newest first (spec 4.13); organization administrators only. */
  "POST /streams/{stream_id}/delete_topic": {
    readonly params: { readonly stream_id: number; readonly topic_name: string };
    readonly result: { readonly complete: boolean };
  };
}

export interface ChannelsState {
  readonly streams?: readonly Channel[];
}
