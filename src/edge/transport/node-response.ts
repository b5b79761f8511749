/**
 * One answer on Node's HTTP server, with the back-pressure of the contract: Node would buffer any amount of data, so a
 * piece is written only when the kernel has taken all earlier ones.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { limits } from "../../../schemas/limits.ts";
import type { TransportResponse } from "./transport.ts";

export class NodeResponse implements TransportResponse {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  #status = 200;
  #reason = "OK";
  readonly #headers: string[] = [];
  #isHeadWritten = false;
  #isPaused = false;
  #isOver = false;
  #abort: (() => void) | null = null;
  #writable: ((offset: number) => boolean) | null = null;
  /** Bytes of the body that the kernel has taken, and bytes of the one piece that it has not. */
  #taken = 0;
  #unflushed = 0;
  #writes = 0;

  constructor(message: IncomingMessage, response: ServerResponse, socket: Socket) {
    this.#message = message;
    this.#response = response;
    this.#socket = socket;
    response.once("finish", () => this.#flushed(this.#writes));
  }

  /** Whether the server waits for the rest of the request and reads it. */
  get isReceiving(): boolean {
    return !this.#message.complete && !this.#isPaused;
  }

  get isReceived(): boolean {
    return this.#message.complete;
  }

  /** Whether a part of the answer may have been sent. */
  get isBegun(): boolean {
    return this.#isHeadWritten;
  }

  /** The connection was closed, or will be. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort?.();
  }

  onAborted(handler: () => void): void {
    this.#abort = handler;
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const { headers } = this.#message;
    const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
    let received = 0;
    this.#message.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (!this.#isOver) handler(ownBytes(chunk), received === length);
    });
    // A chunked or empty body is known to be complete only at this event; others are when their last bytes arrive.
    this.#message.on("end", () => {
      if (!this.#isOver && (length === null || length === 0)) handler(new ArrayBuffer(0), true);
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#message.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#message.resume();
  }

  writeStatus(status: string): void {
    this.#status = Number.parseInt(status, 10);
    this.#reason = status.slice(4);
  }

  writeHeader(name: string, value: string): void {
    if (!value.includes("\r\n")) {
      this.#headers.push(name, value);
      return;
    }
    for (const line of `${name}: ${value}`.split("\r\n")) {
      const colon = line.indexOf(": ");
      this.#headers.push(line.slice(0, colon), line.slice(colon + 2));
    }
  }

  cork(work: () => void): void {
    work();
  }

  end(body: string | Buffer, closesConnection: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (closesConnection) this.#response.shouldKeepAlive = false;
    const bytes = Buffer.from(body);
    this.#writeHead(bytes.length);
    this.#response.end(bytes);
  }

  endWithoutBody(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#writeHead(null);
    this.#response.end();
  }

  tryEnd(chunk: string | Buffer, size: number): [isTaken: boolean, isDone: boolean] {
    if (this.#isOver || this.#unflushed > 0) return [false, false];
    this.#writeHead(size);
    // A copy, because Node may write it later.
    const bytes = Buffer.from(chunk);
    for (let start = 0; start < bytes.length; start += limits.answer_piece_bytes_min) {
      if (!this.#write(bytes.subarray(start, start + limits.answer_piece_bytes_min), size)) return [false, false];
    }
    if (this.#taken === size) this.#isOver = true;
    return [true, this.#isOver];
  }

  /** @returns whether the kernel took all of it at once */
  #write(bytes: Buffer, size: number): boolean {
    this.#writes++;
    const write = this.#writes;
    if (this.#taken + bytes.length === size) this.#response.end(bytes);
    else {
      // Corked here, the data is written when we uncork; Node would cork it, too, but uncork in a later tick.
      this.#socket.cork();
      this.#response.write(bytes, () => this.#flushed(write));
      this.#socket.uncork();
    }
    if (this.#socket.writableLength > 0) {
      this.#unflushed = bytes.length;
      return false;
    }
    this.#taken += bytes.length;
    return true;
  }

  /** @param write its number; writes that the kernel took at once are reported as well, and late */
  #flushed(write: number): void {
    if (write !== this.#writes || this.#unflushed === 0) return;
    this.#taken += this.#unflushed;
    this.#unflushed = 0;
    if (!this.#isOver) this.#writable?.(this.#taken);
  }

  #writeHead(size: number | null): void {
    if (this.#isHeadWritten) return;
    this.#isHeadWritten = true;
    if (size !== null) this.#headers.push("Content-Length", String(size));
    this.#response.writeHead(this.#status, this.#reason, this.#headers);
  }

  getWriteOffset(): number {
    return this.#taken;
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#writable = handler;
  }

  close(): void {
    this.#socket.destroy();
    this.abort();
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return ownBytes(Buffer.from(wholeAddress(this.#socket.remoteAddress ?? "")));
  }
}

/** Copies, because Node's buffers are views of larger ones. */
function ownBytes(bytes: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}

/** The full form of an IPv6 address; a scope such as %eth0 is removed. */
function wholeAddress(text: string): string {
  const [address = ""] = text.split("%");
  if (!ipaddr.IPv6.isValid(address)) return address;
  const groups = ipaddr.IPv6.parse(address).parts.map((part) => part.toString(16).padStart(4, "0"));
  return groups.join(":");
}
