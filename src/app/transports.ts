/**
 * The listeners: HTTP and WebSocket on one app, calling the same operations.
 *
 * Refuses connections that would take descriptors of the reserve (D43), and logs how many, once a minute.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { LinkFigures } from "../edge/forwarding/link-figures.ts";
import { readForwardedByNodes } from "../edge/forwarding/node-header.ts";
import { type AccessLine, AccessLog, FailedRequests, type FailedRequestsOptions } from "../edge/http/access-log.ts";
import { AnswerCompressor } from "../edge/http/answer-sender.ts";
import { RememberedCredentials, SessionCookies } from "../edge/http/credentials.ts";
import { ignoreForwarded, type ReadForwarded, readForwarded } from "../edge/http/forwarded.ts";
import { Router } from "../edge/http/router.ts";
import { HttpServer } from "../edge/http/server.ts";
import type { WebPage } from "../edge/pages/web-page.ts";
import type { Hub } from "../edge/realtime/hub.ts";
import { RequestReader } from "../edge/realtime/socket-operations.ts";
import { SocketServer } from "../edge/realtime/socket-server.ts";
import type { RenewedCertificate, TlsOptions, WebApp } from "../edge/transport/transport.ts";
import type { Log } from "../log/log.ts";
import { createOperationExecutor } from "../operations/execution/operation-executor.ts";
import { type Credentials, isWriteOnly, verifyKey } from "../operations/identity/authentication.ts";
import { clientName } from "../operations/identity/client-name.ts";
import { Passwords } from "../operations/identity/passwords.ts";
import { countFailedKey, type FailedLogin, personName, RateLimits } from "../operations/rate-limits.ts";
import { ByteBudget } from "../runtime/byte-budget.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Realm } from "../runtime/realm.ts";
import type { RealmHost } from "../runtime/realm-host.ts";
import { UnsentBytes } from "../runtime/unsent-bytes.ts";
import { type Descriptors, descriptors } from "../store/descriptors.ts";
import { createOperations } from "./areas.ts";
import type { Config } from "./config.ts";
import type { FaultLog } from "./fault-log.ts";

/** @returns whether one more connection may be accepted */
export function connectionAdmission(
  log: Pick<Log, "warn">,
  clock: Pick<Clock, "monotonic">,
  { limit, hasRoom }: Pick<Descriptors, "limit" | "hasRoom"> = {
    limit: descriptors.limit,
    hasRoom: () => descriptors.hasRoom(1),
  },
): () => boolean {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (hasRoom()) return true;
    refused++;
    const now = clock.monotonic();
    if (now - loggedAt < limits.connections_refused_log_ms) return false;
    log.warn(
      { refused },
      `connections are refused: the process may have ${limit} descriptors (LimitNOFILE, ulimit -n)`,
    );
    loggedAt = now;
    refused = 0;
    return false;
  };
}

export interface TransportTools {
  readonly app: WebApp;
  readonly clock: Clock;
  readonly faults: FaultLog;
  readonly host: RealmHost;
  readonly hubOf: (realm: Realm) => Hub;
  /** When this process began to serve, in milliseconds. */
  readonly startedAt: number;
  readonly siteOf: (realm: Realm) => string;
  readonly onFailedLogin: FailedLogin;
  readonly onFailedRequest: FailedRequestsOptions["write"];
  /** null if it is not built. */
  readonly webPage: WebPage | null;
  /** As in AreaTools. */
  readonly onSetUp: (realm: Realm) => void;
  /** The secret of the nodes of a cluster; null: the server is none. */
  readonly nodeKey: (() => string) | null;
  /** Null: it forwards nothing. */
  readonly links: (() => LinkFigures) | null;
  /** Absent if requests are not logged. */
  readonly onRequest?: (line: AccessLine) => void;
}

export function tlsOf(config: Config): TlsOptions | null {
  const { tlsKeyFile: keyFile, tlsCertFile: certFile } = config;
  return keyFile === null || certFile === null ? null : { keyFile, certFile };
}

/** @returns null: the server does not speak TLS */
export function renewCertificate(config: Config, app: WebApp): RenewedCertificate | null {
  const tls = tlsOf(config);
  return tls === null ? null : app.renewCertificate(tls);
}

/** The address and scheme of a client as a proxy reports them, if there is one. */
export function readForwardedByProxy({ trustsProxy }: Config): ReadForwarded {
  return trustsProxy ? readForwarded : ignoreForwarded;
}

/** HTTP and WebSocket on one app, calling the same operations. */
export function createTransports(config: Config, tools: TransportTools) {
  const { app, clock, faults, host, hubOf, onFailedLogin, onFailedRequest, nodeKey, onRequest } = tools;
  const rates = new RateLimits(config.rates, () => clock.monotonic(), onFailedLogin);
  const passwords = new Passwords();
  const remembered = new RememberedCredentials();
  const sessionCookies = new SessionCookies();
  const { bindings, pages, fileBytesMax } = createOperations(config, { ...tools, passwords, rates });
  const reportBug = (error: unknown, what: string) => faults(error, { what }, "a handler threw");
  const unsent = new UnsentBytes({
    bytesMax: limits.unsent_bytes_max,
    shareBytesMax: limits.unsent_bytes_per_user_max,
    keptMsMin: limits.unsent_kept_ms_min,
    monotonic: () => clock.monotonic(),
  });
  const inFlight = new ByteBudget(limits.requests_in_flight_bytes_max, limits.requests_in_flight_bytes_per_sender_max);
  const executor = createOperationExecutor({ bindings, rates, reportBug, clock, fileBytesMax, unsent });
  const router = new Router(executor.operations);
  const accessLog = new AccessLog({
    write: onRequest ?? null,
    addresses: config.accessAddresses,
    operationPath: (method, path) => router.find(method, path)?.endpoint.path ?? null,
    pages,
    monotonic: () => clock.monotonic(),
  });
  const failures = new FailedRequests({ accessLog, monotonic: () => clock.monotonic(), write: onFailedRequest });
  const isSecure = tlsOf(config) !== null;
  const realmOf = (name: string) => host.realmOf(name);
  const byProxy = readForwardedByProxy(config);
  const forwarded = nodeKey === null ? byProxy : readForwardedByNodes(nodeKey, byProxy);
  const http = new HttpServer({
    app,
    executor,
    router,
    fileBytesMax,
    pages,
    accessLog,
    failures,
    realmOf,
    isSecure,
    readForwarded: forwarded,
    authenticate: (realm, header) => remembered.authenticate(realm.view, header),
    sessionCookies,
    viewerOf(realm, header, address) {
      const credentials = countFailedKey(rates, remembered.authenticate(realm.view, header), address);
      return "caller" in credentials ? credentials.caller : null;
    },
    clock,
    unsent,
    compressor: new AnswerCompressor(),
    inFlight,
    reportBug,
  });
  const admit = (credentials: Credentials, address: string) =>
    "caller" in credentials && isWriteOnly(credentials.caller)
      ? refuse.notForIncomingWebhooks()
      : countFailedKey(rates, credentials, address);
  const sockets = new SocketServer({
    realmOf,
    hubOf,
    executor,
    requests: new RequestReader(executor, router),
    authenticate: (realm, header, address) => admit(remembered.authenticate(realm.view, header), address),
    verifySession: (realm, request, isSecure) => sessionCookies.verify(realm.view, request, isSecure),
    verifyKey: (realm, { email, key }, address) => admit(verifyKey(realm.view, email, key), address),
    limitFrame(realm, userId) {
      const state = rates.take("api", personName(realm.epoch, userId));
      return state === null || state.retryAfterS === 0 ? null : refuse.rateLimitHit(state.retryAfterS);
    },
    clientName,
    isSecure,
    readForwarded: forwarded,
    heartbeatS: config.socketHeartbeatS,
    onHandshake: accessLog.isOn ? (handshake) => accessLog.handshake(handshake) : null,
    clock,
    unsent,
    inFlight,
    reportBug,
  });
  sockets.mount(app);
  return { http, sockets, requests: executor.requests, unsent, links: tools.links };
}
