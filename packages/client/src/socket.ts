/**
 * Reads a queue over a WebSocket (docs/realtime.md). It authenticates by its first frame, because browsers cannot send
 * headers, or by the cookie of a session, and resumes a queue that POST /register made.
 */
import { stepAfterClose, stepAfterError } from "./close-codes.ts";
import { ConnectionError, errorOfFrame, SocketClosedError } from "./errors.ts";
import type { Ended, EventSource, Position, RawEvent } from "./event-source.ts";
import type { AnswerBody } from "./requests.ts";
import { SocketCalls } from "./socket-calls.ts";
import type { Access } from "./zuliprc.ts";

/** The part of the WebSocket interface that is used: browsers, Node 22 and later, and the package `ws` have it. */
export interface WebSocketLike {
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}
export type WebSocketClass = new (url: string) => WebSocketLike;

export const socketLimits = {
  /** Until the server has accepted the resume. */
  opening_ms_max: 15_000,
  /** Pages cannot see the server's pings, so silence is broken by a frame that the server answers. */
  silence_before_ping_ms: 25_000,
  silence_ms_max: 40_000,
  /** The same while a call waits for its reply. */
  call_silence_before_ping_ms: 8_000,
  call_silence_ms_max: 15_000,
  /** Characters of frames whose events the caller has not taken yet. Beyond it the socket is closed, and resumed later. */
  unread_characters_max: 4 * 1024 * 1024,
} as const;

const watchIntervalMs = 5_000;

interface Frame extends AnswerBody {
  readonly event?: RawEvent;
  readonly events?: readonly RawEvent[];
}

interface Batch {
  readonly events: readonly RawEvent[];
  readonly characters: number;
}

class SocketSession {
  readonly #socket: WebSocketLike;
  readonly #credentials: Access;
  readonly #position: Position;
  readonly #unread: Batch[] = [];
  #unreadCharacters = 0;
  #isOpen = false;
  #isLive = false;
  #heardAt = performance.now();
  #ended: Ended | null = null;
  #wake: () => void = () => undefined;
  readonly #watch: ReturnType<typeof setInterval>;

  readonly #options: SocketOptions;
  readonly #calls = new SocketCalls((text) => this.#socket.send(text));

  constructor(options: SocketOptions, position: Position) {
    const { webSocket, credentials } = options;
    this.#options = options;
    this.#credentials = credentials;
    this.#position = position;
    const socket = new webSocket(`${credentials.site.replace(/^http/i, "ws")}/api/v1/events/ws`);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#open());
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    // A close follows, which says more.
    socket.addEventListener("error", () => undefined);
    socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
    this.#watch = setInterval(() => this.#checkSilence(), watchIntervalMs);
  }

  #open(): void {
    this.#isOpen = true;
    this.#heardAt = performance.now();
    const { email, key } = this.#credentials;
    const { queueId, lastEventId } = this.#position;
    // A session's cookie came with the upgrade.
    if (key !== null) this.#send({ type: "authenticate", email, api_key: key });
    this.#send({ type: "resume", ref: "resume", queue_id: queueId, last_event_id: lastEventId });
  }

  #send(frame: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(frame));
  }

  #receive(text: string): void {
    if (this.#ended !== null) return;
    this.#heardAt = performance.now();
    const frame = parseFrame(text);
    if (frame === null) this.#end("stop", new Error("the server sent a frame that is not JSON"));
    else if (frame["type"] === "event" && frame.event !== undefined) this.#push([frame.event], text.length);
    else if (frame["type"] === "events") this.#push(frame.events ?? [], text.length);
    else if (frame["type"] === "reply" && frame["ref"] === "resume") this.#resumed(frame);
    else if (frame["type"] === "reply") this.#calls.receive(frame);
  }

  #push(events: readonly RawEvent[], characters: number): void {
    this.#unread.push({ events, characters });
    this.#unreadCharacters += characters;
    if (this.#unreadCharacters > socketLimits.unread_characters_max) {
      this.#end("resume", new Error("the program takes events too slowly; the server keeps them meanwhile"));
    }
    this.#wake();
  }

  #resumed(frame: Frame): void {
    if (frame["result"] === "success") {
      this.#isLive = true;
      this.#options.onCalls(this.#calls, true);
      this.#options.onLive();
      return;
    }
    const error = errorOfFrame("resume", frame);
    this.#end(stepAfterError(error.code), error, error.retryAfterMs);
  }

  #closed(code: number, reason: string): void {
    if (!this.#isOpen) this.#end("resume", new ConnectionError(`the socket did not open (${code} ${reason})`));
    this.#end(stepAfterClose(code), new SocketClosedError(code, reason));
  }

  #checkSilence(): void {
    const silence = performance.now() - this.#heardAt;
    const isAwaited = this.#calls.pendingCount > 0;
    const { silence_ms_max, call_silence_ms_max, silence_before_ping_ms, call_silence_before_ping_ms } = socketLimits;
    if (!this.#isLive) {
      if (silence > socketLimits.opening_ms_max) this.#end("resume", new ConnectionError("the socket did not open"));
    } else if (silence > (isAwaited ? call_silence_ms_max : silence_ms_max)) {
      this.#end("resume", new ConnectionError(`the socket has been silent for ${Math.round(silence / 1000)} s`));
    } else if (silence > (isAwaited ? call_silence_before_ping_ms : silence_before_ping_ms)) {
      this.#send({ type: "ping" });
    }
  }

  /** The first end counts. Events that have arrived are still read. */
  #end(next: Ended["next"], error: Error, leastMs = 0): void {
    if (this.#ended !== null) return;
    this.#ended = { next, error, leastMs, wasLive: this.#isLive };
    clearInterval(this.#watch);
    this.#options.onCalls(this.#calls, false);
    this.#socket.close();
    this.#calls.end();
    this.#wake();
  }

  abandon(): void {
    this.#end("stop", new Error("the program has stopped reading"));
  }

  get wasOpen(): boolean {
    return this.#isOpen;
  }

  async *read(): EventSource {
    for (;;) {
      const batch = this.#unread.shift();
      if (batch !== undefined) {
        this.#unreadCharacters -= batch.characters;
        yield batch.events;
      } else if (this.#ended !== null) {
        return this.#ended;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

function parseFrame(text: string): Frame | null {
  try {
    return JSON.parse(text) as Frame;
  } catch {
    return null;
  }
}

export interface SocketOptions {
  readonly webSocket: WebSocketClass;
  readonly credentials: Access;
  readonly signal: AbortSignal;
  /** Called when the server has accepted the resume. */
  readonly onLive: () => void;
  /** Called with what carries calls, when the server has accepted the resume and at the end. */
  readonly onCalls: (calls: SocketCalls, isOpen: boolean) => void;
  /** Called at the end; false: the socket never opened, perhaps because a proxy does not let it through. */
  readonly onEnd: (wasOpen: boolean) => void;
}

/** Opens a socket and reads it until it ends or the signal is aborted. */
export async function* readSocket(options: SocketOptions, from: Position): EventSource {
  const session = new SocketSession(options, from);
  const abandon = () => session.abandon();
  options.signal.addEventListener("abort", abandon);
  try {
    return yield* session.read();
  } finally {
    options.signal.removeEventListener("abort", abandon);
    session.abandon();
    options.onEnd(session.wasOpen);
  }
}
