/**
 * Generates a small picture for something without one, e.g. an organization: five by five squares, symmetric left to
 * right.
 */
import { createHash } from "node:crypto";
import { type Color, palettePng } from "./emoji/palette-png.ts";

const squares = 5;
const squarePx = 20;
const sizePx = squares * squarePx;
const backgroundColor: Color = [0xf0, 0xf0, 0xf0];

/** A PNG of 100 by 100 pixels; the same seed gives the same picture. */
export function identicon(seed: number | string): Buffer {
  const digest = createHash("sha256").update(String(seed)).digest();
  const isSet = (row: number, column: number) =>
    ((digest[3 + row * 3 + Math.min(column, squares - 1 - column)] ?? 0) & 1) === 1;
  // Always darker than the background.
  const [red = 0, green = 0, blue = 0] = [...digest.subarray(0, 3)].map((byte) => byte & 0xbf);
  return palettePng([backgroundColor, [red, green, blue]], sizePx, (x, y) =>
    isSet(Math.floor(y / squarePx), Math.floor(x / squarePx)) ? 1 : 0,
  );
}
