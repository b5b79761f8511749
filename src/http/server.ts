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
import { isForgeable } from "../domain/foreign-page.ts";
import type { ByteBudget } from "../runtime/byte-budget.ts";
import type { Performed, Submitted } from "../runtime/calls.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ReadForwarded } from "../runtime/forwarded.ts";
import type { Realm } from "../runtime/realm.ts";
import type { UnsentBytes } from "../runtime/unsent-bytes.ts";
import { authenticate } from "./authentication.ts";
import { readBody } from "./body-reader.ts";
import { clientName } from "./client-name.ts";
import { Exchange } from "./exchange.ts";
import { FileReceiver } from "./file-receiver.ts";
import { decodePercent, readForm } from "./form.ts";
import { apiPrefix, type Incoming, readIncoming } from "./incoming.ts";
import { errorPage, type PageRoute } from "./pages.ts";
import type { Performer } from "./performer.ts";
import { personName } from "./rate-limits.ts";
import { refused } from "./refused.ts";
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
  readonly clock: Clock;
  /** What clients have not taken yet of their answers, and what they sent that is not answered yet. */
  readonly unsent: UnsentBytes;
  readonly inFlight: ByteBudget;
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

/** A body as it came, or what was read of it while it came. */
type Body = Buffer | Submitted | Refusal | null;

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
    const exchange = new Exchange(response, this.#options);
    try {
      const incoming = readIncoming(request, this.#options.readForwarded);
      if (this.#isDraining) {
        exchange.answer({ ...refused(refuse.shuttingDown()), closesConnection: true }, incoming);
        return;
      }
      this.#pending++;
      exchange.onEnd(this.#ended);
      const { framingFault } = incoming;
      // Chunks that are framed wrong are not reported: what follows them on the connection is never believed.
      if (framingFault !== null || incoming.isChunked) exchange.endConnection();
      if (framingFault !== null) exchange.answer(refused(refuse.badRequest(framingFault)), incoming);
      else if (isForged(incoming))
        exchange.answer({ ...refused(refuse.crossSite()), closesConnection: true }, incoming);
      else if (incoming.hasBody) this.#receive(exchange, response, incoming);
      else void this.#handle(exchange, incoming, null);
    } catch (error) {
      this.#options.reportBug(error, "http");
      exchange.answer(refused(refuse.internalError()), null);
    }
  }

  /** One function for all exchanges. */
  readonly #ended = (): void => {
    this.#pending--;
    if (this.#pending > 0) return;
    const waiters = this.#onQuiet;
    this.#onQuiet = [];
    for (const waiter of waiters) waiter();
  };

  #receive(exchange: Exchange, response: HttpResponse, incoming: Incoming): void {
    const allowance = this.#allowanceOf(incoming);
    if ("kind" in allowance) {
      exchange.answer({ ...refused(allowance), closesConnection: true }, incoming);
      return;
    }
    let release: () => void = () => undefined;
    exchange.onEnd(() => {
      allowance.release();
      release();
      this.#ended();
    });
    const { draftsIn } = allowance;
    if (draftsIn === undefined) release = this.#readBody(exchange, response, incoming, allowance);
    else if (draftsIn.files.acceptsWrites) this.#draftFile(exchange, response, incoming, { ...allowance, draftsIn });
    else exchange.answer({ ...refused(refuse.storeRefusesWrites()), closesConnection: true }, incoming);
  }

  /** How much may come: known before the first byte is read. Only who is known may send much. */
  #allowanceOf({ method, path, host, contentType, contentLength, authorization }: Incoming): BodyAllowance | Refusal {
    const isMultipart = /^multipart\/form-data/i.test(contentType) && path.startsWith(`${apiPrefix}/`);
    const upload = isMultipart ? this.#options.performer.uploadOf(method, path.slice(apiPrefix.length)) : null;
    if (upload === null) return ordinaryBody;
    const realm = this.#options.realmOf(host);
    const credentials = authenticate(realm.view, authorization);
    if (!("caller" in credentials)) return strangersBody;
    const person = personName(realm.epoch, credentials.caller.id);
    return this.#uploads.take(person, upload.bytesMax, contentLength, upload.isDrafted ? realm : undefined);
  }

  /** @returns what is to be called when the request is over */
  #readBody(
    exchange: Exchange,
    response: HttpResponse,
    incoming: Incoming,
    { bytesMax, tooLarge }: BodyAllowance,
  ): () => void {
    return readBody({
      response,
      exchange,
      bytesMax,
      budget: this.#options.inFlight,
      sender: () => incoming.forwarded.address ?? exchange.address(),
      onBody: (body) => void this.#handle(exchange, incoming, body),
      onTooLarge: () => {
        exchange.endConnection();
        if (tooLarge === null) void this.#handle(exchange, incoming, null);
        else exchange.answer(refused(tooLarge), incoming);
      },
      onNoRoom: () => {
        exchange.endConnection();
        exchange.answer(refused(refuse.overloaded()), incoming);
      },
    });
  }

  /** The socket is paused while the disk is busy: little of the body is in memory at a time (S3). */
  #draftFile(
    exchange: Exchange,
    response: HttpResponse,
    incoming: Incoming,
    { bytesMax, tooLarge, draftsIn }: BodyAllowance & { readonly draftsIn: Realm },
  ): void {
    let size = 0;
    let isPaused = false;
    // A whole upload is carried out though the client has hung up since: who that was must be known by then.
    exchange.address();
    const flow = () => {
      if (isPaused && !exchange.isOver) response.resume();
      isPaused = false;
    };
    const receiver = new FileReceiver({
      realm: draftsIn,
      contentType: incoming.contentType,
      query: incoming.query,
      bytesMax: bytesMax - limits.upload_margin_bytes,
      onDrain: flow,
      reportBug: (error) => this.#options.reportBug(error, incoming.path),
      onRefused(refusal) {
        exchange.endConnection();
        exchange.answer(refused(refusal), incoming);
        close();
      },
    });
    const close = () => {
      void receiver.close().catch((error: unknown) => this.#options.reportBug(error, incoming.path));
    };
    let isWhole = false;
    exchange.onAbort(() => {
      // What is carried out must keep its file: it is closed at the end.
      if (!isWhole) close();
    });
    response.onData((chunk, isLast) => {
      if (exchange.isOver) return;
      size += chunk.byteLength;
      if (size > bytesMax) {
        exchange.endConnection();
        exchange.answer(refused(tooLarge ?? refuse.bodyTooLarge(bytesMax)), incoming);
        close();
        return;
      }
      const hasRoom = receiver.write(Buffer.from(chunk.slice(0)));
      if (isLast) {
        isWhole = true;
        // The parser says nothing more, and the next request must be heard.
        flow();
        const performed = receiver.end().then((form) => this.#handle(exchange, incoming, form));
        performed.catch((error: unknown) => this.#fail(exchange, incoming, error)).finally(close);
      } else if (!hasRoom && !exchange.isOver) {
        isPaused = true;
        response.pause();
      }
    });
  }

  #fail(exchange: Exchange, incoming: Incoming, error: unknown): void {
    this.#options.reportBug(error, incoming.path);
    exchange.answer(refused(refuse.internalError()), incoming);
  }

  /** @returns when it is answered */
  #handle(exchange: Exchange, incoming: Incoming, body: Body): Promise<void> | undefined {
    try {
      const performed = this.#perform(exchange, incoming, body);
      if (!(performed instanceof Promise)) return this.#answer(exchange, incoming, performed);
      return performed.then(
        (later) => this.#answer(exchange, incoming, later),
        (error) => this.#fail(exchange, incoming, error),
      );
    } catch (error) {
      this.#fail(exchange, incoming, error);
    }
    return undefined;
  }

  #answer(exchange: Exchange, incoming: Incoming, performed: Performed): undefined {
    try {
      exchange.answer(performed, incoming);
    } catch (error) {
      this.#fail(exchange, incoming, error);
    }
  }

  #perform(exchange: Exchange, incoming: Incoming, body: Body): Performed | Promise<Performed> {
    const { query, contentType } = incoming;
    if (incoming.path.length > limits.path_bytes_max || query.length > limits.url_query_bytes_max) {
      return refused(refuse.badRequest("The request line is too long"));
    }
    if (!incoming.path.startsWith(`${apiPrefix}/`)) return this.#page(exchange, incoming, body);
    const path = incoming.path.slice(apiPrefix.length);
    if (incoming.method === "OPTIONS") return this.#allowedMethods(path);
    const realm = this.#options.realmOf(incoming.host);
    const credentials = authenticate(realm.view, incoming.authorization);
    const address = () => incoming.forwarded.address ?? exchange.address();
    if ("caller" in credentials) {
      const { id } = credentials.caller;
      exchange.belongsTo(() => personName(realm.epoch, id));
    } else exchange.belongsTo(address);
    return this.#options.performer.perform({
      realm,
      method: incoming.method,
      path,
      readParams: (takesFiles) =>
        body === null || Buffer.isBuffer(body) ? readForm({ query, contentType, body }, takesFiles) : body,
      hasCredentials: incoming.authorization !== "",
      credentials,
      client: clientName(incoming.userAgent),
      siteUrl: this.#siteUrl(incoming),
      userAgent: incoming.userAgent,
      address,
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
  #page(exchange: Exchange, incoming: Incoming, body: Body): Performed | Promise<Performed> {
    const path = decodePercent(incoming.path);
    if (path === null) return errorPage(refuse.badRequest("Malformed percent-encoding in the path"));
    const route = this.#options.pages.find(({ prefix }) => path.startsWith(prefix));
    if (route === undefined) return errorPage(refuse.notFound());
    const { method, contentType } = incoming;
    const isSent = method === "POST" && route.takesForms === true;
    if (method !== "GET" && method !== "HEAD" && !isSent) {
      const allowed = route.takesForms === true ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
      const refused = errorPage(refuse.methodNotAllowed(allowed));
      return { ...refused, headers: [...refused.headers, ["Allow", allowed.join(", ")]] };
    }
    const address = () => incoming.forwarded.address ?? exchange.address();
    const realm = this.#options.realmOf(incoming.host);
    const isClosed = realm.view.realm.deactivatedAt !== null && route.servesDeactivated !== true;
    if (isClosed) return errorPage(refuse.realmDeactivated());
    return route.serve({
      realm,
      rest: path.slice(route.prefix.length),
      siteUrl: this.#siteUrl(incoming),
      method,
      ifNoneMatch: incoming.ifNoneMatch,
      range: incoming.range,
      ifRange: incoming.ifRange,
      form: () => (body === null || Buffer.isBuffer(body) ? readForm({ query: "", contentType, body }, false) : body),
      address,
      viewer: () => this.#options.viewerOf(realm, incoming.authorization, address()),
    });
  }

  /** OPTIONS, for browsers' preflights and for the curious. */
  #allowedMethods(path: string): Performed {
    const methods = this.#options.performer.methodsOf(path);
    if (methods === null) return refused(refuse.notFound());
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

/** A change with credentials that a page elsewhere made a browser send. */
function isForged(incoming: Incoming): boolean {
  return incoming.authorization !== "" && !/^(?:GET|HEAD|OPTIONS)$/.test(incoming.method) && isForgeable(incoming);
}
