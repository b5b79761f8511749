/**
 * A WebSocket client on a bare TCP connection, for what a well-behaved one cannot do: stop reading, send many frames in one
 * segment, look at the handshake's answer. Text frames only; a server's frames are never masked (RFC 6455).
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket as TcpSocket } from "node:net";
import type { Client } from "./client.ts";
import type { Closed, Frame } from "./socket.ts";

export interface Handshake {
  readonly status: number;
  readonly headers: string;
  /** Of an answer that refuses the upgrade. */
  readonly body: string;
}

export interface RawSocketOptions {
  readonly authorization: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const textOpcode = 1;
const closeOpcode = 8;
const pingOpcode = 9;
const pongOpcode = 10;

export class RawSocket {
  /** Every text frame so far, in order. */
  readonly frames: Frame[] = [];
  readonly handshake: Promise<Handshake>;
  /** The close frame; 1006 when the connection ended without one. */
  readonly closed: Promise<Closed>;
  readonly #tcp: TcpSocket;
  readonly #waiting: { test: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  #shake: (handshake: Handshake) => void = () => undefined;
  #end: (closed: Closed) => void = () => undefined;

  constructor(url: string, options: RawSocketOptions) {
    const { hostname, port, host } = new URL(url);
    this.handshake = new Promise((resolve) => {
      this.#shake = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#tcp = connect({ host: hostname, port: Number(port) });
    this.#tcp.on("data", (chunk) => this.#take(chunk));
    this.#tcp.on("close", () => this.#ended());
    this.#tcp.on("error", () => undefined);
    const headers = {
      Host: host,
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      "Sec-WebSocket-Version": "13",
      ...(options.authorization === "" ? {} : { Authorization: options.authorization }),
      ...options.headers,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#tcp.write(`GET /api/v1/events/ws HTTP/1.1\r\n${lines.join("")}\r\n`);
  }

  /** An open socket of somebody. */
  static async of(client: Client): Promise<RawSocket> {
    const socket = new RawSocket(client.url, { authorization: client.authorization });
    const { status } = await socket.handshake;
    if (status !== 101) throw new Error(`no upgrade: ${status}`);
    return socket;
  }

  /** Sends frames in one write. */
  send(...frames: readonly (object | string)[]): void {
    this.#tcp.write(Buffer.concat(frames.map((frame) => maskedText(frame))));
  }

  /** The first frame, past or future, that passes the test. */
  frame(test: (frame: Frame) => boolean): Promise<Frame> {
    const known = this.frames.find(test);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  get events(): Frame[] {
    return this.frames.flatMap((frame) => (frame.type === "event" ? [frame.event] : (frame.events ?? [])));
  }

  /** Stops reading: the kernel's buffers fill, then the server's. */
  pause(): void {
    this.#tcp.pause();
  }

  resume(): void {
    this.#tcp.resume();
  }

  destroy(): void {
    this.#tcp.destroy();
  }

  #take(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    if (!this.#isUpgraded && !this.#readHandshake()) return;
    for (;;) {
      const frame = readFrame(this.#bytes);
      if (frame === null) return;
      this.#bytes = this.#bytes.subarray(frame.end);
      this.#handle(frame.opcode, frame.payload);
    }
  }

  #readHandshake(): boolean {
    const end = this.#bytes.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const headers = this.#bytes.subarray(0, end).toString("latin1");
    const status = Number(headers.split(" ")[1]);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
    const rest = this.#bytes.subarray(end + 4);
    if (status !== 101 && rest.length < length) return false;
    this.#isUpgraded = status === 101;
    this.#bytes = rest;
    this.#shake({ status, headers, body: this.#isUpgraded ? "" : rest.toString() });
    return this.#isUpgraded;
  }

  #handle(opcode: number, payload: Buffer): void {
    if (opcode === pingOpcode) this.#tcp.write(masked(pongOpcode, payload));
    if (opcode === closeOpcode) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.#end({ code, reason: payload.subarray(2).toString() });
    }
    if (opcode !== textOpcode) return;
    const frame: Frame = JSON.parse(payload.toString());
    this.frames.push(frame);
    for (const waiter of [...this.#waiting]) {
      if (!waiter.test(frame)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve(frame);
    }
  }

  #ended(): void {
    this.#shake({ status: 0, headers: "", body: "" });
    this.#end({ code: 1006, reason: "" });
  }
}

function maskedText(frame: object | string): Buffer {
  return masked(textOpcode, Buffer.from(typeof frame === "string" ? frame : JSON.stringify(frame)));
}

/** A whole frame as clients send it. */
function masked(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const length = payload.length;
  const wide = length > 65_535 ? 8 : length > 125 ? 2 : 0;
  const head = Buffer.alloc(2 + wide);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (wide === 8 ? 127 : wide === 2 ? 126 : length);
  if (wide === 2) head.writeUInt16BE(length, 2);
  if (wide === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const body = Buffer.from(payload);
  for (let index = 0; index < length; index++) body[index] = (body[index] ?? 0) ^ (mask[index % 4] ?? 0);
  return Buffer.concat([head, mask, body]);
}

/** The first frame in the bytes, or null when it is not whole yet. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
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
