/**
 * The one wrapper around uWebSockets.js HTTP (pitfalls 2). Every request: abort handler first, everything copied out of the
 * request before the callback returns, body counted while it comes, one corked answer, nothing touched after an abort.
 */
import {
  App,
  type HttpRequest,
  type HttpResponse,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from "uWebSockets.js";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { Performed } from "../runtime/calls.ts";
import { bodyOf, statusOf } from "../runtime/entry.ts";
import type { ReadForwarded } from "../runtime/forwarded.ts";
import type { Realm } from "../runtime/realm.ts";
import { authenticate } from "./authentication.ts";
import { clientName } from "./client-name.ts";
import { Exchange } from "./exchange.ts";
import { decodePercent, readForm } from "./form.ts";
import { type Incoming, readIncoming } from "./incoming.ts";
import type { PageRoute } from "./pages.ts";
import type { Performer } from "./performer.ts";
import { personName } from "./rate-limits.ts";
import { type BodyAllowance, ordinaryBody, strangersBody, UploadBudget } from "./uploads.ts";

export interface TlsOptions {
  readonly keyFile: string;
  readonly certFile: string;
}

/** What HTTP and WebSocket are mounted on. */
export type WebApp = TemplatedApp;

/** The uWS app, plain or with TLS. null: the key or the certificate cannot be used. */
export function createApp(tls: TlsOptions | null): TemplatedApp | null {
  if (tls === null) return App();
  try {
    return SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
  } catch {
    return null;
  }
}

export interface HttpServerOptions {
  readonly app: TemplatedApp;
  readonly performer: Performer;
  readonly pages: readonly PageRoute[];
  /** The realm that a Host header names (D4). */
  readonly realmOf: (host: string) => Realm;
  /** Whether the app speaks TLS itself. */
  readonly isSecure: boolean;
  readonly readForwarded: ReadForwarded;
  /** Who asks for a page; null: nobody, or with credentials that are no good, which count as elsewhere (D28). */
  readonly viewerOf: (realm: Realm, authorization: string, address: string) => UserRecord | null;
  readonly reportBug: (error: unknown, what: string) => void;
}

/** The form of `listen` that the library has and its typings lack (pitfalls 0). */
type ListenOnHost = (
  host: string,
  port: number,
  options: number,
  callback: (socket: us_listen_socket | false) => void,
) => void;

/** Exported by the library, missing in its typings: a second listener on the port is refused. */
const LIBUS_LISTEN_EXCLUSIVE_PORT = 1;

const apiPrefix = "/api/v1";

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #uploads = new UploadBudget();
  #listenSocket: us_listen_socket | null = null;
  #isDraining = false;
  #pending = 0;
  #onQuiet: (() => void)[] = [];

  constructor(options: HttpServerOptions) {
    this.#options = options;
  }

  /** @returns the port, which differs from the one asked for when that is 0; null when it cannot be had */
  listen(host: string, port: number): Promise<number | null> {
    this.#options.app.any("/*", (response, request) => this.#serve(response, request));
    return new Promise((resolve) => {
      const { app } = this.#options;
      // Without the option the kernel would let a second process share the port. The typings know it only without a host.
      const listen = app.listen.bind(app) as unknown as ListenOnHost;
      listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (!socket) {
          resolve(null);
          return;
        }
        this.#listenSocket = socket;
        resolve(us_socket_local_port(socket));
      });
    });
  }

  /** New connections and new requests are refused; resolves when what was in flight is answered. */
  drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#listenSocket !== null) us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  /** Drops every connection. */
  close(): void {
    this.#options.app.close();
  }

  #serve(response: HttpResponse, request: HttpRequest): void {
    const exchange = new Exchange(response);
    try {
      const incoming = readIncoming(request, this.#options.readForwarded);
      if (this.#isDraining) {
        exchange.answer({ ...refusal(refuse.shuttingDown()), closesConnection: true }, incoming);
        return;
      }
      this.#pending++;
      exchange.onEnd(() => this.#ended());
      if (incoming.hasBody) this.#receive(exchange, response, incoming);
      else this.#handle(exchange, incoming, null);
    } catch (error) {
      this.#options.reportBug(error, "http");
      exchange.answer(refusal(refuse.internalError()), null);
    }
  }

  #ended(): void {
    this.#pending--;
    if (this.#pending > 0) return;
    const waiters = this.#onQuiet;
    this.#onQuiet = [];
    for (const waiter of waiters) waiter();
  }

  #receive(exchange: Exchange, response: HttpResponse, incoming: Incoming): void {
    const allowance = this.#allowanceOf(incoming);
    if ("kind" in allowance) {
      exchange.answer({ ...refusal(allowance), closesConnection: true }, incoming);
      return;
    }
    exchange.onEnd(() => {
      allowance.release();
      this.#ended();
    });
    this.#readBody(exchange, response, incoming, allowance);
  }

  /** How much may come: known before the first byte is read. Only who is known may send much. */
  #allowanceOf({ method, path, host, contentType, contentLength, authorization }: Incoming): BodyAllowance | Refusal {
    const isMultipart = /^multipart\/form-data/i.test(contentType) && path.startsWith(`${apiPrefix}/`);
    const upload = isMultipart ? this.#options.performer.uploadOf(method, path.slice(apiPrefix.length)) : null;
    if (upload === null) return ordinaryBody;
    const realm = this.#options.realmOf(host);
    const credentials = authenticate(realm.view, authorization);
    if (!("caller" in credentials)) return strangersBody;
    return this.#uploads.take(personName(realm.epoch, credentials.caller.id), upload.bytesMax, contentLength);
  }

  /** Bytes are counted as they come: a body over the bound is never held (S3). */
  #readBody(
    exchange: Exchange,
    response: HttpResponse,
    incoming: Incoming,
    { bytesMax, tooLarge }: BodyAllowance,
  ): void {
    const chunks: Buffer[] = [];
    let size = 0;
    response.onData((chunk, isLast) => {
      if (exchange.isOver) return;
      size += chunk.byteLength;
      if (size > bytesMax) {
        chunks.length = 0;
        exchange.endConnection();
        if (tooLarge === null) this.#handle(exchange, incoming, null);
        else exchange.answer(refusal(tooLarge), incoming);
        return;
      }
      // The chunk is neutered when this returns: a copy, always.
      chunks.push(Buffer.from(chunk.slice(0)));
      if (isLast) this.#handle(exchange, incoming, chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks));
    });
  }

  #handle(exchange: Exchange, incoming: Incoming, body: Buffer | null): void {
    const fail = (error: unknown) => {
      this.#options.reportBug(error, incoming.path);
      exchange.answer(refusal(refuse.internalError()), incoming);
    };
    try {
      const performed = this.#perform(exchange, incoming, body);
      if (performed instanceof Promise) performed.then((later) => exchange.answer(later, incoming)).catch(fail);
      else exchange.answer(performed, incoming);
    } catch (error) {
      fail(error);
    }
  }

  #perform(exchange: Exchange, incoming: Incoming, body: Buffer | null): Performed | Promise<Performed> {
    if (incoming.path.length > limits.path_bytes_max || incoming.query.length > limits.url_query_bytes_max) {
      return refusal(refuse.badRequest("The request line is too long"));
    }
    if (!incoming.path.startsWith(`${apiPrefix}/`)) return this.#page(exchange, incoming);
    const path = incoming.path.slice(apiPrefix.length);
    if (incoming.method === "OPTIONS") return this.#allowedMethods(path);
    const realm = this.#options.realmOf(incoming.host);
    return this.#options.performer.perform({
      realm,
      method: incoming.method,
      path,
      readParams: (takesFiles) => readForm({ ...incoming, body }, takesFiles),
      hasCredentials: incoming.authorization !== "",
      credentials: authenticate(realm.view, incoming.authorization),
      client: clientName(incoming.userAgent),
      siteUrl: this.#siteUrl(incoming),
      userAgent: incoming.userAgent,
      address: () => incoming.forwarded.address ?? exchange.address(),
      idempotencyKey: incoming.idempotencyKey,
      ifNoneMatch: incoming.method === "GET" ? incoming.ifNoneMatch : "",
      onAbort: (callback) => exchange.onAbort(callback),
    });
  }

  #siteUrl(incoming: Incoming): string {
    const isSecure = incoming.forwarded.isSecure ?? this.#options.isSecure;
    return `${isSecure ? "https" : "http"}://${incoming.host}`;
  }

  /** What is outside the API: pictures, and the pages that links in mails lead to. */
  #page(exchange: Exchange, incoming: Incoming): Performed | Promise<Performed> {
    const path = decodePercent(incoming.path);
    if (path === null) return refusal(refuse.badRequest("Malformed percent-encoding in the path"));
    const route = this.#options.pages.find(({ prefix }) => path.startsWith(prefix));
    if (route === undefined) return refusal(refuse.notFound());
    const { method } = incoming;
    if (method !== "GET" && method !== "HEAD") {
      return { ...refusal(refuse.methodNotAllowed(["GET", "HEAD"])), headers: [["Allow", "GET, HEAD"]] };
    }
    const realm = this.#options.realmOf(incoming.host);
    return route.serve({
      realm,
      rest: path.slice(route.prefix.length),
      siteUrl: this.#siteUrl(incoming),
      method,
      viewer: () =>
        this.#options.viewerOf(realm, incoming.authorization, incoming.forwarded.address ?? exchange.address()),
    });
  }

  /** OPTIONS, for browsers' preflights and for the curious. */
  #allowedMethods(path: string): Performed {
    const methods = this.#options.performer.methodsOf(path);
    if (methods === null) return refusal(refuse.notFound());
    const allowed = methods.join(", ");
    return {
      status: 204,
      body: "",
      headers: [
        ["Allow", allowed],
        ["Access-Control-Allow-Methods", allowed],
        ["Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key"],
        ["Access-Control-Max-Age", "7200"],
      ],
    };
  }
}

function refusal(refused: Refusal): Performed {
  return { status: statusOf(refused), body: JSON.stringify(bodyOf(refused)), headers: [] };
}
