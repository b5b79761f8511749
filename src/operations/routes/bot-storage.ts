/**
 * Storage of bots (public API: GET, PUT and DELETE /bot_storage). An empty list of keys means all keys, as in Zulip.
 */
import { createHash } from "node:crypto";
import { command } from "../../../actors/protocol/decision.ts";
import type { View } from "../../../domain/view.ts";
import { getBotStorage, removeBotStorage, updateBotStorage } from "../../../schemas/bot-storage.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const botStorageRoutes = [
  bind(getBotStorage, (call) => {
    const storage = readBotStorage(call.realm.view, requireCaller(call).id, hashesOf(call.params.keys));
    return storage === null ? refuse.badRequest("Key does not exist.") : ok({ storage });
  }),

  bind(updateBotStorage, (call) => {
    const entries = Object.entries(call.params.storage).map(([key, value]) => ({ hash: hashOf(key), key, value }));
    return call.realm.dispatcher.ask(
      command(self(call), "bot-storage.set", { entries }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removeBotStorage, (call) => {
    const params = { hashes: hashesOf(call.params.keys) };
    return call.realm.dispatcher.ask(
      command(self(call), "bot-storage.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];

/** @returns null if one of the keys does not exist */
function readBotStorage(
  view: View,
  userId: number,
  hashes: readonly string[] | null,
): Readonly<Record<string, string>> | null {
  if (hashes === null) {
    const range = { start: [userId], end: [userId + 1], limit: limits.bot_storage_entries_max };
    return Object.fromEntries(view.rows("botStorage", range).map(({ row }) => [row.key, row.value]));
  }
  const rows = [...new Set(hashes)].map((hash) => view.row("botStorage", [userId, hash]));
  if (rows.includes(undefined)) return null;
  return Object.fromEntries(rows.flatMap((row) => (row === undefined ? [] : [[row.key, row.value]])));
}

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

function hashesOf(keys: readonly string[] | undefined): readonly string[] | null {
  return keys === undefined || keys.length === 0 ? null : keys.map(hashOf);
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
