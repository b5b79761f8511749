/** Storage of bots (public API: /bot_storage): each account keeps texts under names, for itself alone. */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";

const Keys = Type.Optional(Type.Array(Type.String(), { maxItems: limits.bot_storage_entries_max }));

export const updateBotStorage = defineEndpoint({
  operationId: "update-bot-storage",
  method: "PUT",
  path: "/bot_storage",
  authentication: "user",
  effectiveness: "durable",
  summary: "Stores texts under keys of the caller's own. A key that exists gets the new text.",
  params: { storage: Type.Record(Type.String(), Type.String()) },
  ok: {},
  errors: [],
});

export const getBotStorage = defineEndpoint({
  operationId: "get-bot-storage",
  method: "GET",
  path: "/bot_storage",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns what the caller stored under these keys; without keys, everything.",
  params: { keys: Keys },
  ok: { storage: Type.Record(Type.String(), Type.String()) },
  errors: [],
});

export const removeBotStorage = defineEndpoint({
  operationId: "remove-bot-storage",
  method: "DELETE",
  path: "/bot_storage",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes what the caller stored under these keys; without keys, everything.",
  params: { keys: Keys },
  ok: {},
  errors: [],
});
