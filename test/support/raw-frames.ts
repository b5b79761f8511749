/** WebSocket frames as bytes (RFC 6455, 5.2): valid and invalid frames of clients, and frames of a server. */
import { randomBytes } from "node:crypto";

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameShape {
  /** False if more fragments follow. */
  readonly isFinal?: boolean;
  /** Clients must mask. */
  readonly isMasked?: boolean;
  /** The three bits reserved for extensions. */
  readonly reserved?: number;
}

/** A frame as clients send it, unless `shape` changes it. */
export function frameBytes(opcode: number, payload: string | Buffer, shape: FrameShape = {}): Buffer {
  const { isFinal = true, isMasked = true, reserved = 0 } = shape;
  const body = Buffer.from(payload);
  const { length } = body;
  const wide = length > 65_535 ? 8 : length > 125 ? 2 : 0;
  const head = Buffer.alloc(2 + wide);
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (isMasked ? 0x80 : 0) | (wide === 8 ? 127 : wide === 2 ? 126 : length);
  if (wide === 2) head.writeUInt16BE(length, 2);
  if (wide === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!isMasked) return Buffer.concat([head, body]);
  const mask = randomBytes(4);
  for (let index = 0; index < length; index++) body[index] = (body[index] ?? 0) ^ (mask[index % 4] ?? 0);
  return Buffer.concat([head, mask, body]);
}

/** The payload of a close frame. */
export function closePayload(code: number, reason = ""): Buffer {
  return Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
}

/** The first frame in the bytes, or null if it is incomplete. A server's frames are never masked. */
export function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const short = (bytes[1] ?? 0) & 0x7f;
  const wide = short === 127 ? 8 : short === 126 ? 2 : 0;
  const start = 2 + wide;
  if (bytes.length < start) return null;
  const length = wide === 8 ? Number(bytes.readBigUInt64BE(2)) : wide === 2 ? bytes.readUInt16BE(2) : short;
  const end = start + length;
  if (bytes.length < end) return null;
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: bytes.subarray(start, end), end };
}
