/** The client: typed calls that survive lost answers, and streams of events. */
import type { Operations } from "./api/index.ts";
import { Backoff, pause } from "./backoff.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import { type EventOptions, EventStream, type EventType, type StreamSettings } from "./event-stream.ts";
import { type RequestParts, type RequestSettings, sendRequest, type UploadedFile } from "./requests.ts";
import type { WebSocketClass, WebSocketLike } from "./socket.ts";
import type { SocketCalls } from "./socket-calls.ts";
import type { Access } from "./zuliprc.ts";

export interface ClientOptions {
  /** For runtimes without a global `WebSocket`: the class of the package `ws` fits. Null: long polls only. */
  readonly webSocket?: WebSocketClass | null;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Name and version of the program; messages show it as their `client`. Browsers ignore it. */
  readonly userAgent?: string;
  /** How long a call is repeated while no answer arrives or the server is busy. Default: one minute. */
  readonly retryMs?: number;
  /** Calls use the socket of an event stream while one is open, and HTTP otherwise. Default: always HTTP. */
  readonly callsOverSocket?: boolean;
}

export interface CallOptions {
  /**
   * Names the request, so that a repetition gets the first answer, for 24 hours. Default: a new key for each call, under
   * which the client repeats it when an answer is lost.
   */
  readonly idempotencyKey?: string;
  /** As in `ClientOptions`; 0: one attempt. */
  readonly retryMs?: number;
  readonly signal?: AbortSignal;
  /** The file of an upload. */
  readonly file?: UploadedFile;
}

export type Operation = keyof Operations;
export type Params<O extends Operation> = Operations[O]["params"];
export type Result<O extends Operation> = Operations[O]["result"];
/** Parameters may be omitted if all of them are optional. */
type Arguments<O extends Operation> =
  Record<never, never> extends Params<O>
    ? [params?: Params<O>, options?: CallOptions]
    : [params: Params<O>, options?: CallOptions];

const retryMsDefault = 60_000;
/** One attempt; the server holds requests no longer, except polls. */
const attemptMsMax = 60_000;

export class Client {
  readonly credentials: Access;
  readonly #settings: RequestSettings;
  readonly #webSocket: WebSocketClass | null;
  readonly #retryMs: number;
  readonly #callsOverSocket: boolean;
  #calls: SocketCalls | null = null;

  constructor(credentials: Access, options: Omit<ClientOptions, "userAgent"> & { readonly userAgent: string | null }) {
    this.credentials = credentials;
    // A method of `globalThis` must not be called as one of `settings`.
    const { fetch: given = globalThis.fetch } = options;
    this.#settings = { credentials, userAgent: options.userAgent, fetch: (url, init) => given(url, init) };
    this.#webSocket = options.webSocket === undefined ? globalWebSocket() : options.webSocket;
    this.#retryMs = options.retryMs ?? retryMsDefault;
    this.#callsOverSocket = options.callsOverSocket === true;
  }

  /**
   * Calls an operation, such as `client.call("POST /messages", { type: "channel", to: "general", topic: "lunch",
   * content: "Soup" })`. Repeats it while no answer arrives, and while the server asks to come back later.
   * @throws ApiError if the server rejects it; ConnectionError if no answer arrives in time
   */
  async call<O extends Operation>(operation: O, ...[params, options = {}]: Arguments<O>): Promise<Result<O>> {
    const isRead = operation.startsWith("GET ");
    const idempotencyKey = isRead ? null : (options.idempotencyKey ?? newKey());
    const signal = options.signal ?? null;
    const giveUpAt = performance.now() + (options.retryMs ?? this.#retryMs);
    const backoff = new Backoff();
    const parts: RequestParts = {
      operation,
      params: (params ?? {}) as Readonly<Record<string, unknown>>,
      idempotencyKey,
      file: options.file ?? null,
      timeoutMs: attemptMsMax,
      signal,
    };
    // Under one key, so it does not matter which way the repetition takes.
    let mayUseSocket = true;
    for (;;) {
      try {
        const overSocket = mayUseSocket ? (this.#calls?.call(parts) ?? null) : null;
        return (await (overSocket ?? sendRequest(this.#settings, parts))) as Result<O>;
      } catch (error) {
        if (!isPassing(error)) throw error;
        // An answer that the socket has no room for may fit into an HTTP response.
        if (error instanceof ApiError) mayUseSocket = false;
        const delayMs = backoff.next(error instanceof ApiError ? error.retryAfterMs : 0);
        if (performance.now() + delayMs > giveUpAt) throw error;
        await pause(delayMs, signal ?? neverAborted);
        signal?.throwIfAborted();
      }
    }
  }

  /**
   * The caller's events, in order, each once. `for await (const event of client.events({ event_types: ["message"] }))`
   * ends when the loop is left, when `close()` is called, or with an error after which no attempt would succeed.
   */
  events<T extends EventType = EventType>(options: EventOptions<T> = {}): EventStream<T> {
    const settings: StreamSettings = {
      ...this.#settings,
      webSocket: this.#webSocket,
      onCalls: (calls, isOpen) => {
        if (isOpen && this.#callsOverSocket) this.#calls = calls;
        else if (this.#calls === calls) this.#calls = null;
      },
      register: (params, signal) => this.call("POST /register", params, { signal, retryMs: Number.POSITIVE_INFINITY }),
      deleteQueue: async (queueId) => {
        await this.call(
          "DELETE /events",
          { queue_id: queueId },
          { retryMs: 0, signal: AbortSignal.timeout(farewellMs) },
        );
      },
    };
    return new EventStream(settings, options);
  }
}

/** A stream that ends does not wait longer for its queue's deletion. */
const farewellMs = 5_000;

const neverAborted = new AbortController().signal;

/** Whether a repetition can succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status === 503;
  return error instanceof ConnectionError && (error.status === 0 || error.status >= 502);
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function globalWebSocket(): WebSocketClass | null {
  const found: unknown = Reflect.get(globalThis, "WebSocket");
  return typeof found === "function" ? (found as new (url: string) => WebSocketLike) : null;
}
