/**
 * A WebSocket client on a bare TCP connection, for what a well-behaved client cannot do: stop reading, send many frames
 * in one segment or one in many, violate the protocol, inspect the handshake response. It reads text frames only.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket as TcpSocket } from "node:net";
import type { Client } from "./client.ts";
import { frameBytes, opcodes, readFrame } from "./raw-frames.ts";
import type { Closed, Frame } from "./socket.ts";

export interface Handshake {
  readonly status: number;
  readonly headers: string;
  /** The body of a response that rejects the upgrade. */
  readonly body: string;
}

export interface RawSocketOptions {
  readonly authorization: string;
  /** Added to or replacing the usual headers; null: left out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Bytes that follow the request in the same write, before the response. */
  readonly early?: Buffer;
  /** false: a client that vanished without closing. */
  readonly answersPings?: boolean;
}

export class RawSocket {
  /** Every text frame so far, in order. */
  readonly frames: Frame[] = [];
  readonly handshake: Promise<Handshake>;
  /** The close frame; 1006 when the connection ended without one. */
  readonly closed: Promise<Closed>;
  /** Resolves when the TCP connection is closed. */
  readonly ended: Promise<void>;
  /** Payloads of the server's pings and pongs so far. */
  readonly pings: Buffer[] = [];
  readonly pongs: Buffer[] = [];
  /** Resolves when the server has sent a ping. */
  readonly pinged: Promise<void>;
  readonly #tcp: TcpSocket;
  readonly #answersPings: boolean;
  readonly #waiting: { test: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  #ping: () => void = () => undefined;
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
    this.pinged = new Promise((resolve) => {
      this.#ping = resolve;
    });
    this.#answersPings = options.answersPings ?? true;
    this.#tcp = connect({ host: hostname, port: Number(port) });
    this.ended = new Promise((resolve) => this.#tcp.once("close", () => resolve()));
    this.#tcp.on("data", (chunk) => this.#take(chunk));
    this.#tcp.on("close", () => this.#ended());
    this.#tcp.on("error", () => undefined);
    const headers: Record<string, string | null> = {
      Host: host,
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      "Sec-WebSocket-Version": "13",
      ...(options.authorization === "" ? {} : { Authorization: options.authorization }),
      ...options.headers,
    };
    const lines = Object.entries(headers).map(([name, value]) => (value === null ? "" : `${name}: ${value}\r\n`));
    const head = Buffer.from(`GET /api/v1/events/ws HTTP/1.1\r\n${lines.join("")}\r\n`);
    this.#tcp.write(Buffer.concat([head, options.early ?? Buffer.alloc(0)]));
  }

  /** An open socket of the given user. */
  static async of(client: Client): Promise<RawSocket> {
    const socket = new RawSocket(client.url, { authorization: client.authorization });
    const { status } = await socket.handshake;
    if (status !== 101) throw new Error(`no upgrade: ${status}`);
    return socket;
  }

  /** Sends frames in one write. */
  send(...frames: readonly (object | string)[]): void {
    this.write(...frames.map((frame) => frameBytes(opcodes.text, textOf(frame))));
  }

  /** Sends raw bytes, in one write. */
  write(...bytes: readonly Buffer[]): void {
    this.#tcp.write(Buffer.concat(bytes));
  }

  /** Half-closes the TCP connection. */
  halfClose(): void {
    this.#tcp.end();
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
    if (opcode === opcodes.ping) {
      this.pings.push(payload);
      this.#ping();
      if (this.#answersPings) this.write(frameBytes(opcodes.pong, payload));
    }
    if (opcode === opcodes.pong) this.pongs.push(payload);
    if (opcode === opcodes.close) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.#end({ code, reason: payload.subarray(2).toString() });
    }
    if (opcode !== opcodes.text) return;
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

function textOf(frame: object | string): string {
  return typeof frame === "string" ? frame : JSON.stringify(frame);
}
