/**
 * One answer on a uWS response: exactly once, corked, never after an abort. The abort handler is set before anything that
 * can throw, or uWS would end the process (pitfalls 2.1). Header values are checked: uWS would let CR and LF through.
 */
import type { HttpResponse } from "uWebSockets.js";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { FileSlice, Performed } from "../runtime/calls.ts";
import type { Clock } from "../runtime/clock.ts";
import { challenge } from "../runtime/entry.ts";
import type { Holding, UnsentBytes } from "../runtime/unsent-bytes.ts";
import { AnswerBytes, bodySize, isPieced } from "./answer-bytes.ts";
import { AnswerSender, offer } from "./answer-sender.ts";
import { FileSender } from "./file-sender.ts";
import type { Incoming } from "./incoming.ts";
import { refused } from "./refused.ts";

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

const overloaded = refused(refuse.overloaded());

/** open: to be answered; sending: answered, and the client has not taken all of it yet. */
type State = "open" | "sending" | "over";

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly unsent: UnsentBytes;
}

export class Exchange {
  readonly #response: HttpResponse;
  readonly #options: ExchangeOptions;
  #address: string | null = null;
  #state: State = "open";
  #isLast = false;
  #who: (() => string) | null = null;
  #abortListeners: (() => void)[] = [];
  #onEnd: (() => void) | null = null;
  /** Stops what is being sent. */
  #stop: (() => void) | null = null;

  constructor(response: HttpResponse, options: ExchangeOptions) {
    this.#response = response;
    this.#options = options;
    response.onAborted(() => this.#abort());
  }

  /** Where the request comes from; first asked while the exchange is not over. */
  address(): string {
    this.#address ??= Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
    return this.#address;
  }

  /** Answered or given up by the client. */
  get isOver(): boolean {
    return this.#state !== "open";
  }

  /** The connection is closed with the answer: what else the client sends is not wanted. */
  endConnection(): void {
    this.#isLast = true;
  }

  /** @param who the person or address whose share an unsent answer counts against; without it, the connection's address */
  belongsTo(who: () => string): void {
    this.#who = who;
  }

  /** Called once, when the exchange is over either way and nothing of its answer is unsent. */
  onEnd(callback: () => void): void {
    this.#onEnd = callback;
  }

  /** Called when the client hangs up before the answer; at once if it has already. */
  onAbort(callback: () => void): void {
    if (this.isOver) callback();
    else this.#abortListeners.push(callback);
  }

  #abort(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    const stop = this.#stop;
    stop?.();
    const listeners = this.#abortListeners;
    this.#abortListeners = [];
    for (const listener of listeners) listener();
    // Otherwise what is being sent says when it has ended.
    if (stop === null) this.#ended();
  }

  #ended(): void {
    this.#state = "over";
    this.#stop = null;
    const callback = this.#onEnd;
    this.#onEnd = null;
    callback?.();
  }

  /** @param incoming null when the request could not even be read */
  answer(performed: Performed, incoming: Incoming | null): void {
    if (this.isOver) {
      void performed.file?.close();
      return;
    }
    // Before the exchange counts as over: who catches the error can still answer.
    for (const [name, value] of performed.headers) {
      if (/[\r\n]/.test(value)) throw new Error(`header ${name} would carry a line break`);
    }
    this.#state = "sending";
    this.#abortListeners = [];
    if (performed.closesConnection === true) this.#isLast = true;
    if (!this.#isLast) {
      this.#write(performed, incoming);
      return;
    }
    // Answered at once, uWS would go on to what stands behind the request in the same segment; while the answer is due, it closes instead.
    this.#stop = () => {
      void performed.file?.close();
      this.#ended();
    };
    this.#options.clock.soon(() => {
      if (this.#state === "sending") this.#write(performed, incoming);
    });
  }

  #write(performed: Performed, incoming: Incoming | null): void {
    const { file, body } = performed;
    if (file !== undefined && file.length > 0 && incoming?.method !== "HEAD") {
      this.#sendFile(performed, file, incoming);
      return;
    }
    void file?.close();
    const response = this.#response;
    const size = file?.length ?? bodySize(body);
    if (incoming?.method === "HEAD") {
      response.cork(() => {
        this.#writeHead(performed, incoming);
        // endWithoutBody(length) leaves the response unfinished in this build: the next request would hang.
        response.writeHeader("Content-Length", String(size));
        response.endWithoutBody();
      });
      this.#ended();
    } else if (hasNoBody(performed.status)) {
      response.cork(() => {
        this.#writeHead(performed, incoming);
        response.endWithoutBody();
      });
      this.#ended();
    } else if (size > limits.answer_small_bytes_max) this.#sendLarge(performed, size, incoming);
    else this.#sendSmall(performed, size, incoming);
  }

  #sendSmall(performed: Performed, size: number, incoming: Incoming | null): void {
    const response = this.#response;
    const body = isPieced(performed.body) ? performed.body.join("") : performed.body;
    let isTaken = true;
    response.cork(() => {
      this.#writeHead(performed, incoming);
      if (this.#isLast || size === 0) response.end(body, this.#isLast);
      else [isTaken] = response.tryEnd(body, size);
    });
    if (isTaken) this.#ended();
    else {
      const holding = this.#options.unsent.holdSmall(this.#holder(), size, this.#evict);
      this.#sendRest({ bytes: new AnswerBytes(body), isTaken }, holding);
    }
  }

  /** A GET without room gets 503 and can be repeated. After a change the connection is closed instead: a 503 would say that it failed. */
  #sendLarge(performed: Performed, size: number, incoming: Incoming | null): void {
    const response = this.#response;
    const holding = this.#options.unsent.hold(this.#holder(), size, this.#evict);
    if (holding === null && incoming?.method === "GET") {
      this.#write(overloaded, incoming);
      return;
    }
    if (holding === null) {
      response.close();
      return;
    }
    const bytes = new AnswerBytes(performed.body);
    let [isTaken, isDone] = [false, false];
    response.cork(() => {
      this.#writeHead(performed, incoming);
      if (this.#isLast) response.writeHeader("Connection", "close");
      ({ isTaken, isDone } = offer(response, bytes, 0));
    });
    if (!isDone) {
      this.#sendRest({ bytes, isTaken }, holding);
      return;
    }
    holding.release();
    this.#ended();
  }

  #sendRest(rest: { readonly bytes: AnswerBytes; readonly isTaken: boolean }, holding: Holding): void {
    const { clock } = this.#options;
    const onEnd = () => {
      holding.release();
      this.#ended();
    };
    const sender = new AnswerSender({ response: this.#response, ...rest, clock, onEnd });
    this.#stop = () => sender.end();
  }

  #holder(): string {
    return this.#who?.() ?? this.address();
  }

  readonly #evict = (): void => {
    if (this.#state === "sending") this.#response.close();
  };

  /** The exchange ends when the file is sent; what goes wrong on the way ends the connection. */
  #sendFile(performed: Performed, file: FileSlice, incoming: Incoming | null): void {
    const sender = new FileSender(this.#response, file, this.#options.clock);
    this.#stop = () => sender.abort();
    this.#response.cork(() => this.#writeHead(performed, incoming));
    const ended = () => this.#ended();
    sender.send().then(ended, ended);
  }

  #writeHead(performed: Performed, incoming: Incoming | null): void {
    const response = this.#response;
    // uWS says 200 by itself.
    if (performed.status !== 200) response.writeStatus(reasons[performed.status] ?? String(performed.status));
    if (!hasNoBody(performed.status)) response.writeHeader("Content-Type", performed.contentType ?? "application/json");
    for (const [name, value] of performed.headers) {
      // A browser would ask its user and remember the answer, for any page that makes it send something here.
      if (name !== challenge[0] || (incoming?.fetchSite ?? "") === "") response.writeHeader(name, value);
    }
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
