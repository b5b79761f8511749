/** What commands of programs, devices and widgets carry (commands.ts). Plain data: it is stored (M3). */
import type { BotStorageRecord } from "../../schemas/records.ts";

export interface ProgramCommandParams {
  /** `hash` is the SHA-256 of the key. */
  "bot-storage.set": { readonly entries: readonly (BotStorageRecord & { readonly hash: string })[] };
  /** null: everything. */
  "bot-storage.remove": { readonly hashes: readonly string[] | null };
  "submessage.add": { readonly msgType: string; readonly content: string };
}
