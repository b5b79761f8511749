/** Draws the picture of the one emoji that is neither Unicode nor the realm's: a speech bubble. */
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
