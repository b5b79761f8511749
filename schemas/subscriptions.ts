/** Who is in which channel (public API: get-subscriptions, subscribe, unsubscribe). */
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

export const subscribe = defineEndpoint({
  operationId: "subscribe",
  method: "POST",
  path: "/users/me/subscriptions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Subscribes the caller or others to channels; channels that do not exist are created.",
  params: {
    subscriptions: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.Optional(Type.String()),
        color: Type.Optional(Type.String({ maxLength: 10 })),
      }),
      { maxItems: limits.channels_per_request_max },
    ),
    principals: Type.Optional(Principals),
    authorization_errors_fatal: flag(true),
    send_new_subscription_messages: flag(true),
    ...creationParams,
  },
  ok: {
    subscribed: Type.Record(Type.String(), Names),
    already_subscribed: Type.Record(Type.String(), Names),
    unauthorized: Type.Optional(Names),
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
