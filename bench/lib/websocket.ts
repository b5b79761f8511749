// A WebSocket receiver reduced to what a load test needs: handshake with Basic authentication, text frames in both
// directions, replies to pings. It uses node:net with one shared read buffer, and passes payloads on without copying or
// decoding. No compression and no extensions. bench/README.md compares it with the `ws` package ("Why our own WebSocket
// reader").

import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Address } from "./http-connection.ts";
import { FRAME_BYTES_MAX, RESPONSE_HEAD_BYTES_MAX } from "./limits.ts";

const READ_BUFFER = Buffer.allocUnsafe(256 * 1024);
const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface WebSocketOptions {
  readonly address: Address;
  readonly path: string;
  readonly authorization: string | null;
  /** Requested in the handshake; none by default. */
  readonly subprotocol?: string | null;
  /** Source address, to open more sockets than one address has ports; null: the kernel chooses. */
  readonly localAddress: string | null;
}

export interface WebSocketEvents {
  onOpen(): void;
  /** One complete text message: bytes `from` to `to` of `bytes`, valid only until this call returns. */
  onText(bytes: Buffer, from: number, to: number): void;
  /** The socket is closed; `reason` holds the close code if there was one. No callback follows. */
  onClose(reason: string): void;
}

export class WebSocketReceiver {
  readonly #events: WebSocketEvents;
  readonly #socket: Socket;
  #open = false;
  #reason = "closed by the server without a code";
  /** Bytes of an unfinished frame or handshake. */
  #rest: Buffer | null = null;
  /** Payloads of a fragmented message so far. */
  #fragments: Buffer[] = [];

  constructor(options: WebSocketOptions, events: WebSocketEvents) {
    this.#events = events;
    const { host, port } = options.address;
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      ...(options.localAddress === null ? {} : { localAddress: options.localAddress }),
      onread: { buffer: READ_BUFFER, callback: (length) => this.#onRead(length) },
    });
    this.#socket.on("connect", () => this.#socket.write(handshakeOf(options)));
    this.#socket.on("error", (error) => {
      this.#reason = error.message;
    });
    this.#socket.on("close", () => events.onClose(this.#reason));
  }

  /** Sends one text frame (at most 65,535 bytes). */
  sendText(text: string): void {
    this.#socket.write(clientFrame(OPCODE.text, Buffer.from(text, "utf8")));
  }

  /** The same for bytes, which are copied. */
  send(payload: Buffer): void {
    this.#socket.write(clientFrame(OPCODE.text, payload));
  }

  /** Sends a close frame with 1000 and closes the connection. */
  close(): void {
    this.#reason = "closed by us";
    if (this.#open) this.#socket.end(clientFrame(OPCODE.close, Buffer.from([0x03, 0xe8])));
    else this.#socket.destroy();
  }

  /** Closes the connection without a close frame. */
  destroy(): void {
    this.#reason = "closed by us";
    this.#socket.destroy();
  }

  #onRead(length: number): boolean {
    try {
      if (this.#rest === null) this.#consume(READ_BUFFER, length);
      else {
        const joined = Buffer.concat([this.#rest, READ_BUFFER.subarray(0, length)]);
        this.#consume(joined, joined.length);
      }
    } catch (error) {
      this.#reason = String(error);
      this.#socket.destroy();
    }
    return true;
  }

  #consume(bytes: Buffer, length: number): void {
    let at = this.#open ? 0 : this.#readHandshake(bytes, length);
    while (this.#open && at < length) {
      const next = this.#readFrame(bytes, at, length);
      if (next === at) break;
      at = next;
    }
    this.#rest = at < length ? Buffer.from(bytes.subarray(at, length)) : null;
  }

  /** The offset after the handshake's response, 0 while it is incomplete. */
  #readHandshake(bytes: Buffer, length: number): number {
    const end = bytes.indexOf("\r\n\r\n", 0, "latin1");
    if (end === -1 || end + 4 > length) {
      if (length > RESPONSE_HEAD_BYTES_MAX) throw new Error("the handshake's response is too long");
      return 0;
    }
    const head = bytes.toString("latin1", 0, end);
    if (!head.startsWith("HTTP/1.1 101 ")) {
      throw new Error(
        `the upgrade was refused: ${head.split("\r\n")[0] ?? ""} ${bytes.toString("latin1", end + 4, Math.min(length, end + 204))}`,
      );
    }
    this.#open = true;
    this.#events.onOpen();
    return end + 4;
  }

  /** Handles the frame at `at`. @returns the offset behind it, or `at` itself if the frame is incomplete */
  #readFrame(bytes: Buffer, at: number, length: number): number {
    if (length - at < 2) return at;
    const first = bytes[at] ?? 0;
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (length - at < headBytes) return at;
    const payloadBytes =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
    if (payloadBytes > FRAME_BYTES_MAX) throw new Error(`a frame of ${payloadBytes} bytes`);
    const from = at + headBytes;
    const to = from + payloadBytes;
    if (to > length) return at;
    this.#onFrame({ opcode: first & 0x0f, final: first >= 0x80, bytes, from, to });
    return to;
  }

  #onFrame(frame: { opcode: number; final: boolean; bytes: Buffer; from: number; to: number }): void {
    const { bytes, from, to } = frame;
    switch (frame.opcode) {
      case OPCODE.text:
      case OPCODE.continuation:
        this.#onData(frame);
        return;
      case OPCODE.ping:
        this.#socket.write(clientFrame(OPCODE.pong, bytes.subarray(from, to)));
        return;
      case OPCODE.close:
        this.#reason =
          to - from < 2
            ? "close frame without a code"
            : `close ${bytes.readUInt16BE(from)} ${bytes.toString("utf8", from + 2, to)}`;
        this.#socket.end();
        return;
      case OPCODE.pong:
        return;
      default:
        throw new Error(`a frame with opcode ${frame.opcode}`);
    }
  }

  #onData(frame: { final: boolean; bytes: Buffer; from: number; to: number }): void {
    if (frame.final && this.#fragments.length === 0) {
      this.#events.onText(frame.bytes, frame.from, frame.to);
      return;
    }
    this.#fragments.push(Buffer.from(frame.bytes.subarray(frame.from, frame.to)));
    if (!frame.final) return;
    const whole = Buffer.concat(this.#fragments);
    this.#fragments = [];
    this.#events.onText(whole, 0, whole.length);
  }
}

function handshakeOf(options: WebSocketOptions): string {
  const lines = [
    `GET ${options.path} HTTP/1.1`,
    `Host: ${options.address.host}:${options.address.port}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "Sec-WebSocket-Version: 13",
  ];
  if (options.authorization !== null) lines.push(`Authorization: ${options.authorization}`);
  if (options.subprotocol != null) lines.push(`Sec-WebSocket-Protocol: ${options.subprotocol}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/**
 * A client's frame. Its masking key is four zero bytes, which is legal and saves a pass over the payload. Masks protect
 * proxies from scripts in browsers, which is irrelevant here.
 */
function clientFrame(opcode: number, payload: Buffer): Buffer {
  const long = payload.length > 125;
  const head = Buffer.alloc((long ? 4 : 2) + 4);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (long ? 126 : payload.length);
  if (long) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
