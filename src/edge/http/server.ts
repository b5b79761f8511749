/**
 * The only wrapper around the transport's HTTP (pitfalls 2). It sets the abort handler first, copies the request
 * before the callback returns, counts the body as it arrives, sends one corked answer, and touches nothing after an
 * abort.
 *
 * Answers OPTIONS, for browser preflights and for debugging.
 */
import { isFromForeignPage } from "../../../domain/foreign-page.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { arrivedCall } from "../../operations/calls.ts";
import type { Operation, OperationExecutor } from "../../operations/execution/operation-executor.ts";
import type { Credentials } from "../../operations/identity/authentication.ts";
import { clientName } from "../../operations/identity/client-name.ts";
import { nameOf } from "../../operations/rate-limits.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Realm } from "../../runtime/realm.ts";
import { RealmElsewhere } from "../../runtime/realm-host.ts";
import { type Result, statusOf } from "../../runtime/results.ts";
import type { TransportRequest, TransportResponse, WebApp } from "../transport/transport.ts";
import type { AccessLog } from "./access-log.ts";
import { type BodyAllowance, ordinaryBody, readBody, UploadBudget, unauthenticatedBody } from "./body-reader.ts";
import { isForged, type SessionCookies } from "./credentials.ts";
import { FileReceiver } from "./file-receiver.ts";
import { decodePercent, readForm, type SubmittedForm } from "./form.ts";
import type { ReadForwarded } from "./forwarded.ts";
import { HttpResponder, type HttpResponderOptions } from "./http-responder.ts";
import { errorPage, methodRefusal, type PageRoute, takesMethod } from "./pages.ts";
import { type HttpReply, refused, replyTo } from "./reply.ts";
import { apiPrefix, type RequestHead, readRequestHead } from "./request-head.ts";
import { type Router, unrouted } from "./router.ts";

/** @param methods those of the path; null: there is no such path */
function preflight(methods: readonly string[] | null): HttpReply {
  if (methods === null) return refused(refuse.notFound());
  const allowed = methods.join(", ");
  return {
    status: 204,
    body: "",
    headers: [
      ["Allow", allowed],
      ["Access-Control-Allow-Methods", allowed],
      ["Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-Request-Id"],
      ["Access-Control-Max-Age", "7200"],
    ],
  };
}

export interface HttpServerOptions extends Required<HttpResponderOptions> {
  readonly app: WebApp;
  readonly executor: OperationExecutor;
  readonly router: Router<Operation>;
  /** Maximum size of a file that is streamed to disk. */
  readonly fileBytesMax: number;
  readonly pages: readonly PageRoute[];
  /** Selects the realm of a Host header (D4). */
  readonly realmOf: (host: string) => Realm;
  /** Whether the app itself terminates TLS. */
  readonly isSecure: boolean;
  readonly readForwarded: ReadForwarded;
  /** @param authorization the Authorization header, or "" */
  readonly authenticate: (realm: Realm, authorization: string) => Credentials;
  readonly sessionCookies: SessionCookies;
  /** The user who requests a page; null without valid credentials. Invalid ones are counted elsewhere (D28). */
  readonly viewerOf: (realm: Realm, authorization: string, address: string) => UserRecord | null;
  readonly accessLog: AccessLog;
  /** Bytes of requests that are not answered yet. */
  readonly inFlight: ByteBudget;
  readonly reportBug: (error: unknown, what: string) => void;
}

/** A body as received, or the result of parsing it while it arrived. */
type Body = Buffer | SubmittedForm | Refusal | null;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #uploads = new UploadBudget();
  /** Pages whose paths look like those of operations. */
  readonly #pagesOfApi: ReadonlySet<string>;
  #isDraining = false;
  /** Organizations are closing. */
  #isClosing = false;
  #pending = 0;
  #onQuiet: (() => void)[] = [];

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#pagesOfApi = new Set(options.pages.map(({ prefix }) => prefix).filter((one) => one.startsWith(apiPrefix)));
  }

  /** @returns the port, which differs from the requested one if that is 0; null if it is not available */
  listen(host: string, port: number): Promise<number | null> {
    const { app } = this.#options;
    app.onRequest((response, request) => this.#serve(response, request));
    return app.listen(host, port);
  }

  /** Requests that are not answered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Rejects new connections and requests; resolves when all pending requests are answered. */
  drain(): Promise<void> {
    this.#isDraining = true;
    const quiet = this.#pending === 0 ? null : new Promise<void>((resolve) => this.#onQuiet.push(resolve));
    return Promise.all([this.#options.app.stopListening(), quiet]).then(() => undefined);
  }

  /** Rejects requests whose bodies are still arriving: nothing may begin in an organization that is closing. */
  stopReading(): void {
    this.#isClosing = true;
  }

  /** Closes every connection. */
  close(): void {
    this.#options.app.close();
  }

  #serve(response: TransportResponse, request: TransportRequest): void {
    this.#pending++;
    const responder = new HttpResponder(response, this.#options, this.#ended);
    try {
      const head = readRequestHead(request, this.#options.readForwarded);
      if (head.requestId !== "" || this.#options.accessLog.isOn) {
        responder.record = this.#options.accessLog.record(head, () => head.forwarded.address ?? responder.address());
      }
      if (this.#isDraining) {
        responder.answer(shuttingDown, head);
        return;
      }
      const { framingFault } = head;
      // Unless the transport rejects malformed chunks, nothing after a chunked body on the connection is trusted.
      const isUncertain = head.isChunked && !this.#options.app.checksChunks;
      if (framingFault !== null || isUncertain) responder.endConnection();
      if (framingFault !== null) responder.answer(refused(refuse.badRequest(framingFault)), head);
      else if (isForged(head)) responder.answer({ ...refused(refuse.crossSite()), closesConnection: true }, head);
      else if (head.hasBody) this.#receive(responder, response, head);
      else void this.#handle(responder, head, null);
    } catch (error) {
      this.#options.reportBug(error, "http");
      responder.answer(refused(refuse.internalError()), null);
    }
  }

  /** One function for all requests. */
  readonly #ended = (): void => {
    this.#pending--;
    if (this.#pending > 0) return;
    const waiters = this.#onQuiet;
    this.#onQuiet = [];
    for (const waiter of waiters) waiter();
  };

  #receive(responder: HttpResponder, response: TransportResponse, head: RequestHead): void {
    const allowance = this.#allowance(responder, head);
    if (isRefusal(allowance)) {
      responder.answer({ ...refused(allowance), closesConnection: true }, head);
      return;
    }
    let release: () => void = () => undefined;
    responder.onRelease(() => {
      allowance.release();
      release();
    });
    const { stagingRealm } = allowance;
    if (stagingRealm === undefined) release = this.#readBody(responder, response, head, allowance);
    else if (stagingRealm.files.acceptsWrites)
      this.#stageFile(responder, response, head, { ...allowance, stagingRealm });
    else responder.answer({ ...refused(refuse.storeRefusesWrites()), closesConnection: true }, head);
  }

  /** Size limit of the body, known before the first byte is read. Only authenticated callers may send large bodies. */
  #allowance(responder: HttpResponder, head: RequestHead): BodyAllowance | Refusal {
    const { method, path, host, contentType, contentLength } = head;
    const isMultipart = /^multipart\/form-data/i.test(contentType) && path.startsWith(`${apiPrefix}/`);
    const operation = isMultipart ? this.#options.router.find(method, path.slice(apiPrefix.length)) : null;
    const upload = operation?.endpoint.upload;
    if (upload === undefined) return ordinaryBody;
    const realm = this.#options.realmOf(host);
    // A rejection of the body shows whether the credentials are valid (M9).
    responder.readsFrom(realm);
    const credentials = this.#ofCookie(realm, head) ?? this.#options.authenticate(realm, head.authorization);
    if (!("caller" in credentials)) return unauthenticatedBody;
    const person = nameOf(realm.epoch, credentials.caller);
    const bytesMax = upload.bytesMax ?? this.#options.fileBytesMax;
    return this.#uploads.take(person, bytesMax, contentLength, upload.bytesMax === null ? realm : undefined);
  }

  /** @returns a function to call when the request is over */
  #readBody(
    responder: HttpResponder,
    response: TransportResponse,
    head: RequestHead,
    { bytesMax, tooLarge }: BodyAllowance,
  ): () => void {
    return readBody({
      response,
      responder,
      bytesMax,
      budget: this.#options.inFlight,
      sender: () => head.forwarded.address ?? responder.address(),
      onBody: (body) => void this.#handle(responder, head, body),
      onTooLarge: () => {
        responder.endConnection();
        if (tooLarge === null) void this.#handle(responder, head, null);
        else responder.answer(refused(tooLarge), head);
      },
      onNoRoom: () => {
        responder.endConnection();
        responder.answer(refused(refuse.overloaded()), head);
      },
    });
  }

  /** The socket is paused while the disk is busy, so little of the body is in memory at a time (S3). */
  #stageFile(
    responder: HttpResponder,
    response: TransportResponse,
    head: RequestHead,
    { bytesMax, tooLarge, stagingRealm }: BodyAllowance & { readonly stagingRealm: Realm },
  ): void {
    let size = 0;
    let isPaused = false;
    responder.enter(stagingRealm);
    // A complete upload is processed even if the client disconnects, so its address must be read now.
    responder.address();
    const flow = () => {
      if (isPaused && !responder.isOver) response.resume();
      isPaused = false;
    };
    const receiver = new FileReceiver({
      realm: stagingRealm,
      contentType: head.contentType,
      query: head.query,
      bytesMax: bytesMax - limits.upload_margin_bytes,
      onDrain: flow,
      reportBug: (error) => this.#options.reportBug(error, head.path),
      onRefused(refusal) {
        responder.endConnection();
        responder.answer(refused(refusal), head);
        close();
      },
    });
    const close = () => {
      void receiver.close().catch((error: unknown) => this.#options.reportBug(error, head.path));
    };
    let isWhole = false;
    responder.onAbort(() => {
      // An upload that is processed needs its file; it is closed at the end.
      if (!isWhole) close();
    });
    response.onData((chunk, isLast) => {
      if (responder.isOver) return;
      size += chunk.byteLength;
      if (size > bytesMax) {
        responder.endConnection();
        responder.answer(refused(tooLarge ?? refuse.bodyTooLarge(bytesMax)), head);
        close();
        return;
      }
      const hasRoom = receiver.write(Buffer.from(chunk.slice(0)));
      if (isLast) {
        isWhole = true;
        // The parser emits no more events, and the next request on the connection must be read.
        flow();
        const reply = stagingRealm.use.during(receiver.end().then((form) => this.#handle(responder, head, form)));
        reply.catch((error: unknown) => this.#fail(responder, head, error)).finally(close);
      } else if (!hasRoom && !responder.isOver) {
        isPaused = true;
        response.pause();
      }
    });
  }

  #fail(responder: HttpResponder, head: RequestHead, error: unknown): void {
    const isElsewhere = error instanceof RealmElsewhere;
    if (!isElsewhere) this.#options.reportBug(error, head.path);
    responder.answer(isElsewhere ? movedAway : refused(refuse.internalError()), head);
  }

  /** @returns a promise for the end of the answer, if it is not synchronous */
  #handle(responder: HttpResponder, head: RequestHead, body: Body): Promise<void> | undefined {
    if (this.#isClosing) return this.#answer(responder, head, shuttingDown);
    try {
      const reply = this.#reply(responder, head, body);
      if (!(reply instanceof Promise)) return this.#answer(responder, head, reply, true);
      return reply.then(
        (later) => this.#answer(responder, head, later),
        (error) => this.#fail(responder, head, error),
      );
    } catch (error) {
      this.#fail(responder, head, error);
    }
    return undefined;
  }

  /** @param isImmediate since the realm was entered, everything was synchronous */
  #answer(responder: HttpResponder, head: RequestHead, reply: HttpReply, isImmediate = false): undefined {
    try {
      responder.answer(reply, head, isImmediate);
    } catch (error) {
      this.#fail(responder, head, error);
    }
  }

  #reply(responder: HttpResponder, head: RequestHead, body: Body): HttpReply | Promise<HttpReply> {
    if (head.path.length > limits.path_bytes_max || head.query.length > limits.url_query_bytes_max) {
      return refused(refuse.badRequest("The request line is too long"));
    }
    if (!head.path.startsWith(`${apiPrefix}/`) || this.#pagesOfApi.has(head.path)) {
      return this.#page(responder, head, body);
    }
    const path = head.path.slice(apiPrefix.length);
    return head.method === "OPTIONS"
      ? preflight(this.#options.router.methodsOf(path))
      : this.#execute(responder, { head, path, body });
  }

  #execute(
    responder: HttpResponder,
    { head, path, body }: { readonly head: RequestHead; readonly path: string; readonly body: Body },
  ): HttpReply | Promise<HttpReply> {
    const { executor, router } = this.#options;
    const { query, contentType } = head;
    const realm = this.#options.realmOf(head.host);
    const address = () => head.forwarded.address ?? responder.address();
    let caller: UserRecord | null = null;
    responder.enter(realm, () => (caller === null ? address() : nameOf(realm.epoch, caller)));
    const ofCookie = this.#ofCookie(realm, head);
    const credentials = ofCookie ?? this.#options.authenticate(realm, head.authorization);
    const known = "caller" in credentials ? credentials : null;
    caller = known?.caller ?? null;
    const match = router.match(head.method, path);
    if (match.kind !== "found") {
      const refusal = unrouted(match);
      executor.requests.count(executor.operations.length, statusOf(refusal));
      return refused(refusal, match.kind === "wrong-method" ? [["Allow", match.allowed.join(", ")]] : []);
    }
    const operation = match.target;
    const call = arrivedCall({
      realm,
      readParams: (takesFiles) =>
        body === null || Buffer.isBuffer(body) ? readForm({ query, contentType, body }, takesFiles) : body,
      hasCredentials: head.authorization !== "" || ofCookie !== null,
      unauthorized: "caller" in credentials ? null : credentials,
      caller,
      keyHash: known?.keyHash ?? null,
      isSession: known?.isSession === true,
      page: head,
      client: clientName(head.userAgent),
      siteUrl: this.#siteUrl(head),
      userAgent: head.userAgent,
      address,
      sentIdempotencyKey: head.idempotencyHeader,
      onAbort: (callback) => responder.onAbort(callback),
    });
    const context = { operation, call, ifNoneMatch: head.method === "GET" ? head.ifNoneMatch : "" };
    const encoded = (result: Result) => {
      const reply = replyTo(result, context);
      executor.requests.count(operation.number, reply.status);
      return reply;
    };
    const result = executor.execute(operation, match.variables, call);
    return result instanceof Promise ? realm.use.during(result.then(encoded)) : encoded(result);
  }

  #siteUrl(head: RequestHead): string {
    return `${this.#isSecure(head) ? "https" : "http"}://${head.host}`;
  }

  #isSecure({ forwarded }: RequestHead): boolean {
    return forwarded.isSecure ?? this.#options.isSecure;
  }

  /** The caller whom a session's cookie identifies. An Authorization header takes precedence, so cookies cost it nothing. */
  #ofCookie(realm: Realm, head: RequestHead, allowsTyped = false): Credentials | null {
    if (head.authorization !== "" || head.cookie === "") return null;
    return this.#options.sessionCookies.authenticate(realm.view, head, this.#isSecure(head), allowsTyped);
  }

  #viewer(realm: Realm, head: RequestHead, address: string): UserRecord | null {
    const ofCookie = this.#ofCookie(realm, head, true);
    if (ofCookie !== null) return "caller" in ofCookie ? ofCookie.caller : null;
    return this.#options.viewerOf(realm, head.authorization, address);
  }

  /** Requests outside the API: pictures, and the pages behind links in emails. */
  #page(responder: HttpResponder, head: RequestHead, body: Body): HttpReply | Promise<HttpReply> {
    const path = decodePercent(head.path);
    if (path === null) return errorPage(refuse.badRequest("Malformed percent-encoding in the path"));
    const route = this.#options.pages.find(({ prefix, isWhole }) =>
      isWhole ? path === prefix : path.startsWith(prefix),
    );
    if (route === undefined) return errorPage(refuse.notFound());
    const { method, contentType } = head;
    if (!takesMethod(route, method)) return methodRefusal(route);
    const address = () => head.forwarded.address ?? responder.address();
    const realm = this.#options.realmOf(head.host);
    responder.enter(realm);
    const isClosed = realm.view.realm.deactivatedAt !== null && route.servesDeactivated !== true;
    if (isClosed) return errorPage(refuse.realmDeactivated());
    const page = route.serve({
      realm,
      rest: path.slice(route.prefix.length),
      siteUrl: this.#siteUrl(head),
      method,
      ifNoneMatch: head.ifNoneMatch,
      userAgent: head.userAgent,
      isFromForeignPage: isFromForeignPage(head),
      fetchSite: head.fetchSite,
      range: head.range,
      ifRange: head.ifRange,
      acceptEncoding: head.acceptEncoding,
      form: () => (body === null || Buffer.isBuffer(body) ? readForm({ query: "", contentType, body }, false) : body),
      address,
      viewer: () => this.#viewer(realm, head, address()),
    });
    // A handler may still work when its client has gone.
    return page instanceof Promise ? realm.use.during(page) : page;
  }
}

/** The organization went to another node while the request arrived. A node that forwarded it asks the other one. */
const movedAway = refused(refuse.ownerUnreachable(), [["X-Colloquy-Elsewhere", "1"]]);
const shuttingDown = { ...refused(refuse.shuttingDown()), closesConnection: true } as const;
