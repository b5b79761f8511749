/**
 * Subscriptions of users to channels, and a user's settings for each (public API: get-subscriptions, subscribe,
 * unsubscribe, ...).
 */

import { type Static, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { type ChannelCreate, channelFields, creationParams } from "./channels.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { DeepReadonly } from "./event.ts";
import type { ChannelId, UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherIds, OtherText, UserIds } from "./person-marks.ts";
import { flag, Id, nullable } from "./types.ts";

const limits = {
  channels_per_request_max: 1000,
  /** Beyond it a user cannot subscribe others. Active and past ones, about 200 bytes of memory each. */
  subscriptions_per_realm_max: 2_000_000,
  /** Those in the channels that one person who is not an administrator created, with the person's bots. */
  channel_subscriptions_per_person_max: 100_000,
  /** If one request subscribes more users, none of them gets a direct message. */
  new_subscription_messages_max: 100,
  /** For a channel with fewer subscribers, clients that request a partial list receive all of them. */
  whole_subscriber_list_max: 250,
  subscribers_active_days: 14,
  /** Lists of subscribers as JSON, of all organizations together. */
  encoded_subscribers_bytes_max: 64 * 1024 * 1024,
  /** An id in such a list costs as much as encoding so many characters of JSON. */
  subscriber_characters: 10,
  subscribers_per_command_max: 200,
} as const;

const Names = Type.Array(Type.String(), { maxItems: limits.channels_per_request_max });

/** User ids or email addresses. */
const Principals = Type.Array(Type.Union([Id, Type.String({ maxLength: commonLimits.email_code_points_max })]), {
  maxItems: commonLimits.subscribers_per_request_max,
});

/** Only the one that the client asked for. */
const subscriberLists = { subscribers: Type.Optional(UserIds), partial_subscribers: Type.Optional(UserIds) };

/** A channel, and the subscriber's settings for it; a notification setting that is null inherits the user's. */
export const Subscription = Type.Object(
  {
    ...channelFields,
    color: OtherText,
    is_muted: Type.Boolean(),
    in_home_view: Type.Boolean(),
    pin_to_top: Type.Boolean(),
    desktop_notifications: nullable(Type.Boolean()),
    audible_notifications: nullable(Type.Boolean()),
    push_notifications: nullable(Type.Boolean()),
    email_notifications: nullable(Type.Boolean()),
    wildcard_mentions_notify: nullable(Type.Boolean()),
    ...subscriberLists,
  },
  { title: "Subscription" },
);
export type SubscriptionBody = DeepReadonly<Static<typeof Subscription>>;

export const getSubscriptions = defineEndpoint({
  operationId: "get-subscriptions",
  method: "GET",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the channels that the caller is subscribed to, with the caller's settings for each.",
  params: { include_subscribers: Type.Enum(["true", "false", "partial"], { default: "false", wire: "text" }) },
  ok: { subscriptions: Type.Array(Subscription) },
  errors: [],
});

/** Channels to subscribe to; missing ones are created. */
const WantedChannels = Type.Array(
  Type.Object({
    name: Type.String(),
    description: Type.Optional(Type.String()),
    color: Type.Optional(Type.String({ maxLength: 10 })),
  }),
  { maxItems: limits.channels_per_request_max },
);

/** Names of channels, in answers. */
const ChannelNames = Type.Array(OtherText);
const NamesByUser = Type.Record(Type.String(), ChannelNames);

export const subscribe = defineEndpoint({
  operationId: "subscribe",
  method: "POST",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Subscribes the caller or other users to channels; missing channels are created.",
  params: {
    subscriptions: WantedChannels,
    principals: Type.Optional(Principals),
    authorization_errors_fatal: flag(true),
    send_new_subscription_messages: flag(true),
    ...creationParams,
  },
  ok: {
    subscribed: NamesByUser,
    already_subscribed: NamesByUser,
    unauthorized: Type.Optional(ChannelNames),
    new_subscription_messages_sent: Type.Optional(Type.Boolean()),
  },
  errors: ["CHANNEL_ALREADY_EXISTS", "REQUEST_VARIABLE_INVALID", "UNAUTHORIZED_PRINCIPAL"],
});

export const unsubscribe = defineEndpoint({
  operationId: "unsubscribe",
  method: "DELETE",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Unsubscribes the caller or other users from channels.",
  params: { subscriptions: Names, principals: Type.Optional(Principals) },
  ok: { removed: ChannelNames, not_removed: ChannelNames },
  errors: ["STREAM_DOES_NOT_EXIST"],
});

export const updateSubscriptions = defineEndpoint({
  operationId: "update-subscriptions",
  method: "PATCH",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Subscribes the caller to some channels and unsubscribes them from others, atomically.",
  params: {
    delete: Type.Array(Type.String(), { maxItems: limits.channels_per_request_max, default: [] }),
    add: Type.Optional(WantedChannels),
  },
  ok: {
    subscribed: NamesByUser,
    already_subscribed: NamesByUser,
    removed: ChannelNames,
    not_removed: ChannelNames,
    new_subscription_messages_sent: Type.Optional(Type.Boolean()),
  },
  errors: ["CHANNEL_ALREADY_EXISTS", "REQUEST_VARIABLE_INVALID", "STREAM_DOES_NOT_EXIST", "UNAUTHORIZED_PRINCIPAL"],
});

/** In the order of the row's `notifications`. */
export const subscriptionNotificationNames = [
  "desktop_notifications",
  "audible_notifications",
  "push_notifications",
  "email_notifications",
  "wildcard_mentions_notify",
] as const;

export const updateSubscriptionSettings = defineEndpoint({
  operationId: "update-subscription-settings",
  method: "POST",
  path: "/users/me/subscriptions/properties",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes the caller's settings for channels: color, muting, pinning, notifications.",
  params: {
    subscription_data: Type.Array(
      Type.Object({
        stream_id: Id,
        property: Type.String(),
        value: Type.Union([Type.Boolean(), Type.String({ maxLength: 10 })]),
      }),
      { maxItems: limits.channels_per_request_max },
    ),
  },
  ok: {},
  errors: [],
});

export const getSubscribers = defineEndpoint({
  operationId: "get-subscribers",
  method: "GET",
  path: "/streams/{stream_id}/members",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the ids of all subscribers of a channel, ascending.",
  params: { stream_id: Id },
  ok: { subscribers: UserIds },
  errors: [],
});

export const getUserChannels = defineEndpoint({
  operationId: "get-user-channels",
  method: "GET",
  path: "/users/{user_id}/channels",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the channels that a user is subscribed to and the caller can see.",
  params: { user_id: Id },
  ok: { subscribed_channel_ids: OtherIds },
  errors: [],
});

export const getSubscriptionStatus = defineEndpoint({
  operationId: "get-subscription-status",
  method: "GET",
  path: "/users/{user_id}/subscriptions/{stream_id}",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns whether a user is subscribed to a channel.",
  params: { user_id: Id, stream_id: Id },
  ok: { is_subscribed: Type.Boolean() },
  errors: [],
});

/**
 * One period of subscription: half-open in event positions and in message ids, both taken in the turn that began or
 * ended it. Position p is inside if joinedAtPosition <= p < leftAtPosition; message m is inside if joinedAfterId < m <=
 * leftAtId.
 */
export interface SubscriptionPeriod {
  readonly joinedAtPosition: number;
  readonly joinedAfterId: number;
  readonly leftAtPosition: number | null;
  readonly leftAtId: number | null;
}

export interface SubscriptionRecord {
  readonly userId: UserId;
  readonly channelId: ChannelId;
  readonly isActive: boolean;
  readonly color: string;
  readonly isMuted: boolean;
  readonly pinToTop: boolean;
  /** desktop, audible, push, email, wildcard mentions; null inherits the user's setting. */
  readonly notifications: readonly (boolean | null)[];
  /** Newest last. At most `stays_max`; the oldest are dropped. */
  readonly periods: readonly SubscriptionPeriod[];
}

export interface SubscribeRequest {
  readonly channels: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly renderedDescription: string;
    readonly color: string | null;
  }[];
  /** null: the caller. */
  readonly principals: readonly (number | string)[] | null;
  readonly areErrorsFatal: boolean;
  /** Sends a direct message to each newly subscribed user other than the caller. */
  readonly notifiesNewSubscribers: boolean;
  /** Settings for channels that do not exist yet. */
  readonly template: Omit<ChannelCreate, "name" | "description" | "renderedDescription" | "subscriberIds">;
}

/** Subscribes to the first and unsubscribes from the second. */
export interface SubscriptionsUpdate {
  readonly add: SubscribeRequest;
  readonly removeNames: readonly string[];
}

/** One of a user's settings for a channel (spec 2.3, public API update-subscription-settings). */
export type SubscriptionSetting =
  | { readonly channelId: ChannelId; readonly property: "color"; readonly value: string }
  | {
      readonly channelId: ChannelId;
      readonly property: "is_muted" | "pin_to_top" | (typeof subscriptionNotificationNames)[number];
      readonly value: boolean;
    };

/** Parameters of its commands, by type. */
export interface SubscriptionsCommands {
  "subscriptions.remove": {
    readonly channelNames: readonly string[];
    readonly principals: readonly (number | string)[] | null;
  };
  "subscriptions.add": SubscribeRequest;
  "subscriptions.update": SubscriptionsUpdate;
  "subscription-settings.change": { readonly changes: readonly SubscriptionSetting[] };
}

/** Their replies, by type; other commands reply without fields. */
export interface SubscriptionsReplies {
  readonly "subscriptions.add": ResultOf<typeof subscribe>;
  readonly "subscriptions.remove": ResultOf<typeof unsubscribe>;
  readonly "subscriptions.update": ResultOf<typeof updateSubscriptions>;
}

export const subscriptionsArea = defineArea({
  endpoints: [
    getSubscriptions,
    subscribe,
    unsubscribe,
    updateSubscriptions,
    updateSubscriptionSettings,
    getSubscribers,
    getUserChannels,
    getSubscriptionStatus,
  ],
  commands: defineCommands<SubscriptionsCommands, SubscriptionsReplies>(),
  state: {
    subscription: {
      subscriptions: Type.Array(Subscription),
      unsubscribed: Type.Array(Subscription),
      never_subscribed: Type.Array(Type.Object({ ...channelFields, ...subscriberLists })),
    },
  },
  tables: {
    /**
     * Ordered by channel, so that thousands of simultaneous subscriptions are adjacent on disk. Memberships are looked
     * up in memory.
     */
    subscriptions: defineTable<readonly [channelId: ChannelId, userId: UserId], SubscriptionRecord>({
      fields: ["userId", "channelId", "isActive", "color", "isMuted", "pinToTop", "notifications", "periods"],
    }),
  },
  limits,
});
