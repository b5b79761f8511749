/** A client that sends a request over HTTP or a socket and reads only the beginning of the response. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Client } from "./client.ts";
import { frameBytes, opcodes } from "./raw-frames.ts";

export class StalledReader {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  /** The status of the response; 0 if the connection ended without one. */
  readonly status: Promise<number>;
  readonly closed: Promise<void>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    this.status = new Promise((resolve) => {
      this.#socket.once("close", () => resolve(0));
      this.#socket.once("data", (bytes: Buffer) => {
        this.#socket.pause();
        this.#chunks.push(bytes);
        resolve(Number(bytes.toString("latin1", 0, 12).split(" ")[1]));
      });
    });
  }

  /** @param path below /api/v1 */
  static get({ url, authorization }: Client, path: string): StalledReader {
    const reader = new StalledReader(url);
    reader.write(`GET /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);
    return reader;
  }

  /** A WebSocket, open or rejected. @param authorization "": the first frame must authenticate */
  static async socket(url: string, authorization: string): Promise<StalledReader> {
    const reader = new StalledReader(url);
    const head = [
      "GET /api/v1/events/ws HTTP/1.1",
      "Host: localhost",
      "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      ...(authorization === "" ? [] : [`Authorization: ${authorization}`]),
    ];
    reader.write(`${head.join("\r\n")}\r\n\r\n`);
    await reader.status;
    return reader;
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(bytes);
  }

  /** Sends a frame and reads the start of the reply. */
  ask(frame: object): Promise<void> {
    this.write(frameBytes(opcodes.text, JSON.stringify(frame)));
    return this.readSome();
  }

  /** Resolves when bytes have arrived, or the connection has ended. */
  readSome(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once("close", () => resolve());
      this.#socket.once("data", () => {
        this.#socket.pause();
        resolve();
      });
      this.#socket.resume();
    });
  }

  /** Reads to the end of the response or of the connection. @returns the body received so far */
  async whole(): Promise<string> {
    const bytes = await this.wholeBytes();
    return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4).toString("utf8");
  }

  /** The same with the head, as the bytes arrived. @param hasBody false after HEAD */
  async wholeBytes(hasBody = true): Promise<Buffer> {
    await this.status;
    let length = this.#chunks.reduce((sum, { length: size }) => sum + size, 0);
    const head = this.#chunks[0]?.toString("latin1") ?? "";
    const bodyLength = hasBody ? Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) : 0;
    const end = head.indexOf("\r\n\r\n") + 4 + bodyLength;
    if (length >= end) return Buffer.concat(this.#chunks);
    await new Promise<void>((resolve) => {
      void this.closed.then(resolve);
      this.#socket.on("data", (bytes: Buffer) => {
        this.#chunks.push(bytes);
        length += bytes.length;
        if (length >= end) resolve();
      });
      this.#socket.resume();
    });
    return Buffer.concat(this.#chunks);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
