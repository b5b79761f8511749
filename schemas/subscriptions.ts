/** Who is in which channel, and a person's own settings for each (public API: get-subscriptions, subscribe, unsubscribe, ...). */
import { Type } from "typebox";
import { creationParams } from "./channels.ts";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id } from "./types.ts";

const Names = Type.Array(Type.String(), { maxItems: limits.channels_per_request_max });

/** User ids, or addresses. */
const Principals = Type.Array(Type.Union([Id, Type.String({ maxLength: limits.email_code_points_max })]), {
  maxItems: limits.subscribers_per_request_max,
});

export const getSubscriptions = defineEndpoint({
  operationId: "get-subscriptions",
  method: "GET",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "read",
  summary: "The channels that the caller is subscribed to, with the caller's own settings for each.",
  params: { include_subscribers: Type.Enum(["true", "false", "partial"], { default: "false", wire: "text" }) },
  ok: { subscriptions: Type.Array(Type.Record(Type.String(), Type.Unknown())) },
  errors: [],
});

/** Channels to subscribe to; those that do not exist are created. */
const WantedChannels = Type.Array(
  Type.Object({
    name: Type.String(),
    description: Type.Optional(Type.String()),
    color: Type.Optional(Type.String({ maxLength: 10 })),
  }),
  { maxItems: limits.channels_per_request_max },
);

const NamesByUser = Type.Record(Type.String(), Names);

export const subscribe = defineEndpoint({
  operationId: "subscribe",
  method: "POST",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Subscribes the caller or others to channels; channels that do not exist are created.",
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
    unauthorized: Type.Optional(Names),
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
  summary: "Unsubscribes the caller or others from channels.",
  params: { subscriptions: Names, principals: Type.Optional(Principals) },
  ok: { removed: Names, not_removed: Names },
  errors: ["STREAM_DOES_NOT_EXIST"],
});

export const updateSubscriptions = defineEndpoint({
  operationId: "update-subscriptions",
  method: "PATCH",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Subscribes the caller to channels and unsubscribes them from others, all of it or nothing.",
  params: {
    delete: Type.Array(Type.String(), { maxItems: limits.channels_per_request_max, default: [] }),
    add: Type.Optional(WantedChannels),
  },
  ok: {
    subscribed: NamesByUser,
    already_subscribed: NamesByUser,
    removed: Names,
    not_removed: Names,
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
  summary: "Changes the caller's own settings for channels: colour, muting, pinning, notifications.",
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
  summary: "Ids of everybody who is subscribed to a channel, ascending.",
  params: { stream_id: Id },
  ok: { subscribers: Type.Array(Id) },
  errors: [],
});

export const getUserChannels = defineEndpoint({
  operationId: "get-user-channels",
  method: "GET",
  path: "/users/{user_id}/channels",
  authentication: "user",
  effectiveness: "read",
  summary: "Channels that somebody is subscribed to, of those that the caller knows.",
  params: { user_id: Id },
  ok: { subscribed_channel_ids: Type.Array(Id) },
  errors: [],
});

export const getSubscriptionStatus = defineEndpoint({
  operationId: "get-subscription-status",
  method: "GET",
  path: "/users/{user_id}/subscriptions/{stream_id}",
  authentication: "user",
  effectiveness: "read",
  summary: "Whether somebody is subscribed to a channel.",
  params: { user_id: Id, stream_id: Id },
  ok: { is_subscribed: Type.Boolean() },
  errors: [],
});
