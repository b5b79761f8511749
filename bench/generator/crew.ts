// A crew of keep-alive connections ("lanes"), each with one request in flight, its own cycle of requests and its own copy of
// their bytes, in which the marker is patched before each turn. Broken connections are opened again, counted, and bounded.

import { dialects } from "../lib/dialect.ts";
import { type Address, type ConnectionEvents, HttpConnection } from "../lib/http-connection.ts";
import { markerOffsets, patchMarkers } from "../lib/http-request.ts";
import type { Response } from "../lib/http-response.ts";
import type { Cycle, Failures, PostSockets } from "../lib/job.ts";
import { MARKERS_MAX, RECONNECTS_MAX } from "../lib/limits.ts";
import { PostSocket } from "../lib/post-socket.ts";

/** HTTP, or a socket that posts. */
type Connection = Pick<HttpConnection, "send" | "close">;

/** One connection. `dueAt` and `post` describe the request in flight or, when idle, the last one. */
export interface Lane {
  readonly index: number;
  readonly requests: readonly { readonly bytes: Buffer; readonly offsets: readonly number[] }[];
  connection: Connection;
  turn: number;
  marker: number;
  state: "connecting" | "idle" | "busy";
  dueAt: number;
  /** Names the request among all of the run: number of the marker in it x cycle length + turn, or that number alone. */
  post: number;
}

export interface CrewOptions {
  readonly address: Address;
  /** Where the requests go over sockets, not over HTTP. */
  readonly sockets?: PostSockets;
  readonly cycles: readonly Cycle[];
  readonly connections: number;
  /** The number that the first marker gets (0 when left out). */
  readonly firstMarker?: number;
  /** Whether each request has a marker of its own, which is then its number; else all of one turn of the cycle share one. */
  readonly isMarkerOfRequest?: boolean;
  /** A request has been sent: `dueAt` and `post` of the lane are its. */
  readonly onSend?: (lane: Lane) => void;
  /** A lane may send: it has just connected, or its answer has been handled. */
  readonly onReady: (lane: Lane) => void;
  /** An answer, before `onReady` for the same lane. */
  readonly onAnswer: (lane: Lane, response: Response, now: number) => void;
  /** A lane lost its connection; when it was busy its request has no answer. */
  readonly onLost: (lane: Lane) => void;
}

export class Crew {
  readonly #options: CrewOptions;
  readonly #lanes: Lane[] = [];
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
  /** Rejects when connections break so often that the run cannot go on; never resolves. */
  readonly failed: Promise<never>;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.failed = new Promise((_resolve, reject) => {
      this.#onFailed = reject;
    });
    // Whoever runs a crew races against `failed`; between two races nobody listens, and that is no unhandled rejection.
    this.failed.catch(() => undefined);
  }

  /** Starts all connections; each calls `onReady` when it stands. Resolves when all of them have. */
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
      const lane: Omit<Lane, "connection"> = {
        index,
        requests,
        turn: -1,
        marker: 0,
        state: "connecting",
        dueAt: 0,
        post: 0,
      };
      // The connection refers to its lane and the other way round; the lane is complete when `connect` returns.
      const whole = lane as Lane;
      whole.connection = this.#connect(whole);
      this.#lanes.push(whole);
    }
    return Promise.race([standing, this.failed]);
  }

  /** Sends the lane's next request. `dueAt` is when it should have been sent. Returns its post number. */
  send(lane: Lane, dueAt: number): number {
    lane.turn = (lane.turn + 1) % lane.requests.length;
    const { firstMarker = 0, isMarkerOfRequest = false } = this.#options;
    if (lane.turn === 0 || isMarkerOfRequest) {
      lane.marker = this.#nextMarker;
      this.#nextMarker += 1;
    }
    const request = lane.requests[lane.turn];
    if (request === undefined) throw new Error("a cycle without requests");
    patchMarkers(request.bytes, request.offsets, (firstMarker + lane.marker) % MARKERS_MAX);
    lane.post = isMarkerOfRequest ? lane.marker : lane.marker * lane.requests.length + lane.turn;
    lane.dueAt = dueAt;
    lane.state = "busy";
    lane.connection.send(request.bytes);
    this.#options.onSend?.(lane);
    return lane.post;
  }

  get busy(): number {
    return this.#lanes.filter((lane) => lane.state === "busy").length;
  }

  /** Closes all connections; what is in flight is given up. */
  close(): void {
    this.#closing = true;
    for (const lane of this.#lanes) lane.connection.close();
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

  #connect(lane: Lane): Connection {
    const { address, sockets } = this.#options;
    const events: ConnectionEvents = {
      onConnect: () => {
        lane.state = "idle";
        this.#connected += 1;
        if (this.#connected === this.#options.connections) this.#onStanding();
        this.#options.onReady(lane);
      },
      onResponse: (response) => this.#onResponse(lane, response),
      onClose: (reason) => this.#onClose(lane, reason),
    };
    if (sockets === undefined) return new HttpConnection(address, events);
    return new PostSocket({ address, dialect: dialects[sockets.dialect], sockets, index: lane.index }, events);
  }

  #onResponse(lane: Lane, response: Response): void {
    if (response.status !== 200) {
      const status = String(response.status);
      this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
      if (this.#firstBody === "") this.#firstBody = response.failureBody;
    }
    lane.state = "idle";
    this.#options.onAnswer(lane, response, performance.now());
    // The answer's handler may have sent again or have closed everything.
    if (lane.state === "idle" && !this.#closing) this.#options.onReady(lane);
  }

  /** A server may close what stands idle (uWebSockets.js after some 10 s); only a request in flight makes it a failure. */
  #onClose(lane: Lane, reason: string): void {
    if (this.#closing) return;
    if (lane.state !== "idle") {
      this.#broken += 1;
      if (this.#firstBreak === "") this.#firstBreak = reason;
    }
    this.#options.onLost(lane);
    const neverStood = lane.state === "connecting" && this.#connected < this.#options.connections;
    lane.state = "connecting";
    this.#reconnects += 1;
    if (neverStood || this.#reconnects > RECONNECTS_MAX) {
      this.#onFailed(new Error(`a connection broke (number ${this.#reconnects}): ${reason}`));
      return;
    }
    lane.connection = this.#connect(lane);
  }
}
