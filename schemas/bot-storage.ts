/** Storage for bots (public API: /bot_storage): each account stores private texts under keys. */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { UserId } from "./ids.ts";
import { OtherText } from "./person-marks.ts";

const limits = {
  /** Keys and values of one account in total. */
  bot_storage_code_points_max: 1_000_000,
  bot_storage_entries_max: 2000,
} as const;

const Keys = Type.Optional(Type.Array(Type.String(), { maxItems: limits.bot_storage_entries_max }));

export const updateBotStorage = defineEndpoint({
  operationId: "update-bot-storage",
  method: "PUT",
  path: "/bot_storage",
  authentication: "user",
  effectiveness: "durable",
  summary: "Stores texts under the caller's keys. Existing keys are overwritten.",
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
  summary: "Returns the caller's entries with the given keys; without keys, all entries.",
  params: { keys: Keys },
  ok: { storage: Type.Record(Type.String(), OtherText) },
  errors: [],
});

export const removeBotStorage = defineEndpoint({
  operationId: "remove-bot-storage",
  method: "DELETE",
  path: "/bot_storage",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes the caller's entries with the given keys; without keys, all entries.",
  params: { keys: Keys },
  ok: {},
  errors: [],
});

export interface BotStorageRecord {
  readonly key: string;
  readonly value: string;
}

/** Totals over one account's rows of `botStorage`. */
export interface BotStorageUseRecord {
  readonly entries: number;
  readonly codePoints: number;
}

/** Parameters of its commands, by type. */
export interface BotStorageCommands {
  /** `hash` is the SHA-256 of the key. */
  "bot-storage.set": { readonly entries: readonly (BotStorageRecord & { readonly hash: string })[] };
  /** null: all entries. */
  "bot-storage.remove": { readonly hashes: readonly string[] | null };
}

export const botStorageArea = defineArea({
  endpoints: [updateBotStorage, getBotStorage, removeBotStorage],
  commands: defineCommands<BotStorageCommands>(),
  tables: {
    /** By the SHA-256 of the entry's key, which may exceed the store's key length. */
    botStorage: defineTable<readonly [userId: UserId, entryHash: string], BotStorageRecord>({
      fields: ["key", "value"],
    }),
    botStorageUse: defineTable<UserId, BotStorageUseRecord>({
      fields: ["entries", "codePoints"],
    }),
  },
  limits,
});
