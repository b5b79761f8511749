/**
 * The data that clients load for an emoji picker: all Unicode emoji with their names, as one JSON file (OpenAPI,
 * server_emoji_data_url).
 *
 * Draws the picture of the one emoji that is neither Unicode nor the realm's: a speech bubble.
 */
import { createHash } from "node:crypto";
import { emojiByCode, emojiCodes } from "./emoji-table.ts";
import { type Color, palettePng } from "./palette-png.ts";

/** Each character is a square of `squarePx`: bubble, dot or background. */
const drawing = [
  "................",
  "...##########...",
  ".##############.",
  ".##############.",
  "################",
  "################",
  "###oo##oo##oo###",
  "###oo##oo##oo###",
  "################",
  "################",
  ".##############.",
  ".##############.",
  "...##########...",
  "...####.........",
  "...###..........",
  "...#............",
];
const squarePx = 4;
const marks = ".#o";
const palette: readonly Color[] = [
  [0, 0, 0, 0],
  [0x4a, 0x6f, 0xdc],
  [0xff, 0xff, 0xff],
];

/** A PNG of 64 by 64 pixels, always the same. */
export function extraEmojiPicture(): Buffer {
  return palettePng(palette, drawing.length * squarePx, (x, y) => {
    const row = drawing[Math.floor(y / squarePx)] ?? "";
    return marks.indexOf(row.charAt(Math.floor(x / squarePx)));
  });
}

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
