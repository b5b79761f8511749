/**
 * Bots (public API as its web client uses it: /bots). A bot is an account with an owner and API keys, but without a
 * password. Only hashes of keys are stored (S2), so a key is returned only by the request that creates it, and `GET
 * /bots/{bot_id}/api_key` creates another key. Where the public API repeats a key, `api_key` is "".
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { commonLimits } from "./limits/common.ts";
import { avatarOf, emailOf, fullNameOf, marked, OtherText, UserId } from "./person-marks.ts";
import { Id, nullable } from "./types.ts";

const limits = {
  bot_service_name_code_points_max: 100,
  /** Active ones. Each bot is an account with bounds of its own (docs/account-bounds.md). */
  bots_per_owner_max: 100,
} as const;

export const botTypes = { generic: 1, incomingWebhook: 2, outgoingWebhook: 3, embedded: 4 } as const;

/** Payload formats of outgoing webhooks: our own, or Slack's. */
export const webhookInterfaces = { generic: 1, slack: 2 } as const;

/** Raw text, or the text as a JSON string, as sent by the web client. */
const Url = Type.String({ maxLength: commonLimits.url_code_points_max, wire: "json-or-text" });
const ChannelName = Type.String();

const defaults = {
  default_sending_stream: nullable(OtherText),
  default_events_register_stream: nullable(OtherText),
  default_all_public_streams: Type.Boolean(),
};

/**
 * The fields of a bot that can change (OpenAPI, Bot). `api_key` is always empty: a key is shown only when it is
 * created.
 */
export const changeableBotFields = {
  email: emailOf("user_id"),
  full_name: fullNameOf("user_id"),
  bot_type: nullable(Type.Integer()),
  is_active: Type.Boolean(),
  api_key: Type.Literal(""),
  avatar_url: avatarOf("user_id"),
  owner_id: nullable(UserId),
  ...defaults,
  services: Type.Array(Type.Object({ base_url: OtherText, interface: Type.Integer(), token: OtherText })),
};
export type BotField = keyof typeof changeableBotFields;

export const Bot = Type.Object({ user_id: UserId, ...changeableBotFields }, { title: "Bot" });

export const createBot = defineEndpoint({
  operationId: "create-bot",
  method: "POST",
  path: "/bots",
  authentication: "user",
  // Answers that contain keys are not stored (architecture): a repeated request is rejected because the name is in use.
  effectiveness: "volatile",
  role: "human-member",
  summary: "Creates a bot owned by the caller. Its key is shown only once (S2).",
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
  ok: {
    user_id: UserId,
    email: emailOf("user_id"),
    api_key: OtherText,
    avatar_url: marked(Type.String(), { is: "avatar_url", of: "user_id" }),
    ...defaults,
  },
  errors: [],
});

export const getBots = defineEndpoint({
  operationId: "get-bots",
  method: "GET",
  path: "/bots",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns the caller's active bots. `api_key` is empty, because a key is shown only when it is created (S2).",
  params: {},
  ok: {
    bots: Type.Array(
      Type.Object({
        user_id: UserId,
        username: emailOf("user_id"),
        full_name: fullNameOf("user_id"),
        bot_type: Type.Integer(),
        api_key: Type.Literal(""),
        avatar_url: marked(Type.String(), { is: "avatar_url", of: "user_id" }),
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
  summary:
    "Changes a bot; only its owner and administrators. Parameters that are absent keep their values; an empty channel name means none.",
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
    // Only owners of bots and administrators get this answer. Neither is a guest, so no user is hidden from them.
    full_name: OtherText,
    avatar_url: OtherText,
    service_interface: nullable(Type.Integer()),
    service_payload_url: nullable(OtherText),
    bot_owner: OtherText,
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
  summary: "Deactivates a bot; only its owner and administrators. Its keys and queues become invalid at once.",
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
  summary: "Gives a bot a new key, shown only once; the previous keys become invalid at once.",
  params: { bot_id: Id },
  ok: { api_key: OtherText },
  errors: [],
});

export const getBotKey = defineEndpoint({
  operationId: "get-bot-api-key",
  method: "GET",
  path: "/bots/{bot_id}/api_key",
  authentication: "user",
  // A key cannot be shown again (S2): each request creates another one.
  effectiveness: "volatile",
  role: "human-member",
  summary:
    "Creates another key for a bot, shown only once; its existing keys stay valid. Only its owner and administrators.",
  params: { bot_id: Id },
  ok: { api_key: OtherText },
  errors: [],
});

/** A bot's defaults for requests that do not specify these values. */
export interface BotRecord {
  readonly userId: UserId;
  /** The channel for its messages that do not name one. */
  readonly defaultSendingChannelId: number | null;
  /** The channel that its event queues are narrowed to when registered without a narrow. */
  readonly defaultEventsChannelId: number | null;
  /** Default of `all_public_streams` for its event queues. */
  readonly isAllPublicByDefault: boolean;
}

/**
 * URL and token of an outgoing webhook bot. The token must be sent, so it is stored in recoverable form, in its own
 * table (S2).
 */
export interface BotServiceRecord {
  readonly userId: UserId;
  readonly serviceName: string;
  readonly payloadUrl: string;
  /** 1 generic, 2 Slack-compatible. */
  readonly interfaceType: number;
  readonly token: string;
}

export interface BotCreate {
  readonly email: string;
  readonly fullName: string;
  readonly botType: number;
  readonly apiKeyHash: string;
  /** null: the bot has no outgoing webhook. The token is random, so it is generated before the turn (M4). */
  readonly service: {
    readonly name: string;
    readonly payloadUrl: string;
    readonly interfaceType: number;
    readonly token: string;
  } | null;
  /** Channel names; null: none. */
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean;
}

/** null: not passed, keeps its value. An empty channel name removes the channel. */
export interface BotUpdate {
  readonly botId: UserId;
  readonly fullName: string | null;
  readonly role: number | null;
  readonly ownerId: UserId | null;
  readonly payloadUrl: string | null;
  readonly interfaceType: number | null;
  readonly defaultSendingChannel: string | null;
  readonly defaultEventsChannel: string | null;
  readonly isAllPublicByDefault: boolean | null;
}

/** Parameters of its commands, by type. */
export interface BotsCommands {
  "bot.deactivate": { readonly botId: UserId };
  "bot.regenerate-key": { readonly botId: UserId; readonly apiKeyHash: string };
  "bot.add-key": { readonly botId: UserId; readonly apiKeyHash: string };
  "bot.create": BotCreate;
  "bot.update": BotUpdate;
}

/** Their replies, by type; other commands reply without fields. */
export interface BotsReplies {
  readonly "bot.update": ResultOf<typeof updateBot>;
  readonly "bot.create": { readonly user_id: number };
}

export const botsArea = defineArea({
  endpoints: [createBot, getBots, updateBot, deactivateBot, regenerateBotKey, getBotKey],
  commands: defineCommands<BotsCommands, BotsReplies>(),
  state: { realm_bot: { realm_bots: Type.Array(Bot) } },
  tables: {
    bots: defineTable<UserId, BotRecord>({
      fields: ["userId", "defaultSendingChannelId", "defaultEventsChannelId", "isAllPublicByDefault"],
    }),
    botServices: defineTable<UserId, BotServiceRecord>({
      fields: ["userId", "serviceName", "payloadUrl", "interfaceType", "token"],
    }),
  },
  limits,
});
