/**
 * Bots (public API as its web client uses it: /bots). A bot is an account with an owner and keys, without a password. Keys
 * are stored as hashes only (S2): the request that makes a key shows it, no other does. `GET /bots/{bot_id}/api_key` makes a
 * further key. Where the public API repeats a key, `api_key` is "".
 */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id, nullable } from "./types.ts";

export const botTypes = { generic: 1, incomingWebhook: 2, outgoingWebhook: 3, embedded: 4 } as const;

/** How an outgoing webhook says what happened: in our own form, or in Slack's. */
export const webhookInterfaces = { generic: 1, slack: 2 } as const;

/** Raw text, or the same as a JSON string, as the web client sends it. */
const Url = Type.String({ maxLength: limits.url_code_points_max, wire: "json-or-text" });
const ChannelName = Type.String();

const defaults = {
  default_sending_stream: nullable(Type.String()),
  default_events_register_stream: nullable(Type.String()),
  default_all_public_streams: Type.Boolean(),
};

export const createBot = defineEndpoint({
  operationId: "create-bot",
  method: "POST",
  path: "/bots",
  authentication: "user",
  // Answers that contain keys are not stored (architecture): a repeat is told that the name is in use.
  effectiveness: "volatile",
  role: "human-member",
  summary: "Makes a bot of the caller's. Its key is shown this once (S2).",
  params: {
    full_name: Type.String(),
    short_name: Type.String(),
    bot_type: Type.Integer({ default: botTypes.generic }),
    payload_url: Type.Optional(Url),
    service_name: Type.Optional(Type.String({ maxLength: limits.bot_service_name_code_points_max })),
    interface_type: Type.Integer({ default: webhookInterfaces.generic }),
    default_sending_stream: Type.Optional(ChannelName),
    default_events_register_stream: Type.Optional(ChannelName),
    default_all_public_streams: Type.Optional(Type.Boolean()),
  },
  ok: { user_id: Id, email: Type.String(), api_key: Type.String(), avatar_url: Type.String(), ...defaults },
  errors: [],
});

export const getBots = defineEndpoint({
  operationId: "get-bots",
  method: "GET",
  path: "/bots",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "The caller's own active bots. `api_key` is empty: it was shown when it was made (S2).",
  params: {},
  ok: {
    bots: Type.Array(
      Type.Object({
        user_id: Id,
        username: Type.String(),
        full_name: Type.String(),
        bot_type: Type.Integer(),
        api_key: Type.String(),
        avatar_url: Type.String(),
        ...defaults,
      }),
    ),
  },
  errors: [],
});

export const updateBot = defineEndpoint({
  operationId: "update-bot",
  method: "PATCH",
  path: "/bots/{bot_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Changes a bot; its owner and administrators may. Only what is sent changes; an empty channel name is none.",
  params: {
    bot_id: Id,
    full_name: Type.Optional(Type.String()),
    role: Type.Optional(Type.Integer()),
    bot_owner_id: Type.Optional(Id),
    service_payload_url: Type.Optional(Url),
    service_interface: Type.Optional(Type.Integer()),
    default_sending_stream: Type.Optional(ChannelName),
    default_events_register_stream: Type.Optional(ChannelName),
    default_all_public_streams: Type.Optional(Type.Boolean()),
  },
  ok: {
    full_name: Type.String(),
    avatar_url: Type.String(),
    service_interface: nullable(Type.Integer()),
    service_payload_url: nullable(Type.String()),
    bot_owner: Type.String(),
    ...defaults,
  },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const deactivateBot = defineEndpoint({
  operationId: "deactivate-bot",
  method: "DELETE",
  path: "/bots/{bot_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Deactivates a bot; its owner and administrators may. Its key and its queues end at once.",
  params: { bot_id: Id },
  ok: {},
  errors: [],
});

export const regenerateBotKey = defineEndpoint({
  operationId: "regenerate-bot-api-key",
  method: "POST",
  path: "/bots/{bot_id}/api_key/regenerate",
  authentication: "user",
  effectiveness: "volatile",
  role: "human-member",
  summary: "Gives a bot a new key, shown this once; the old one ends at once.",
  params: { bot_id: Id },
  ok: { api_key: Type.String() },
  errors: [],
});

export const getBotKey = defineEndpoint({
  operationId: "get-bot-api-key",
  method: "GET",
  path: "/bots/{bot_id}/api_key",
  authentication: "user",
  // A key cannot be shown again (S2): each request makes one more.
  effectiveness: "volatile",
  role: "human-member",
  summary:
    "Makes a further key for a bot, shown this once; the keys that it has stay. Its owner and administrators may.",
  params: { bot_id: Id },
  ok: { api_key: Type.String() },
  errors: [],
});
