/**
 * The data that clients load for an emoji picker: all Unicode emoji with their names, as one JSON file (OpenAPI,
 * server_emoji_data_url).
 */
import { createHash } from "node:crypto";
import { emojiByCode, emojiCodes } from "./emoji-table.ts";

export interface EmojiData {
  /** Path of the file. It contains a hash of the content, so clients may cache the file forever. */
  readonly path: string;
  readonly body: Buffer;
}

let data: EmojiData | null = null;

/** Built on first use, once. */
export function emojiData(): EmojiData {
  data ??= build();
  return data;
}

function build(): EmojiData {
  const names = [...emojiCodes()].map((code) => [code, emojiByCode(code)?.names ?? []] as const);
  const body = Buffer.from(JSON.stringify({ code_to_names: Object.fromEntries(names) }));
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { path: `/static/generated/emoji/emoji_api.${hash}.json`, body };
}
