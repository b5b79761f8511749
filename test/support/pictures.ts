/** Images and multipart bodies for uploads. A PNG is built by hand where a test needs a broken or misleading one. */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import type { Answer, Client } from "./client.ts";

/** One colour, encoded by the library. */
export function picture(format: "png" | "jpeg" | "gif" | "webp", widthPx: number, heightPx: number): Promise<Buffer> {
  const background = { r: 200, g: 30, b: 60, alpha: 1 };
  return sharp({ create: { width: widthPx, height: heightPx, channels: 4, background } })
    .toFormat(format)
    .toBuffer();
}

/** Frames that differ, so that no encoder merges them. */
export function animation(format: "gif" | "webp", frames: number): Promise<Buffer> {
  const size = 16;
  const images = Array.from({ length: frames }, (_, index) => {
    const data = Buffer.alloc(size * size * 3, index % 2 === 0 ? 20 : 220);
    data.fill(255 - (index % 250), 0, size * 3);
    return { raw: { width: size, height: size, channels: 3 as const }, data };
  });
  const pages = images.map(({ data }) => data);
  return sharp(Buffer.concat(pages), { raw: { width: size, height: size * frames, channels: 3, pageHeight: size } })
    .toFormat(format, { delay: Array.from({ length: frames }, () => 50) })
    .toBuffer();
}

/** A GIF of many frames without the cost of encoding each: one frame of one pixel, repeated. */
export function longGif(frames: number): Buffer {
  const head = Buffer.from("GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff", "latin1");
  const frame = Buffer.from("!\xf9\x04\x04\x02\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0", "latin1");
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(";")]);
}

/** A well-formed PNG of one colour whose header claims the given size. */
export function pngThatSays(widthPx: number, heightPx: number, rows = heightPx): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(heightPx, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const data = deflateSync(Buffer.alloc((widthPx + 1) * rows));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  let crc = 0xffffffff;
  for (const byte of body) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xedb88320 : 0);
  }
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
  return Buffer.concat([length, body, checksum]);
}

export interface Part {
  readonly bytes: Buffer | string;
  /** As it appears in the header, quotes included; absent: no file. */
  readonly filename?: string;
  readonly contentType?: string;
  readonly name?: string;
}

const boundary = "----a-boundary-that-occurs-nowhere-else";

export const multipartType = `multipart/form-data; boundary=${boundary}`;

export function multipart(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ bytes, filename, contentType, name = "file" }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? "" : `; filename=${filename}`,
    contentType === undefined ? "" : `\r\nContent-Type: ${contentType}`,
    "\r\n\r\n",
    bytes,
    "\r\n",
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

/** Posts one file, as clients do. */
export function upload(
  client: Client,
  path: string,
  bytes: Buffer | string,
  more: { filename?: string; contentType?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { filename = '"picture.png"', contentType = "image/png", headers = {} } = more;
  const body = multipart([{ bytes, filename, contentType }]);
  return client.send("POST", path, body, { "Content-Type": multipartType, ...headers });
}

export interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Requests a page outside the API, without credentials. */
export async function fetchPage(url: string, path: string, headers: Record<string, string> = {}): Promise<Fetched> {
  const response = await fetch(`${url}${path}`, { redirect: "manual", headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** The metadata that the library reads from an image. */
export async function lookAt(bytes: Buffer) {
  const { format, width, height, pages = 1, exif, icc } = await sharp(bytes).metadata();
  return { format, width, height, pages, hasMetadata: exif !== undefined || icc !== undefined };
}

/** The avatar URL of a user without an uploaded image. @param size e.g. `&s=500` */
export function gravatar(email: string, version: number, size = ""): string {
  const digest = createHash("md5").update(email).digest("hex");
  return `https://secure.gravatar.com/avatar/${digest}?d=identicon${size}&version=${version}`;
}
