/**
 * One answer on a uWS response: exactly once, corked, never after an abort. The abort handler is set before anything that
 * can throw, or uWS would end the process (pitfalls 2.1). Header values are checked: uWS would let CR and LF through.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { FileSlice, Performed } from "../runtime/calls.ts";
import type { Clock } from "../runtime/clock.ts";
import { FileSender } from "./file-sender.ts";
import type { Incoming } from "./incoming.ts";

const reasons: Readonly<Record<number, string>> = {
  204: "204 No Content",
  206: "206 Partial Content",
  302: "302 Found",
  304: "304 Not Modified",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  409: "409 Conflict",
  413: "413 Content Too Large",
  416: "416 Range Not Satisfiable",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};

const exposed = "Content-Range, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";

export class Exchange {
  readonly #response: HttpResponse;
  #address: string | null = null;
  #isOver = false;
  #isLast = false;
  #abortListeners: (() => void)[] = [];
  #onEnd: (() => void) | null = null;
  readonly #clock: Clock;
  #sender: FileSender | null = null;

  constructor(response: HttpResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
    response.onAborted(() => this.#abort());
  }

  /** Where the request comes from; first asked while the exchange is not over. */
  address(): string {
    this.#address ??= Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
    return this.#address;
  }

  /** Answered or given up by the client. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The connection is closed with the answer: what else the client sends is not wanted. */
  endConnection(): void {
    this.#isLast = true;
  }

  /** Called once, when the exchange is over either way. */
  onEnd(callback: () => void): void {
    this.#onEnd = callback;
  }

  /** Called when the client hangs up before the answer; at once if it has already. */
  onAbort(callback: () => void): void {
    if (this.#isOver) callback();
    else this.#abortListeners.push(callback);
  }

  #abort(): void {
    this.#sender?.abort();
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = this.#abortListeners;
    this.#abortListeners = [];
    for (const listener of listeners) listener();
    this.#onEnd?.();
  }

  /** @param incoming null when the request could not even be read */
  answer(performed: Performed, incoming: Incoming | null): void {
    const { file } = performed;
    if (this.#isOver) {
      void file?.close();
      return;
    }
    // Before the exchange counts as over: who catches the error can still answer.
    for (const [name, value] of performed.headers) {
      if (/[\r\n]/.test(value)) throw new Error(`header ${name} would carry a line break`);
    }
    this.#isOver = true;
    this.#abortListeners = [];
    const response = this.#response;
    if (file !== undefined && file.length > 0 && incoming?.method !== "HEAD") {
      this.#send(performed, file, incoming);
      return;
    }
    void file?.close();
    response.cork(() => {
      this.#writeHead(performed, incoming);
      if (incoming?.method === "HEAD") {
        // endWithoutBody(length) leaves the response unfinished in this build: the next request would hang.
        response.writeHeader("Content-Length", String(file?.length ?? Buffer.byteLength(performed.body)));
        response.endWithoutBody();
      } else if (hasNoBody(performed.status)) response.endWithoutBody();
      else response.end(performed.body, this.#isLast || performed.closesConnection === true);
    });
    this.#onEnd?.();
  }

  /** The exchange ends when the file is sent; what goes wrong on the way ends the connection. */
  #send(performed: Performed, file: FileSlice, incoming: Incoming | null): void {
    const sender = new FileSender(this.#response, file, this.#clock);
    this.#sender = sender;
    this.#response.cork(() => this.#writeHead(performed, incoming));
    const ended = () => {
      this.#sender = null;
      this.#onEnd?.();
    };
    sender.send().then(ended, ended);
  }

  #writeHead(performed: Performed, incoming: Incoming | null): void {
    const response = this.#response;
    // uWS says 200 by itself.
    if (performed.status !== 200) response.writeStatus(reasons[performed.status] ?? String(performed.status));
    if (!hasNoBody(performed.status)) response.writeHeader("Content-Type", performed.contentType ?? "application/json");
    for (const [name, value] of performed.headers) response.writeHeader(name, value);
    // Credentials travel in a header that pages must set themselves, never in cookies: any origin may ask.
    if (incoming !== null && incoming.origin !== "") {
      response.writeHeader("Access-Control-Allow-Origin", "*");
      response.writeHeader("Access-Control-Expose-Headers", exposed);
    }
  }
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}
