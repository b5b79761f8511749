/** Writes small square PNGs with a palette, eight bits per pixel (PNG specification, 5 and 11). */
import { deflateSync } from "node:zlib";

/** Red, green and blue, and opacity if it is not full. */
export type Color = readonly [red: number, green: number, blue: number, alpha?: number];

/** @param colorAt returns the palette index of a pixel's color */
export function palettePng(
  palette: readonly Color[],
  sizePx: number,
  colorAt: (x: number, y: number) => number,
): Buffer {
  const pixels: number[] = [];
  for (let y = 0; y < sizePx; y++) {
    // Filter type: none.
    pixels.push(0);
    for (let x = 0; x < sizePx; x++) pixels.push(colorAt(x, y));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(sizePx, 0);
  header.writeUInt32BE(sizePx, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const opacities = palette.map(([, , , alpha]) => alpha ?? 0xff);
  const isOpaque = opacities.every((alpha) => alpha === 0xff);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.concat(palette.map(([red, green, blue]) => Buffer.of(red, green, blue)))),
    ...(isOpaque ? [] : [chunk("tRNS", Buffer.from(opacities))]),
    chunk("IDAT", deflateSync(Buffer.from(pixels))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** The checksum of PNG chunks; node:zlib has it only since 20.15. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
