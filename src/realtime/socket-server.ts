/**
 * The WebSocket route `GET /api/v1/events/ws` on the shared uWS app: upgrade, credentials by header or first frame, bounds on
 * connections, and the drain at shutdown, in batches, so that clients do not return in one wave.
 */
import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from "uWebSockets.js";
import type { Refusal } from "../../schemas/errors.ts";
import { errorBody, errorCodes, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { isFromForeignPage } from "../domain/foreign-page.ts";
import type { ByteBudget } from "../runtime/byte-budget.ts";
import type { Authenticated, Perform } from "../runtime/calls.ts";
import type { Clock } from "../runtime/clock.ts";
import { headersOf } from "../runtime/entry.ts";
import type { ReadForwarded } from "../runtime/forwarded.ts";
import type { Realm } from "../runtime/realm.ts";
import type { UnsentBytes } from "../runtime/unsent-bytes.ts";
import { handshakeFault, idleTimeoutOf, protocolVersion } from "./handshake.ts";
import type { Hub } from "./hub.ts";
import { SharedTexts } from "./shared-texts.ts";
import type { Connection, SocketHost, Visitor } from "./socket-host.ts";
import { SocketSession } from "./socket-session.ts";
import { Strangers } from "./strangers.ts";

type Credentials = Authenticated | Refusal;

export interface SocketServerOptions {
  readonly realmOf: (host: string) => Realm;
  readonly hubOf: (realm: Realm) => Hub;
  readonly perform: Perform;
  /** Both count failed attempts of an address (D28). */
  readonly authenticate: (realm: Realm, header: string, address: string) => Credentials;
  readonly verifyKey: (realm: Realm, account: { email: string; key: string }, address: string) => Credentials;
  readonly limitFrame: (realm: Realm, userId: number) => Refusal | null;
  readonly clientName: (userAgent: string) => string;
  readonly isSecure: boolean;
  readonly readForwarded: ReadForwarded;
  /** After so many seconds of silence a client is asked whether it is still there. */
  readonly heartbeatS: number;
  readonly clock: Clock;
  readonly unsent: UnsentBytes;
  readonly inFlight: ByteBudget;
  readonly reportBug: (error: unknown, what: string) => void;
}

/** What an upgrade brings for the session that is made of it. */
interface Upgrade {
  readonly realm: Realm;
  readonly credentials: Authenticated | null;
  readonly visitor: Visitor;
}

/** What uWS keeps with a socket: first its upgrade, then its session. */
interface SocketData {
  state: Upgrade | SocketSession;
}

type Socket = WebSocket<SocketData>;

const socketPath = "/api/v1/events/ws";

export class SocketServer {
  readonly #options: SocketServerOptions;
  readonly #sessions = new Set<SocketSession>();
  /** Sockets per realm and person. */
  readonly #counts = new Map<string, number>();
  readonly #hosts = new WeakMap<Realm, SocketHost>();
  readonly #strangers: Strangers;
  readonly #texts = new SharedTexts(limits.socket_texts_shared_max);
  #isDraining = false;

  constructor(options: SocketServerOptions) {
    this.#options = options;
    this.#strangers = new Strangers(options.clock);
  }

  get size(): number {
    return this.#sessions.size;
  }

  mount(app: TemplatedApp): void {
    app.ws<SocketData>(socketPath, {
      maxPayloadLength: limits.ws_frame_bytes_hard_max,
      maxBackpressure: limits.socket_buffer_bytes_hard_max,
      closeOnBackpressureLimit: true,
      idleTimeout: idleTimeoutOf(this.#options.heartbeatS),
      sendPingsAutomatically: true,
      upgrade: (response, request, context) => this.#guard(() => this.#upgrade(response, request, context)),
      open: (socket) => this.#guard(() => this.#open(socket)),
      message: (socket, message, isBinary) =>
        this.#guard(() => sessionOf(socket)?.receive(new Uint8Array(message), isBinary)),
      drain: (socket) => this.#guard(() => sessionOf(socket)?.drained()),
      close: (socket) => this.#guard(() => this.#closed(socket)),
    });
    // Without a whole key uWS does not take a request for an upgrade.
    app.get(socketPath, (response, request) =>
      this.#guard(() => {
        this.#answerHttp(response, noHandshake(handshakeFault((name) => request.getHeader(name)) ?? ""));
      }),
    );
  }

  /** A throw in a uWS callback would hang the connection or end the process (pitfalls 2.1). */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.reportBug(error, "websocket");
    }
  }

  #upgrade(response: HttpResponse, request: HttpRequest, context: us_socket_context_t): void {
    const fault = handshakeFault((name) => request.getHeader(name));
    if (fault !== null) {
      this.#answerHttp(response, noHandshake(fault));
      return;
    }
    const host = request.getHeader("host");
    const realm = this.#options.realmOf(host);
    const forwarded = this.#options.readForwarded((name) => request.getHeader(name));
    const address = forwarded.address ?? Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
    const authorization = request.getHeader("authorization");
    const isForged = authorization !== "" && isFromForeignPage(pageHeaders(request));
    const credentials = isForged ? refuse.crossSite() : this.#admission(realm, authorization, address);
    if (credentials !== null && !("caller" in credentials)) {
      this.#answerHttp(response, credentials);
      return;
    }
    const offered = request.getHeader("sec-websocket-protocol").split(",");
    const isPacked = offered.some((name) => name.trim() === "msgpack");
    const userAgent = this.#texts.share(request.getHeader("user-agent"));
    const visitor: Visitor = {
      format: isPacked ? "msgpack" : "json",
      client: this.#texts.share(this.#options.clientName(userAgent)),
      siteUrl: this.#texts.share(`${(forwarded.isSecure ?? this.#options.isSecure) ? "https" : "http"}://${host}`),
      userAgent,
      address: this.#texts.share(address),
    };
    const data: SocketData = { state: { realm, credentials, visitor } };
    response.upgrade(
      data,
      request.getHeader("sec-websocket-key"),
      isPacked ? "msgpack" : "",
      request.getHeader("sec-websocket-extensions"),
      context,
    );
  }

  /** Later, and with the end of the connection: what stands behind the request in the same segment is no request (http/exchange.ts). */
  #answerHttp(response: HttpResponse, refusal: Refusal): void {
    let isOver = false;
    response.onAborted(() => {
      isOver = true;
    });
    this.#options.clock.soon(() => {
      if (!isOver) this.#guard(() => writeRefusal(response, refusal));
    });
  }

  /** null: the first frame will say who it is. */
  #admission(realm: Realm, authorization: string, address: string): Credentials | null {
    if (this.#isDraining) return refuse.shuttingDown();
    if (this.#sessions.size >= limits.sockets_max) return refuse.overloaded();
    if (authorization !== "") return this.#options.authenticate(realm, authorization, address);
    return this.#strangers.knock(address) ? null : refuse.overloaded();
  }

  #open(socket: Socket): void {
    const data = socket.getUserData();
    const upgrade = data.state;
    if (upgrade instanceof SocketSession) return;
    // The library's typings lack the functions for fragments.
    const connection = socket as Socket & Connection;
    const session = new SocketSession(connection, this.#hostOf(upgrade.realm), upgrade.visitor);
    data.state = session;
    this.#sessions.add(session);
    session.start(upgrade.credentials);
  }

  #hostOf(realm: Realm): SocketHost {
    const known = this.#hosts.get(realm);
    if (known !== undefined) return known;
    const hub = this.#options.hubOf(realm);
    // Deactivation ends every socket of the person at once; it is rare, so all sessions are looked through.
    hub.onDeparture = (userId) => {
      for (const session of this.#sessions) session.departed(hub, userId);
    };
    const host: SocketHost = {
      realm,
      hub,
      perform: this.#options.perform,
      verify: (account, address) => this.#options.verifyKey(realm, account, address),
      limitFrame: (userId) => this.#options.limitFrame(realm, userId),
      admit: (userId) => this.#count(`${realm.epoch}:${userId}`, 1),
      leave: (userId) => void this.#count(`${realm.epoch}:${userId}`, -1),
      strangers: this.#strangers,
      unsent: this.#options.unsent,
      inFlight: this.#options.inFlight,
    };
    this.#hosts.set(realm, host);
    return host;
  }

  #closed(socket: Socket): void {
    const session = sessionOf(socket);
    if (session === null) return;
    this.#sessions.delete(session);
    session.closed();
  }

  /** @returns false when the person has as many sockets as allowed */
  #count(name: string, change: 1 | -1): boolean {
    const count = (this.#counts.get(name) ?? 0) + change;
    if (count > limits.sockets_per_user_max) return false;
    if (count <= 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
    return true;
  }

  /** Closes every socket with 1001, a batch at a time. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const sessions = [...this.#sessions];
    const perBatch = Math.max(limits.drain_sockets_per_batch, Math.ceil(sessions.length / limits.drain_batches_max));
    for (let start = 0; start < sessions.length; start += perBatch) {
      for (const session of sessions.slice(start, start + perBatch)) session.drain();
      await new Promise<void>((resolve) => {
        this.#options.clock.after(limits.drain_pause_ms, resolve);
      });
    }
  }
}

/** null: it has not opened yet. */
function sessionOf(socket: Socket): SocketSession | null {
  const { state } = socket.getUserData();
  return state instanceof SocketSession ? state : null;
}

function pageHeaders(request: HttpRequest) {
  return {
    host: request.getHeader("host"),
    origin: request.getHeader("origin"),
    fetchSite: request.getHeader("sec-fetch-site"),
  };
}

function noHandshake(fault: string): Refusal {
  return refuse.badRequest(`No WebSocket handshake: ${fault}`);
}

function writeRefusal(response: HttpResponse, refusal: Refusal): void {
  response.cork(() => {
    response.writeStatus(`${errorCodes[refusal.code].status} ${refusal.code}`);
    for (const [name, value] of headersOf(refusal)) response.writeHeader(name, value);
    if (refusal.code === "BAD_REQUEST") response.writeHeader("Sec-WebSocket-Version", protocolVersion);
    response.writeHeader("Content-Type", "application/json");
    response.end(JSON.stringify(errorBody(refusal)), true);
  });
}
