/**
 * HTTP and WebSocket by uWebSockets.js. Its requests, responses and sockets are used without a wrapper; only calls per
 * app or per upgrade are translated here. The library is loaded on demand, because it has no binary for every system
 * (load.ts).
 */
import type { HttpResponse, TemplatedApp, us_listen_socket, WebSocket } from "uWebSockets.js";
import { limits } from "../../../schemas/limits.ts";
import { readCertificate } from "./certificate.ts";
import { KeptResponse, LIBUS_LISTEN_EXCLUSIVE_PORT, type ListenOnHost } from "./held-response.ts";
import {
  type RenewedCertificate,
  type RequestHandler,
  type SocketRoute,
  silenceMarginS,
  type TlsOptions,
  type Transport,
  type TransportSocket,
  type WebApp,
} from "./transport.ts";

type Library = typeof import("uWebSockets.js");

/** @throws Error when the library has no binary that loads here */
export async function loadNative(): Promise<Transport> {
  // uWebSockets.js reads the variable when it is loaded. Its default of 4 KiB is too small for the longest request line
  // plus the headers of a browser behind a proxy.
  process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(limits.http_head_bytes_max);
  const library = await import("uWebSockets.js");
  return {
    kind: "native",
    createApp({ tls, admits }) {
      const app = createApp(library, tls);
      if (app === null) return null;
      if (admits !== undefined) {
        const meet = (response: HttpResponse, change: number) => {
          if (change > 0 && !admits()) response.close();
        };
        app.filter(meet);
      }
      return new NativeApp(library, app);
    },
  };
}

function createApp(library: Library, tls: TlsOptions | null): TemplatedApp | null {
  if (tls === null) return library.App();
  try {
    return library.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
  } catch {
    return null;
  }
}

class NativeApp implements WebApp {
  readonly checksChunks = false;
  readonly #library: Library;
  readonly #app: TemplatedApp;
  /** Adds the routes to the app, or to one of its server names. */
  readonly #routes: (() => void)[] = [];
  #renewedNames: readonly string[] = [];
  readonly #open = new Set<WebSocket<object>>();
  #keptResponse: KeptResponse | null = null;
  #listenSocket: us_listen_socket | null = null;

  constructor(library: Library, app: TemplatedApp) {
    this.#library = library;
    this.#app = app;
  }

  onRequest(handler: RequestHandler): void {
    this.#mount(() => this.#app.any("/*", handler));
  }

  #mount(route: () => void): void {
    this.#routes.push(route);
    route();
  }

  onSocket<Data extends object>(path: string, route: SocketRoute<Data>): void {
    this.#mount(() => this.#mountSocket(path, route));
  }

  #mountSocket<Data extends object>(path: string, route: SocketRoute<Data>): void {
    // The library's typings lack the functions for fragments.
    const known = (socket: unknown) => socket as TransportSocket<Data>;
    const listed = (socket: unknown) => socket as WebSocket<object>;
    this.#app.ws<Data>(path, {
      maxPayloadLength: route.messageBytesMax,
      maxBackpressure: route.bufferBytesMax,
      closeOnBackpressureLimit: true,
      idleTimeout: idleTimeoutOf(route.heartbeatS),
      sendPingsAutomatically: true,
      upgrade: (response, request, context) => {
        const key = request.getHeader("sec-websocket-key");
        const extensions = request.getHeader("sec-websocket-extensions");
        route.upgrade(response, request, (data, protocol) => {
          const upgrade = () => void response.upgrade(data, key, protocol, extensions, context);
          if (this.#keptResponse === null) upgrade();
          else this.#keptResponse.cork(upgrade);
        });
      },
      open: (socket) => {
        this.#open.add(listed(socket));
        route.open(known(socket));
      },
      message: (socket, message, isBinary) => route.message(known(socket), new Uint8Array(message), isBinary),
      // Data that is sent within this call may stay in the library's buffer until the next ping (pitfalls 2.3).
      drain: (socket) =>
        void setImmediate(() => {
          if (this.#open.has(listed(socket))) route.drained(known(socket));
        }),
      close: (socket) => {
        this.#open.delete(listed(socket));
        route.closed(known(socket));
      },
    });
    // Without a complete key the library does not treat a request as an upgrade.
    this.#app.get(path, (response, request) => route.plain(response, request));
  }

  async listen(host: string, port: number): Promise<number | null> {
    this.#keptResponse = await KeptResponse.open(this.#library);
    return new Promise((resolve) => {
      // Without this option the kernel lets a second process share the port. The typings have it only without a host.
      (this.#app as TemplatedApp & { readonly listen: ListenOnHost }).listen(
        host,
        port,
        LIBUS_LISTEN_EXCLUSIVE_PORT,
        (socket) => {
          if (!socket) {
            this.#keptResponse?.close();
            resolve(null);
            return;
          }
          this.#listenSocket = socket;
          resolve(this.#library.us_socket_local_port(socket));
        },
      );
    });
  }

  /**
   * The library keeps the first certificate for clients that send no name, or one that is not in the certificate. The
   * others are found by their name (SNI), and each name has routes of its own.
   */
  renewCertificate(tls: TlsOptions): RenewedCertificate {
    const certificate = readCertificate(tls);
    if (typeof certificate === "string") return { fault: certificate };
    for (const name of this.#renewedNames) this.#app.removeServerName(name);
    this.#renewedNames = certificate.names;
    for (const name of certificate.names) {
      this.#app.addServerName(name, { key_file_name: tls.keyFile, cert_file_name: tls.certFile });
      this.#app.domain(name);
      for (const mount of this.#routes) mount();
    }
    return { names: certificate.names };
  }

  stopListening(): void {
    if (this.#listenSocket !== null) this.#library.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
  }

  close(): void {
    this.#keptResponse?.close();
    this.#app.close();
  }
}

/** The library pings a connection that was silent for its idle time minus a margin, and closes it at the idle time. */
export function idleTimeoutOf(heartbeatS: number): number {
  return heartbeatS + silenceMarginS(heartbeatS);
}
