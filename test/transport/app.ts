/** An app of one transport on a free port, with a record of its requests and sockets. */
import { once } from "node:events";
import type { Test } from "tap";
import { WebSocket } from "ws";
import { limits } from "../../schemas/limits.ts";
import type {
  RequestHandler,
  SocketRoute,
  TlsOptions,
  Transport,
  TransportResponse,
  TransportSocket,
  WebApp,
} from "../../src/edge/transport/transport.ts";
import { systemClock } from "../../src/runtime/clock.ts";

export const malformedBody = JSON.stringify({ result: "error", msg: "Malformed HTTP request", code: "BAD_REQUEST" });
export const socketPath = "/socket";

/** The requirements for a transport: sentences, each with its test. */
export type Contract = Readonly<Record<string, (t: Test, transport: Transport) => Promise<void>>>;

export function holds(t: Test, transport: Transport, ...contracts: readonly Contract[]): void {
  for (const contract of contracts) {
    for (const [sentence, show] of Object.entries(contract)) t.test(sentence, (t) => show(t, transport));
  }
}

export interface Served {
  readonly app: WebApp;
  readonly url: string;
}

export interface AppShape {
  readonly handler?: RequestHandler;
  readonly route?: SocketRoute<Named>;
  readonly tls?: TlsOptions;
  readonly host?: string;
  readonly admits?: () => boolean;
}

/** A WebSocket handshake whose response is given in RFC 6455. */
export const upgradeHead = (path: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

/** Closed at the end of the test. */
export async function serve(t: Test, transport: Transport, shape: AppShape): Promise<Served> {
  const { handler = answering(""), route, tls = null, host = "127.0.0.1", admits = () => true } = shape;
  const app = transport.createApp({ tls, malformedBody, timers: systemClock, admits });
  if (app === null) throw new Error("no app");
  if (route !== undefined) app.onSocket(socketPath, route);
  app.onRequest(handler);
  const port = await app.listen(host, 0);
  t.teardown(() => app.close());
  return { app, url: `${tls === null ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}` };
}

/** Answers every request at once with the same text. */
export function answering(text: string, closesConnection = false): RequestHandler {
  return (response) => {
    response.onAborted(() => undefined);
    respond(response, text, closesConnection);
  };
}

export function respond(response: TransportResponse, text: string, closesConnection = false): void {
  response.cork(() => response.end(text, closesConnection));
}

/** Collects a whole body. */
export function bodyOf(response: TransportResponse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    let isDone = false;
    response.onData((chunk, isLast) => {
      if (isDone) reject(new Error("a chunk behind the last one"));
      chunks.push(Buffer.from(chunk.slice(0)));
      isDone = isLast;
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}

/** The data that an upgrade stores with its socket. */
export interface Named {
  readonly name: string;
}

export interface Watched {
  readonly route: SocketRoute<Named>;
  /** "open", "text hello", "binary 00ff", "drained" and "closed", in order; consecutive drains count once. */
  readonly events: string[];
  /** Resolves with the first socket. */
  readonly opened: Promise<TransportSocket<Named>>;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
}

/** A route that accepts every client, uses the query as its name, and records what happens. */
export function watchedRoute(shape: Partial<SocketRoute<Named>> = {}): Watched {
  const events: string[] = [];
  const opened = deferred<TransportSocket<Named>>();
  const closed = deferred<void>();
  const route: SocketRoute<Named> = {
    messageBytesMax: 64 * 1024,
    bufferBytesMax: 1024 * 1024,
    heartbeatS: limits.socket_heartbeat_s,
    upgrade(response, request, accept) {
      response.onAborted(() => undefined);
      accept({ name: request.getQuery() ?? "" }, request.getHeader("sec-websocket-protocol").split(",")[0] ?? "");
    },
    plain: (response) => {
      response.onAborted(() => undefined);
      respond(response, "no upgrade");
    },
    open(socket) {
      events.push(`open ${socket.getUserData().name}`);
      opened.resolve(socket);
    },
    message(_socket, message, isBinary) {
      const bytes = Buffer.from(message);
      events.push(isBinary ? `binary ${bytes.toString("hex")}` : `text ${bytes}`);
    },
    drained() {
      if (events.at(-1) !== "drained") events.push("drained");
    },
    closed() {
      events.push("closed");
      closed.resolve();
    },
    ...shape,
  };
  return { route, events, opened: opened.promise, closed: closed.promise };
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

export async function connectSocket(t: Test, url: string, query = "", protocols: string[] = []): Promise<WebSocket> {
  const client = new WebSocket(`${url.replace(/^http/, "ws")}${socketPath}${query}`, protocols);
  t.teardown(() => client.terminate());
  client.on("error", () => undefined);
  await once(client, "open");
  return client;
}

/** Checks the condition in each pass of the event loop until it holds. The test's own timeout ends an endless wait. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resume) => setImmediate(resume));
}
