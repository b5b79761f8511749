/** Storage of bots (public API: GET, PUT and DELETE /bot_storage). An empty list of keys means all, as on the public server. */
import { createHash } from "node:crypto";
import { command } from "../../../actors/commands.ts";
import { getBotStorage, removeBotStorage, updateBotStorage } from "../../../schemas/bot-storage.ts";
import { refuse } from "../../../schemas/errors.ts";
import { readBotStorage } from "../../queries/bot-storage.ts";
import { bind, type Call, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export const botStorageRoutes = [
  bind(getBotStorage, (call) => {
    const storage = readBotStorage(call.realm.view, callerOf(call).id, hashesOf(call.params.keys));
    return storage === null ? refuse.badRequest("Key does not exist.") : ok({ storage });
  }),

  bind(updateBotStorage, (call) => {
    const entries = Object.entries(call.params.storage).map(([key, value]) => ({ hash: hashOf(key), key, value }));
    return call.realm.dispatcher.ask(
      command(self(call), "bot-storage.set", { entries }, callerOf(call).id),
      call.claim,
    );
  }),

  bind(removeBotStorage, (call) => {
    const params = { hashes: hashesOf(call.params.keys) };
    return call.realm.dispatcher.ask(command(self(call), "bot-storage.remove", params, callerOf(call).id), call.claim);
  }),
];

function self(call: Call) {
  return { actor: "user", id: callerOf(call).id } as const;
}

function hashesOf(keys: readonly string[] | undefined): readonly string[] | null {
  return keys === undefined || keys.length === 0 ? null : keys.map(hashOf);
}

function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}
