/** A small generated picture for what has none, e.g. an organization: five by five squares, the same left and right. */
import { createHash } from "node:crypto";
import { type Color, palettePng } from "./palette-png.ts";

const squares = 5;
const squarePx = 20;
const sizePx = squares * squarePx;
const backgroundColor: Color = [0xf0, 0xf0, 0xf0];

/** A PNG, a hundred pixels square; the same seed gives the same picture. */
export function identicon(seed: number | string): Buffer {
  const digest = createHash("sha256").update(String(seed)).digest();
  const isSet = (row: number, column: number) =>
    ((digest[3 + row * 3 + Math.min(column, squares - 1 - column)] ?? 0) & 1) === 1;
  // Darker than the background, whatever the digest says.
  const [red = 0, green = 0, blue = 0] = [...digest.subarray(0, 3)].map((byte) => byte & 0xbf);
  return palettePng([backgroundColor, [red, green, blue]], sizePx, (x, y) =>
    isSet(Math.floor(y / squarePx), Math.floor(x / squarePx)) ? 1 : 0,
  );
}
