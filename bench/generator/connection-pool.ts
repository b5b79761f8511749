// A crew of keep-alive connections ("lanes"), each with one request in flight and its own cycle of requests. Each lane
// has its own copy of their bytes, in which the marker is patched before each request. Broken connections are reopened
// and counted, up to a bound.

import { dialects } from "../lib/dialects.ts";
import { type Address, type ConnectionEvents, HttpConnection } from "../lib/http-connection.ts";
import { markerOffsets, patchMarkers } from "../lib/http-request.ts";
import type { Response } from "../lib/http-response.ts";
import type { Cycle, Failures, PostSockets } from "../lib/job.ts";
import { MARKERS_MAX, RECONNECTS_MAX } from "../lib/limits.ts";
import { PostSocket } from "../lib/post-socket.ts";

/** HTTP, or a socket that posts. */
type Connection = Pick<HttpConnection, "send" | "close">;

/** One connection. `dueAt` and `post` describe the request in flight or, when idle, the last one. */
export interface PooledConnection {
  readonly index: number;
  readonly requests: readonly { readonly bytes: Buffer; readonly offsets: readonly number[] }[];
  connection: Connection;
  turn: number;
  marker: number;
  state: "connecting" | "idle" | "busy";
  dueAt: number;
  /**
   * Identifies the request within the run: marker number x cycle length + position in the cycle, or the marker number
   * alone.
   */
  post: number;
}

export interface ConnectionPoolOptions {
  readonly address: Address;
  /** Set if the requests are sent over sockets instead of HTTP. */
  readonly sockets?: PostSockets;
  readonly cycles: readonly Cycle[];
  readonly connections: number;
  /** The number of the first marker (default 0). */
  readonly firstMarker?: number;
  /**
   * Whether each request has its own marker, whose number identifies it; otherwise all requests of one round of the
   * cycle share one.
   */
  readonly isMarkerOfRequest?: boolean;
  /** Called when a request was sent: `dueAt` and `post` of the lane describe it. */
  readonly onSend?: (pooled: PooledConnection) => void;
  /** Called when a lane may send: it has just connected, or its response has been handled. */
  readonly onReady: (pooled: PooledConnection) => void;
  /** Called with a response, before `onReady` for the same lane. */
  readonly onAnswer: (pooled: PooledConnection, response: Response, now: number) => void;
  /** Called when a lane lost its connection; if it was busy, its request has no response. */
  readonly onLost: (pooled: PooledConnection) => void;
}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #pooled: PooledConnection[] = [];
  readonly #statuses = new Map<string, number>();
  #firstBody = "";
  #broken = 0;
  #firstBreak = "";
  #reconnects = 0;
  #nextMarker = 0;
  #closing = false;
  #connected = 0;
  #onStanding: () => void = () => undefined;
  #onFailed: (error: Error) => void = () => undefined;
  /** Rejects when connections break so often that the run cannot continue; never resolves. */
  readonly failed: Promise<never>;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.failed = new Promise((_resolve, reject) => {
      this.#onFailed = reject;
    });
    // Callers race against `failed`. Between two races there is no listener, which must not count as an unhandled
    // rejection.
    this.failed.catch(() => undefined);
  }

  /** Opens all connections; each calls `onReady` when connected. Resolves when all are. */
  open(): Promise<void> {
    const standing = new Promise<void>((resolve) => {
      this.#onStanding = resolve;
    });
    const { cycles, connections } = this.#options;
    for (let index = 0; index < connections; index += 1) {
      const requests = (cycles[index % cycles.length] ?? []).map((text) => {
        const bytes = Buffer.from(text, "latin1");
        return { bytes, offsets: markerOffsets(bytes) };
      });
      const pooled: Omit<PooledConnection, "connection"> = {
        index,
        requests,
        turn: -1,
        marker: 0,
        state: "connecting",
        dueAt: 0,
        post: 0,
      };
      // Connection and lane refer to each other. The lane is complete when `connect` returns.
      const whole = pooled as PooledConnection;
      whole.connection = this.#connect(whole);
      this.#pooled.push(whole);
    }
    return Promise.race([standing, this.failed]);
  }

  /** Sends the lane's next request. `dueAt` is when it was due. @returns its post number */
  send(pooled: PooledConnection, dueAt: number): number {
    pooled.turn = (pooled.turn + 1) % pooled.requests.length;
    const { firstMarker = 0, isMarkerOfRequest = false } = this.#options;
    if (pooled.turn === 0 || isMarkerOfRequest) {
      pooled.marker = this.#nextMarker;
      this.#nextMarker += 1;
    }
    const request = pooled.requests[pooled.turn];
    if (request === undefined) throw new Error("a cycle without requests");
    patchMarkers(request.bytes, request.offsets, (firstMarker + pooled.marker) % MARKERS_MAX);
    pooled.post = isMarkerOfRequest ? pooled.marker : pooled.marker * pooled.requests.length + pooled.turn;
    pooled.dueAt = dueAt;
    pooled.state = "busy";
    pooled.connection.send(request.bytes);
    this.#options.onSend?.(pooled);
    return pooled.post;
  }

  get busy(): number {
    return this.#pooled.filter((pooled) => pooled.state === "busy").length;
  }

  /** Closes all connections and abandons requests in flight. */
  close(): void {
    this.#closing = true;
    for (const pooled of this.#pooled) pooled.connection.close();
  }

  failures(unanswered: number): Failures {
    return {
      statuses: Object.fromEntries(this.#statuses),
      firstBody: this.#firstBody,
      brokenConnections: this.#broken,
      firstBreak: this.#firstBreak,
      unanswered,
    };
  }

  #connect(pooled: PooledConnection): Connection {
    const { address, sockets } = this.#options;
    const events: ConnectionEvents = {
      onConnect: () => {
        pooled.state = "idle";
        this.#connected += 1;
        if (this.#connected === this.#options.connections) this.#onStanding();
        this.#options.onReady(pooled);
      },
      onResponse: (response) => this.#onResponse(pooled, response),
      onClose: (reason) => this.#onClose(pooled, reason),
    };
    if (sockets === undefined) return new HttpConnection(address, events);
    return new PostSocket({ address, dialect: dialects[sockets.dialect], sockets, index: pooled.index }, events);
  }

  #onResponse(pooled: PooledConnection, response: Response): void {
    if (response.status !== 200) {
      const status = String(response.status);
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
      if (this.#firstBody === "") this.#firstBody = response.failureBody;
    }
    pooled.state = "idle";
    this.#options.onAnswer(pooled, response, performance.now());
    // The response handler may have sent again or closed everything.
    if (pooled.state === "idle" && !this.#closing) this.#options.onReady(pooled);
  }

  /**
   * A server may close idle connections (uWebSockets.js after some 10 s). That is a failure only while a request is in
   * flight.
   */
  #onClose(pooled: PooledConnection, reason: string): void {
    if (this.#closing) return;
    if (pooled.state !== "idle") {
      this.#broken += 1;
      if (this.#firstBreak === "") this.#firstBreak = reason;
    }
    this.#options.onLost(pooled);
    const neverStood = pooled.state === "connecting" && this.#connected < this.#options.connections;
    pooled.state = "connecting";
    this.#reconnects += 1;
    if (neverStood || this.#reconnects > RECONNECTS_MAX) {
      this.#onFailed(new Error(`a connection broke (number ${this.#reconnects}): ${reason}`));
      return;
    }
    pooled.connection = this.#connect(pooled);
  }
}
