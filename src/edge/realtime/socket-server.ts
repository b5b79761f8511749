/**
 * The WebSocket route `GET /api/v1/events/ws` on the shared app: upgrade, credentials by header or first
 * frame, bounds on connections, and closing at shutdown in batches, so that clients do not all reconnect at once.
 */

import { LRUCache } from "lru-cache";
import { isFromForeignPage, isOwnOrigin } from "../../../domain/foreign-page.ts";
import { closeCodes } from "../../../schemas/close-codes.ts";
import { errorBody, errorCodes, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { DurabilityGate } from "../../durability/journal/durability-gate.ts";
import { Counter } from "../../metrics/instruments.ts";
import type { Authenticated } from "../../operations/calls.ts";
import type { OperationExecutor } from "../../operations/execution/operation-executor.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { ReadForwarded } from "../http/forwarded.ts";
import { headersOf, writeAnswerGuards } from "../http/reply.ts";
import { handshakeFault, protocolVersion } from "../transport/handshake.ts";
import type { HandshakeResponse, TransportRequest, TransportSocket, WebApp } from "../transport/transport.ts";
import type { Hub } from "./hub.ts";
import type { SocketHost } from "./socket-host.ts";
import type { RequestReader, Visitor } from "./socket-operations.ts";
import { SocketSession } from "./socket-session.ts";
import { UnauthenticatedSockets } from "./unauthenticated-sockets.ts";

/**
 * Interns strings that many sockets share (client, site, network address): every upgrade creates new strings from its
 * headers, and they live as long as the socket. Rarely seen strings are evicted; sockets that use them keep theirs.
 */
export class SharedTexts {
  readonly #texts: LRUCache<string, string>;

  /** @param max number of strings that are remembered (S3) */
  constructor(max: number) {
    this.#texts = new LRUCache({ max });
  }

  get size(): number {
    return this.#texts.size;
  }

  /** Returns the first instance of an equal string. */
  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}

type Credentials = Authenticated | Refusal;

export interface SocketServerOptions {
  readonly realmOf: (host: string) => Realm;
  readonly hubOf: (realm: Realm) => Hub;
  readonly executor: OperationExecutor;
  readonly requests: RequestReader;
  /** Both count the failed attempts of an address (D28). */
  readonly authenticate: (realm: Realm, header: string, address: string) => Credentials;
  /** The caller whom a session's cookie identifies; null without such a cookie. */
  readonly verifySession: (
    realm: Realm,
    request: { readonly cookie: string; readonly host: string },
    isSecure: boolean,
  ) => Credentials | null;
  readonly verifyKey: (realm: Realm, account: { email: string; key: string }, address: string) => Credentials;
  readonly limitFrame: (realm: Realm, userId: number) => Refusal | null;
  readonly clientName: (userAgent: string) => string;
  readonly isSecure: boolean;
  readonly readForwarded: ReadForwarded;
  /** Seconds of silence after which a client is pinged. */
  readonly heartbeatS: number;
  /** For the access log; null if it is off. */
  readonly onHandshake: ((handshake: Handshake) => void) | null;
  readonly clock: Clock;
  readonly unsent: UnsentBytes;
  readonly inFlight: ByteBudget;
  readonly reportBug: (error: unknown, what: string) => void;
}

export interface Handshake {
  readonly path: string;
  readonly status: number;
  readonly address: string;
  /** The id that the client chose; "" usually. */
  readonly requestId: string;
}

/** The data of an upgrade from which its session is made. */
interface Upgrade {
  readonly realm: Realm;
  readonly credentials: Authenticated | null;
  readonly visitor: Visitor;
}

/** An upgrade that waits for its realm's gate. */
interface LaterUpgrade {
  readonly leave: () => void;
  readonly seen: DurabilityGate["newestRecord"];
  readonly isValid: () => boolean;
}

/** Data that the transport keeps with a socket: first its upgrade, then its session. */
interface SocketData {
  state: Upgrade | SocketSession;
}

type Socket = TransportSocket<SocketData>;

const socketPath = "/api/v1/events/ws";

export class SocketServer {
  readonly #options: SocketServerOptions;
  /** The realm of each session, which stays open for it. */
  readonly #sessions = new Map<SocketSession, Realm>();
  /** Number of sockets per realm and user. */
  readonly #counts = new Map<string, number>();
  readonly #hosts = new WeakMap<Realm, SocketHost>();
  readonly #unauthenticated: UnauthenticatedSockets;
  readonly #texts = new SharedTexts(limits.socket_texts_shared_max);
  /** Sockets that the server closed, by close code. */
  readonly closed = new Counter<string>(
    "code",
    Object.values(closeCodes).map(({ code }) => String(code)),
  );
  #isDraining = false;

  constructor(options: SocketServerOptions) {
    this.#options = options;
    this.#unauthenticated = new UnauthenticatedSockets(options.clock);
  }

  get size(): number {
    return this.#sessions.size;
  }

  mount(app: WebApp): void {
    app.onSocket<SocketData>(socketPath, {
      messageBytesMax: limits.ws_frame_bytes_hard_max,
      bufferBytesMax: limits.socket_buffer_bytes_hard_max,
      heartbeatS: this.#options.heartbeatS,
      upgrade: (response, request, accept) => this.#guard(() => this.#upgrade(response, request, accept)),
      plain: (response, request) =>
        this.#guard(() => {
          const refusal = noHandshake(handshakeFault((name) => request.getHeader(name)) ?? "");
          this.#reporter(response, request)(errorCodes[refusal.code].status);
          this.#answerHttp(response, { refusal, gate: null, isSecure: this.#isSecure(request) });
        }),
      open: (socket) => this.#guard(() => this.#open(socket)),
      message: (socket, message, isBinary) => this.#guard(() => sessionOf(socket)?.receive(message, isBinary)),
      drained: (socket) => this.#guard(() => sessionOf(socket)?.progressed()),
      closed: (socket) => this.#guard(() => this.#closed(socket)),
    });
  }

  /** A throw in a callback of the transport could hang the connection or end the process (pitfalls 2.1). */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.reportBug(error, "websocket");
    }
  }

  #upgrade(
    response: HandshakeResponse,
    request: TransportRequest,
    accept: (data: SocketData, protocol: string) => void,
  ): void {
    const fault = handshakeFault((name) => request.getHeader(name));
    if (fault !== null) {
      const refusal = noHandshake(fault);
      this.#reporter(response, request)(errorCodes[refusal.code].status);
      this.#answerHttp(response, { refusal, gate: null, isSecure: this.#isSecure(request) });
      return;
    }
    const host = request.getHeader("host");
    const realm = this.#options.realmOf(host);
    const forwarded = this.#options.readForwarded(request);
    const address = forwarded.address ?? Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
    const authorization = request.getHeader("authorization");
    const { gate } = realm;
    gate.reads.begin(gate.isOpen);
    const isForged = authorization !== "" && isFromForeignPage(pageHeaders(request));
    const isSecure = forwarded.isSecure ?? this.#options.isSecure;
    // A page of another origin may open a socket, but not with this user's session.
    const isOwn = authorization === "" && isOwnOrigin(request.getHeader("origin"), host, isSecure);
    const cookie = isOwn ? request.getHeader("cookie") : "";
    const ofSession = cookie === "" ? null : this.#options.verifySession(realm, { cookie, host }, isSecure);
    const credentials = isForged ? refuse.crossSite() : this.#admission(realm, { authorization, ofSession, address });
    if (credentials !== null && !("caller" in credentials)) {
      this.#reporter(response, request)(errorCodes[credentials.code].status);
      // A refusal shows whether the credentials were valid.
      this.#answerHttp(response, { refusal: credentials, gate, isSecure });
      return;
    }
    const seen = credentials === null ? 0 : (gate.reads.newestRecord ?? gate.newestRecord);
    const offered = request.getHeader("sec-websocket-protocol").split(",");
    const isPacked = offered.some((name) => name.trim() === "msgpack");
    const userAgent = this.#texts.share(
      request.getHeader("user-agent").slice(0, limits.user_agent_read_characters_max),
    );
    const visitor: Visitor = {
      format: isPacked ? "msgpack" : "json",
      client: this.#texts.share(this.#options.clientName(userAgent)),
      siteUrl: this.#texts.share(`${isSecure ? "https" : "http"}://${host}`),
      userAgent,
      address: this.#texts.share(address),
    };
    const report = this.#reporter(response, request);
    const leave = () => {
      report(101);
      accept({ state: { realm, credentials, visitor } }, isPacked ? "msgpack" : "");
    };
    // An upgrade shows that the credentials are valid (M9).
    if (gate.isOpenFor(seen)) {
      leave();
      return;
    }
    const isValid = () => {
      const again =
        ofSession === null
          ? this.#options.authenticate(realm, authorization, address)
          : this.#options.verifySession(realm, { cookie, host }, isSecure);
      return again !== null && "caller" in again;
    };
    this.#acceptLater(response, realm, { leave, seen, isValid });
  }

  /** A client that a turn or the shutdown has excluded meanwhile is rejected; it asks again. */
  #acceptLater(response: HandshakeResponse, { gate }: Realm, later: LaterUpgrade): void {
    let isOver = false;
    response.onAborted(() => {
      isOver = true;
    });
    const leave = () => {
      if (isOver) return;
      if (this.#isDraining || !later.isValid()) response.close();
      else later.leave();
    };
    gate.waitFor(() => this.#guard(leave), later.seen);
  }

  #isSecure(request: TransportRequest): boolean {
    return this.#options.readForwarded(request).isSecure ?? this.#options.isSecure;
  }

  /** Reads what the log of requests needs now, because the request cannot be read later. */
  #reporter(response: HandshakeResponse, request: TransportRequest): (status: number) => void {
    const { onHandshake } = this.#options;
    if (onHandshake === null) return () => undefined;
    const forwarded = this.#options.readForwarded(request);
    const address = forwarded.address ?? Buffer.from(response.getRemoteAddressAsText()).toString("latin1");
    const requestId = request.getHeader("x-request-id");
    return (status) => onHandshake({ path: socketPath, status, address, requestId });
  }

  /**
   * Answers later and closes the connection: bytes after the request in the same segment are not another request
   * (http/http-responder.ts).
   * @param answer.gate of the realm that the answer shows; null if it shows none
   */
  #answerHttp(
    response: HandshakeResponse,
    answer: { readonly refusal: Refusal; readonly gate: DurabilityGate | null; readonly isSecure: boolean },
  ): void {
    const { refusal, gate, isSecure } = answer;
    let isOver = false;
    response.onAborted(() => {
      isOver = true;
    });
    const leave = () =>
      this.#options.clock.soon(() => {
        if (!isOver) this.#guard(() => writeRefusal(response, refusal, isSecure));
      });
    if (gate === null) leave();
    else gate.waitFor(leave);
  }

  /** Returns null if the first frame will carry the credentials. */
  #admission(
    realm: Realm,
    sent: { readonly authorization: string; readonly ofSession: Credentials | null; readonly address: string },
  ): Credentials | null {
    const { authorization, ofSession, address } = sent;
    if (this.#isDraining) return refuse.shuttingDown();
    if (this.#sessions.size >= limits.sockets_max) return refuse.overloaded();
    if (authorization !== "") return this.#options.authenticate(realm, authorization, address);
    if (ofSession !== null) return ofSession;
    return this.#unauthenticated.makeRoomFor(address) ? null : refuse.overloaded();
  }

  #open(socket: Socket): void {
    const data = socket.getUserData();
    const upgrade = data.state;
    if (upgrade instanceof SocketSession) return;
    const session = new SocketSession(socket, this.#hostOf(upgrade.realm), upgrade.visitor);
    data.state = session;
    this.#sessions.set(session, upgrade.realm);
    upgrade.realm.use.begin();
    session.start(upgrade.credentials);
  }

  #hostOf(realm: Realm): SocketHost {
    const known = this.#hosts.get(realm);
    if (known !== undefined) return known;
    const hub = this.#options.hubOf(realm);
    // A deactivation closes every socket of the user. It is rare, so a scan of all sessions is acceptable.
    hub.onDeparture = (userId) => {
      for (const session of this.#sessions.keys()) session.departed(hub, userId);
    };
    const host: SocketHost = {
      realm,
      hub,
      executor: this.#options.executor,
      requests: this.#options.requests,
      verify: (account, address) => this.#options.verifyKey(realm, account, address),
      limitFrame: (userId) => this.#options.limitFrame(realm, userId),
      admit: (userId) => this.#count(`${realm.epoch}:${userId}`, 1),
      leave: (userId) => void this.#count(`${realm.epoch}:${userId}`, -1),
      unauthenticated: this.#unauthenticated,
      unsent: this.#options.unsent,
      inFlight: this.#options.inFlight,
      closed: this.closed,
    };
    this.#hosts.set(realm, host);
    return host;
  }

  #closed(socket: Socket): void {
    const session = sessionOf(socket);
    if (session === null) return;
    this.#sessions.get(session)?.use.end();
    this.#sessions.delete(session);
    session.closed();
  }

  /** @returns false if the user has the maximum number of sockets */
  #count(name: string, change: 1 | -1): boolean {
    const count = (this.#counts.get(name) ?? 0) + change;
    if (count > limits.sockets_per_user_max) return false;
    if (count <= 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
    return true;
  }

  /** Another node serves the realm from now on: its clients reconnect and resume. */
  dismiss(realm: Realm): void {
    for (const [session, of] of this.#sessions) if (of === realm) session.drain();
  }

  /** Closes every socket with 1001, one batch at a time. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const sessions = [...this.#sessions.keys()];
    const perBatch = Math.max(limits.drain_sockets_per_batch, Math.ceil(sessions.length / limits.drain_batches_max));
    for (let start = 0; start < sessions.length; start += perBatch) {
      for (const session of sessions.slice(start, start + perBatch)) session.drain();
      await new Promise<void>((resolve) => {
        this.#options.clock.after(limits.drain_pause_ms, resolve);
      });
    }
  }
}

/** Returns null if the session has not been opened yet. */
function sessionOf(socket: Socket): SocketSession | null {
  const { state } = socket.getUserData();
  return state instanceof SocketSession ? state : null;
}

function pageHeaders(request: TransportRequest) {
  return {
    host: request.getHeader("host"),
    origin: request.getHeader("origin"),
    fetchSite: request.getHeader("sec-fetch-site"),
  };
}

function noHandshake(fault: string): Refusal {
  return refuse.badRequest(`No WebSocket handshake: ${fault}`);
}

function writeRefusal(response: HandshakeResponse, refusal: Refusal, isSecure: boolean): void {
  response.cork(() => {
    response.writeStatus(`${errorCodes[refusal.code].status} ${refusal.code}`);
    for (const [name, value] of headersOf(refusal)) response.writeHeader(name, value);
    if (refusal.code === "BAD_REQUEST") response.writeHeader("Sec-WebSocket-Version", protocolVersion);
    response.writeHeader("Content-Type", "application/json");
    writeAnswerGuards(response, isSecure);
    response.end(JSON.stringify(errorBody(refusal)), true);
  });
}
