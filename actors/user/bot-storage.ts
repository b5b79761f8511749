/** Key-value storage for bots (public API: /bot_storage): texts per account, bounded in number and total size. */

import { codePoints } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { BotStorageUseRecord } from "../../schemas/bot-storage.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

export function setBotStorage(user: UserRecord, params: Params<"bot-storage.set">, view: View): Outcome {
  const before = useOf(view, user.id);
  let { entries, codePoints: sum } = before;
  const writes: Effect[] = [];
  for (const { hash, key, value } of params.entries) {
    const former = view.row("botStorage", [user.id, hash]);
    if (former?.value === value) continue;
    if (former === undefined) entries++;
    sum += sizeOf({ key, value }) - (former === undefined ? 0 : sizeOf(former));
    writes.push(effects.put("botStorage", [user.id, hash], { key, value }));
  }
  const { bot_storage_code_points_max: sumMax, bot_storage_entries_max: entriesMax } = limits;
  // A change that does not increase the size is accepted, even if more data is stored than the limit allows now.
  if (sum > sumMax && sum > before.codePoints) {
    const excess = sum - sumMax;
    return refuse.badRequest(
      `Request exceeds storage limit by ${excess} characters. The limit is ${sumMax} characters.`,
    );
  }
  if (entries > entriesMax && entries > before.entries) {
    return refuse.badRequest(`Request exceeds storage limit of ${entriesMax} keys.`);
  }
  if (writes.length === 0) return done({}, []);
  return done({}, [...writes, effects.put("botStorageUse", user.id, { entries, codePoints: sum })]);
}

/** If any key does not exist, nothing is removed. */
export function removeBotStorage(user: UserRecord, { hashes }: Params<"bot-storage.remove">, view: View): Outcome {
  const use = useOf(view, user.id);
  const keys =
    hashes === null
      ? view.keys("botStorage", { start: [user.id], end: [user.id + 1], limit: use.entries })
      : [...new Set(hashes)].map((hash) => [user.id, hash] as const);
  let { entries, codePoints: sum } = use;
  for (const key of keys) {
    const row = view.row("botStorage", key);
    if (row === undefined) return refuse.badRequest("Key does not exist.");
    entries--;
    sum -= sizeOf(row);
  }
  if (keys.length === 0) return done({}, []);
  const removed = keys.map((key) => effects.remove("botStorage", key));
  const rest = { entries, codePoints: sum };
  const changedUse =
    entries === 0 ? effects.remove("botStorageUse", user.id) : effects.put("botStorageUse", user.id, rest);
  return done({}, [...removed, changedUse]);
}

function useOf(view: View, userId: UserId): BotStorageUseRecord {
  return view.row("botStorageUse", userId) ?? { entries: 0, codePoints: 0 };
}

function sizeOf({ key, value }: { readonly key: string; readonly value: string }): number {
  return codePoints(key) + codePoints(value);
}

export const botStorageDecisions = {
  "bot-storage.set": forUser(setBotStorage),
  "bot-storage.remove": forUser(removeBotStorage),
} as const;
