/** A small generated picture for what has none, e.g. an organization: five by five squares, the same left and right. */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const squares = 5;
const squarePx = 20;
const sizePx = squares * squarePx;
const backgroundColor = [0xf0, 0xf0, 0xf0] as const;

/** A PNG, a hundred pixels square; the same seed gives the same picture. */
export function identicon(seed: number | string): Buffer {
  const digest = createHash("sha256").update(String(seed)).digest();
  const isSet = (row: number, column: number) =>
    ((digest[3 + row * 3 + Math.min(column, squares - 1 - column)] ?? 0) & 1) === 1;
  const pixels: number[] = [];
  for (let y = 0; y < sizePx; y++) {
    // No filter.
    pixels.push(0);
    for (let x = 0; x < sizePx; x++) pixels.push(isSet(Math.floor(y / squarePx), Math.floor(x / squarePx)) ? 1 : 0);
  }
  // Darker than the background, whatever the digest says.
  const color = [...digest.subarray(0, 3)].map((byte) => byte & 0xbf);
  return pngOf(Buffer.from([...backgroundColor, ...color]), deflateSync(Buffer.from(pixels)));
}

/** Eight bits a pixel, by palette (PNG specification, 5 and 11). */
function pngOf(palette: Buffer, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(sizePx, 0);
  header.writeUInt32BE(sizePx, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", data),
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
