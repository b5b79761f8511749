/**
 * HTTP and WebSocket by Node's own modules and `ws`, for systems without a binary of uWebSockets.js. Connection
 * time-outs are checked once a second for all connections together, because Node's own time-outs would end long uploads
 * and ignore slow ones.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { Server as NetServer, type Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { WebSocketServer } from "ws";
import { limits } from "../../../schemas/limits.ts";
import { readCertificate } from "./certificate.ts";
import { NodeConnection, NodeRequest, pathOf } from "./node-connection.ts";
import { NodeSocket } from "./node-socket.ts";
import type {
  AppOptions,
  RenewedCertificate,
  RequestHandler,
  SocketRoute,
  TlsOptions,
  Transport,
  WebApp,
} from "./transport.ts";

export const nodeTransport: Transport = {
  kind: "node",
  createApp(options) {
    const server = createHttpServer(options.tls);
    return server === null ? null : new NodeApp(server, options);
  },
};

function createHttpServer(tls: TlsOptions | null): Server | null {
  const options = {
    maxHeaderSize: limits.http_head_bytes_max,
    // Zero disables Node's own time-outs: NodeConnection has its own.
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  };
  if (tls === null) return createServer(options);
  try {
    const files = { key: readFileSync(tls.keyFile), cert: readFileSync(tls.certFile) };
    return createTlsServer({ ...options, ...files, handshakeTimeout: limits.receive_ms_max });
  } catch {
    return null;
  }
}

const checkMs = 1000;

/**
 * Connections that the kernel completes before the process accepts them: thousands of clients come back at once after a
 * restart (E2). Beyond Node's default of 511 it would let some of them wait, and reset them.
 */
const backlog = 4096;

/** A route and the `ws` server that creates its sockets. */
interface Mounted {
  upgrade(message: IncomingMessage, socket: Socket, connection: NodeConnection): void;
  readonly plain: RequestHandler;
}

class NodeApp implements WebApp {
  readonly checksChunks = true;
  readonly #server: Server;
  readonly #options: AppOptions;
  readonly #connectionEvent: "connection" | "secureConnection";
  readonly #routes = new Map<string, Mounted>();
  /** All connections, including those in a TLS handshake. */
  readonly #open = new Set<Socket>();
  readonly #connections = new Map<Socket, NodeConnection>();
  readonly #webSockets = new Set<{ check(now: number): void }>();
  #handler: RequestHandler = (response) => response.close();
  #cancelChecks: () => void = () => undefined;

  constructor(server: Server, options: AppOptions) {
    this.#server = server;
    this.#options = options;
    this.#connectionEvent = options.tls === null ? "connection" : "secureConnection";
    // Node would silently drop headers above this count; the size of the head bounds them.
    server.maxHeadersCount = 0;
    server.on("connection", (socket: Socket) => {
      if (options.admits?.() === false) {
        socket.on("error", () => undefined).destroy();
        return;
      }
      this.#open.add(socket);
      socket.on("close", () => this.#open.delete(socket));
      socket.on("error", () => undefined);
    });
    server.on(this.#connectionEvent, (socket: Socket) => this.#connect(socket));
    const receive = (message: IncomingMessage, response: ServerResponse) =>
      this.#connections.get(message.socket)?.receive(message, response);
    server.on("request", receive);
    // An unknown expectation is ignored, as by uWebSockets.js.
    server.on("checkExpectation", receive);
    server.on("upgrade", (message, socket, head) => this.#upgrade(message, socket as Socket, head));
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#refuse(error, socket as Socket));
  }

  #connect(socket: Socket): void {
    // It was not admitted.
    if (socket.destroyed) return;
    const { malformedBody, timers } = this.#options;
    const handler: RequestHandler = (response, request) => {
      const route = request.getMethod() === "GET" ? this.#routes.get(request.getUrl()) : undefined;
      if (route === undefined) this.#handler(response, request);
      else route.plain(response, request);
    };
    const connection = new NodeConnection({ socket, handler, malformedBody, now: timers.monotonic() });
    this.#connections.set(socket, connection);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (this.#connections.get(socket) === connection) this.#connections.delete(socket);
      connection.closed();
    });
  }

  /** Node's parser rejected the bytes as a request. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.#connections.get(socket);
    const isCutOff = error.code === "HPE_INVALID_EOF_STATE";
    if (connection === undefined || !socket.writable || isCutOff || error.code?.startsWith("HPE_") !== true) {
      socket.destroy();
      return;
    }
    const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
    connection.refuse(isTooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request");
  }

  onRequest(handler: RequestHandler): void {
    this.#handler = handler;
  }

  onSocket<Data extends object>(path: string, route: SocketRoute<Data>): void {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: route.messageBytesMax,
    });
    this.#routes.set(path, {
      plain: (response, request) => route.plain(response, request),
      upgrade: (message, socket, connection) => {
        const response = new ServerResponse(message);
        response.assignSocket(socket);
        response.shouldKeepAlive = false;
        response.once("finish", () => socket.destroySoon());
        route.upgrade(connection.track(message, response), new NodeRequest(message), (data, protocol) => {
          response.detachSocket(socket);
          this.#connections.delete(socket);
          message.headers["sec-websocket-protocol"] = protocol === "" ? undefined : protocol;
          // Bytes that arrive before the handshake's answer are not frames.
          server.handleUpgrade(message, socket, Buffer.alloc(0), (webSocket) => {
            const made = new NodeSocket(webSocket, socket, data, route, this.#options.timers.monotonic());
            this.#webSockets.add(made);
            socket.once("close", () => this.#webSockets.delete(made));
            route.open(made);
          });
        });
      },
    });
  }

  #upgrade(message: IncomingMessage, socket: Socket, head: Buffer): void {
    const connection = this.#connections.get(socket);
    // The upgrade follows an unanswered request, whose answer cannot be written any more: Node has given up the socket.
    if (connection === undefined || !connection.isIdle) {
      socket.destroy();
      return;
    }
    const route = message.method === "GET" ? this.#routes.get(pathOf(message)) : undefined;
    if (route === undefined) this.#ignoreUpgrade(message, socket, head);
    else route.upgrade(message, socket, connection);
  }

  /**
   * Node stops parsing at every Upgrade header. If the path has no upgrade, the request is parsed again without that
   * header.
   */
  #ignoreUpgrade(message: IncomingMessage, socket: Socket, head: Buffer): void {
    const lines = [`${message.method} ${message.url} HTTP/${message.httpVersion}`];
    new NodeRequest(message).forEach((name, value) => {
      if (name !== "upgrade") lines.push(`${name}: ${value}`);
    });
    socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
    this.#server.emit(this.#connectionEvent, socket);
    socket.resume();
  }

  listen(host: string, port: number): Promise<number | null> {
    return new Promise((resolve) => {
      // Also later: a connection that cannot be accepted, for lack of descriptors, must not end the process.
      this.#server.on("error", () => resolve(null));
      this.#server.listen({ host, port, backlog }, () => {
        this.#checkLater();
        const address = this.#server.address();
        resolve(typeof address === "object" ? (address?.port ?? null) : null);
      });
    });
  }

  #checkLater(): void {
    this.#cancelChecks = this.#options.timers.after(checkMs, () => {
      this.#checkLater();
      const now = this.#options.timers.monotonic();
      for (const connection of this.#connections.values()) connection.check(now);
      for (const webSocket of this.#webSockets) webSocket.check(now);
    });
  }

  renewCertificate(tls: TlsOptions): RenewedCertificate {
    const certificate = readCertificate(tls);
    if (typeof certificate === "string") return { fault: certificate };
    const { key, cert } = certificate;
    (this.#server as Server & TlsServer).setSecureContext({ key, cert });
    return { names: ["*"] };
  }

  stopListening(): void {
    // The HTTP server's own `close` would also close idle connections, whose clients must first learn that the server
    // stops.
    NetServer.prototype.close.call(this.#server);
  }

  close(): void {
    this.#cancelChecks();
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }
}
