/**
 * One connection of Node's HTTP server. Pipelined requests are handled one after the other, so that answers are sent in
 * order and nothing after a request that ends the connection is handled. Clients that send too slowly are closed (S3).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits } from "../../../schemas/limits.ts";
import { NodeResponse } from "./node-response.ts";
import type { RequestHandler, TransportRequest } from "./transport.ts";

export class NodeRequest implements TransportRequest {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  getMethod(): string {
    return this.#message.method ?? "";
  }

  getUrl(): string {
    return pathOf(this.#message);
  }

  getQuery(): string {
    const { url = "" } = this.#message;
    const start = url.indexOf("?");
    return start < 0 ? "" : url.slice(start + 1);
  }

  getHeader(name: string): string {
    const { rawHeaders } = this.#message;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (rawHeaders[index]?.toLowerCase() === name) return rawHeaders[index + 1] ?? "";
    }
    return "";
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      visit((rawHeaders[index] ?? "").toLowerCase(), rawHeaders[index + 1] ?? "");
    }
  }
}

export function pathOf({ url = "" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly handler: RequestHandler;
  readonly malformedBody: string;
  readonly now: number;
}

interface Arrived {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

export class NodeConnection {
  readonly #options: ConnectionOptions;
  #current: NodeResponse | null = null;
  readonly #waiting: Arrived[] = [];
  /** The answer to invalid bytes after the last request; null if there were none. */
  #refusal: string | null = null;
  /** The time since which the server waits for the client, and the number of bytes received by then. */
  #waitingSince: number;
  #bytesBefore = 0;
  /** A request was answered since the last check. */
  #hasServed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#waitingSince = options.now;
  }

  get isIdle(): boolean {
    return this.#current === null && this.#waiting.length === 0;
  }

  receive(message: IncomingMessage, response: ServerResponse): void {
    if (!message.url?.startsWith("/")) this.refuse("400 Bad Request");
    if (this.#refusal !== null) return;
    if (this.#current === null) this.#begin({ message, response });
    else if (this.#waiting.length < limits.requests_pipelined_max) this.#waiting.push({ message, response });
    else this.#options.socket.destroy();
  }

  #begin({ message, response }: Arrived): void {
    const { socket, handler } = this.#options;
    const current = this.track(message, response);
    response.once("finish", () => this.#next());
    if (!socket.destroyed) handler(current, new NodeRequest(message));
  }

  /** Sets the response that is aborted when the connection ends. */
  track(message: IncomingMessage, response: ServerResponse): NodeResponse {
    this.#current = new NodeResponse(message, response, this.#options.socket);
    return this.#current;
  }

  #next(): void {
    const { socket } = this.#options;
    this.#current = null;
    this.#hasServed = true;
    // If the answer ends the connection, the writing side has been ended by now.
    if (socket.destroyed || socket.writableEnded) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    else if (this.#refusal !== null) this.#writeRefusal(this.#refusal);
  }

  /** Answers bytes that are not a request, after the answers to the requests before them, and ends the connection. */
  refuse(status: string): void {
    if (this.#refusal !== null) return;
    this.#refusal = status;
    if (this.#current === null) {
      this.#writeRefusal(status);
    } else if (!this.#current.isReceived) {
      // The body of the request that is being read.
      if (this.#current.isBegun) this.#options.socket.destroy();
      else this.#writeRefusal(status);
      this.closed();
    } else if (this.#waiting.at(-1)?.message.complete === false) {
      this.#waiting.pop();
    }
  }

  #writeRefusal(status: string): void {
    const { socket, malformedBody } = this.#options;
    const body = status.startsWith("400") ? malformedBody : "";
    const type = body === "" ? "" : "Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n";
    const length = Buffer.byteLength(body);
    socket.end(`HTTP/1.1 ${status}\r\n${type}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`);
    socket.destroySoon();
  }

  /** Closes the connection if the rest of a request, or the next request, takes too long to arrive. */
  check(now: number): void {
    const { socket } = this.#options;
    const { bytesRead } = socket;
    const isWaitingForBytes = !this.#hasServed && (this.#current === null || this.#current.isReceiving);
    const hasReceivedEnough = bytesRead - this.#bytesBefore >= limits.receive_bytes_min;
    if (isWaitingForBytes && now - this.#waitingSince < limits.receive_ms_max) return;
    if (isWaitingForBytes && !hasReceivedEnough) {
      socket.destroy();
      return;
    }
    this.#hasServed = false;
    this.#waitingSince = now;
    this.#bytesBefore = bytesRead;
  }

  /** The connection was closed. */
  closed(): void {
    const current = this.#current;
    this.#current = null;
    this.#waiting.length = 0;
    current?.abort();
  }
}
