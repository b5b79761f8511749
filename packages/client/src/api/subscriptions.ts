/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { Subscription } from "./type-subscription.ts";
import type { GroupValue } from "./types.ts";
export interface SubscriptionsOperations {
  /** Returns the channels that the caller is subscribed to, with the caller's settings for each. */
  "GET /users/me/subscriptions": {
    readonly params: { readonly include_subscribers?: "true" | "false" | "partial" };
    readonly result: { readonly subscriptions: readonly Subscription[] };
  };
  /** Subscribes the caller or other users to channels; missing channels are created. */
  "POST /users/me/subscriptions": {
    readonly params: {
      readonly subscriptions: readonly {
        readonly name: string;
        readonly description?: string;
        readonly color?: string;
      }[];
      readonly principals?: readonly (number | string)[];
      readonly authorization_errors_fatal?: boolean;
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
    readonly result: {
      readonly subscribed: Readonly<Record<string, readonly string[]>>;
      readonly already_subscribed: Readonly<Record<string, readonly string[]>>;
      readonly unauthorized?: readonly string[];
      readonly new_subscription_messages_sent?: boolean;
    };
  };
  /** Unsubscribes the caller or other users from channels. */
  "DELETE /users/me/subscriptions": {
    readonly params: { readonly subscriptions: readonly string[]; readonly principals?: readonly (number | string)[] };
    readonly result: { readonly removed: readonly string[]; readonly not_removed: readonly string[] };
  };
  /** Subscribes the caller to some channels and unsubscribes them from others, atomically. */
  "PATCH /users/me/subscriptions": {
    readonly params: {
      readonly delete?: readonly string[];
      readonly add?: readonly { readonly name: string; readonly description?: string; readonly color?: string }[];
    };
    readonly result: {
      readonly subscribed: Readonly<Record<string, readonly string[]>>;
      readonly already_subscribed: Readonly<Record<string, readonly string[]>>;
      readonly removed: readonly string[];
      readonly not_removed: readonly string[];
      readonly new_subscription_messages_sent?: boolean;
    };
  };
  /** Changes the caller's settings for channels: color, muting, pinning, notifications. */
  "POST /users/me/subscriptions/properties": {
    readonly params: {
      readonly subscription_data: readonly {
        readonly stream_id: number;
        readonly property: string;
        readonly value: boolean | string;
      }[];
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the ids of all subscribers of a channel, ascending. */
  "GET /streams/{stream_id}/members": {
    readonly params: { readonly stream_id: number };
    readonly result: { readonly subscribers: readonly number[] };
  };
  /** Returns the channels that a user is subscribed to and the caller can see. */
  "GET /users/{user_id}/channels": {
    readonly params: { readonly user_id: number };
    readonly result: { readonly subscribed_channel_ids: readonly number[] };
  };
  /** Returns whether a user is subscribed to a channel. */
  "GET /users/{user_id}/subscriptions/{stream_id}": {
    readonly params: { readonly user_id: number; readonly stream_id: number };
    readonly result: { readonly is_subscribed: boolean };
  };
}

export interface SubscriptionsState {
  readonly subscriptions?: readonly Subscription[];
  readonly unsubscribed?: readonly Subscription[];
  readonly never_subscribed?: readonly {
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
    readonly subscribers?: readonly number[];
    readonly partial_subscribers?: readonly number[];
  }[];
}
