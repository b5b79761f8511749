/** What commands of programs, devices and widgets carry (commands.ts). Plain data: it is stored (M3). */
import type { BotStorageRecord, PushKind, RealmPictureName } from "../../schemas/records.ts";

export interface ProgramCommandParams {
  /** `name` as in the key of the row. */
  "push-token.add": {
    readonly name: string;
    readonly kind: PushKind;
    readonly token: string;
    readonly appId: string | null;
  };
  "push-token.remove": { readonly name: string };
  "device.register": Record<string, never>;
  "device.remove": { readonly id: number };
  "bot.add-key": { readonly botId: number; readonly apiKeyHash: string };
  /** To the conversation of the bot and the caller. */
  "welcome.test": { readonly text: string };
  "realm.deactivate": Record<string, never>;
  "realm.reactivate": Record<string, never>;
  "realm-domain.add": { readonly domain: string; readonly allowsSubdomains: boolean };
  "realm-domain.update": { readonly domain: string; readonly allowsSubdomains: boolean };
  "realm-domain.remove": { readonly domain: string };
  /** `file` as in the row; null: the one that the server has for everybody. */
  "realm.picture.set": { readonly name: RealmPictureName; readonly file: string | null };
  /** `hash` is the SHA-256 of the key. */
  "bot-storage.set": { readonly entries: readonly (BotStorageRecord & { readonly hash: string })[] };
  /** null: everything. */
  "bot-storage.remove": { readonly hashes: readonly string[] | null };
  "submessage.add": { readonly msgType: string; readonly content: string };
}
