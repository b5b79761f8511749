/**
 * The app of a node: requests and sockets of organizations that it serves go to the server as usual, the others to the
 * node that serves them. A request that another node forwarded is never forwarded again.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { refused } from "../http/refused.ts";
import { statusLine } from "../http/status-line.ts";
import { ByteBudget } from "../runtime/byte-budget.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ReadForwarded } from "../runtime/forwarded.ts";
import { handshakeFault } from "../transport/handshake.ts";
import type {
  RenewedCertificate,
  RequestHandler,
  SocketRoute,
  TlsOptions,
  TransportRequest,
  TransportResponse,
  TransportSocket,
  WebApp,
} from "../transport/transport.ts";
import type { Directions } from "./directions.ts";
import { readForwardedHead } from "./forwarded-head.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { elsewhereHeader, type ForwardedClient, nodeHeader, readNodeHeader } from "./node-header.ts";
import { type ForwardingTools, RequestForwarder } from "./request-forwarder.ts";
import { type ForwardedSocketData, SocketForwarder } from "./socket-forwarder.ts";
import { Upstreams } from "./upstreams.ts";

export interface ForwardingAppOptions {
  readonly app: WebApp;
  readonly directions: Directions;
  readonly clock: Clock;
  /** What a proxy says of a client. */
  readonly readForwarded: ReadForwarded;
  /** Whether the app itself terminates TLS. */
  readonly isSecure: boolean;
  readonly reportBug: (error: unknown, what: string) => void;
  /** By default those of the limits. */
  readonly bounds?: Partial<ForwardingBounds>;
}

export interface ForwardingBounds {
  readonly requestsMax: number;
  readonly answersBytesMax: number;
  readonly messagesBytesMax: number;
}

/** Where a request goes. */
type Way = "here" | "elsewhere" | "forward";

export class ForwardingApp implements WebApp {
  readonly #options: ForwardingAppOptions;
  readonly #tools: ForwardingTools;
  readonly #upstreams: Upstreams;
  readonly #bounds: ForwardingBounds;
  #requests = 0;
  #sockets = 0;
  #isStopping = false;

  constructor(options: ForwardingAppOptions) {
    this.#options = options;
    const { directions, clock, reportBug } = options;
    this.#upstreams = new Upstreams(directions, clock);
    const budget = new ByteBudget(limits.requests_in_flight_bytes_max, limits.requests_in_flight_bytes_per_sender_max);
    this.#bounds = {
      requestsMax: limits.forward_requests_max,
      answersBytesMax: limits.forward_answers_bytes_max,
      messagesBytesMax: limits.forward_messages_bytes_max,
      ...options.bounds,
    };
    const answers = new KeptBytes(this.#bounds.answersBytesMax);
    const messages = new KeptBytes(this.#bounds.messagesBytesMax);
    this.#tools = { directions, clock, reportBug, budget, answers, messages, upstreams: this.#upstreams };
  }

  get checksChunks(): boolean {
    return this.#options.app.checksChunks;
  }

  onRequest(handler: RequestHandler): void {
    this.#options.app.onRequest((response, request) => {
      const way = this.#wayOf(request);
      if (way === "here") handler(response, request);
      else if (way === "elsewhere") answerLater(response, this.#options.clock, elsewhere);
      else this.#forward(response, request, handler);
    });
  }

  onSocket<Data extends object>(path: string, route: SocketRoute<Data>): void {
    type Both = Data | ForwardedSocketData;
    const own = (socket: TransportSocket<Both>) => socket as TransportSocket<Data>;
    const forwarderOf = (socket: TransportSocket<Both>) => {
      const data = socket.getUserData();
      return "forwarder" in data ? (data as ForwardedSocketData).forwarder : null;
    };
    this.#options.app.onSocket<Both>(path, {
      ...route,
      upgrade: (response, request, accept) => {
        const way = handshakeFault((name) => request.getHeader(name)) === null ? this.#wayOf(request) : "here";
        if (way === "here") route.upgrade(response, request, accept);
        else if (way === "elsewhere") answerLater(response, this.#options.clock, elsewhere);
        else this.#forwardSocket(response, request, accept);
      },
      open(socket) {
        const forwarder = forwarderOf(socket);
        if (forwarder === null) route.open(own(socket));
        else forwarder.opened(socket as TransportSocket<ForwardedSocketData>);
      },
      message(socket, message, isBinary) {
        const forwarder = forwarderOf(socket);
        if (forwarder === null) route.message(own(socket), message, isBinary);
        else forwarder.received(message, isBinary);
      },
      drained(socket) {
        const forwarder = forwarderOf(socket);
        if (forwarder === null) route.drained(own(socket));
        else forwarder.drained();
      },
      closed(socket) {
        const forwarder = forwarderOf(socket);
        if (forwarder === null) route.closed(own(socket));
        else forwarder.closed();
      },
    });
  }

  listen(host: string, port: number): Promise<number | null> {
    return this.#options.app.listen(host, port);
  }

  renewCertificate(tls: TlsOptions): RenewedCertificate {
    return this.#options.app.renewCertificate(tls);
  }

  stopListening(): void {
    this.#isStopping = true;
    this.#options.app.stopListening();
  }

  close(): void {
    this.#options.app.close();
    this.#upstreams.close();
  }

  #wayOf(request: TransportRequest): Way {
    const { directions } = this.#options;
    const isHere = directions.destinationOf(request.getHeader("host")).kind === "here";
    const given = request.getHeader(nodeHeader);
    const isOfNode = given !== "" && readNodeHeader(given, directions.key) !== null;
    if (isOfNode) return isHere && !this.#isStopping ? "here" : "elsewhere";
    // A server that stops tells its clients so.
    return isHere || this.#isStopping ? "here" : "forward";
  }

  #clientOf(response: TransportResponse, request: TransportRequest): ForwardedClient {
    const { address, isSecure } = this.#options.readForwarded((name) => request.getHeader(name));
    return {
      address: address ?? Buffer.from(response.getRemoteAddressAsText()).toString("latin1"),
      isSecure: isSecure ?? this.#options.isSecure,
    };
  }

  #forward(response: TransportResponse, request: TransportRequest, handler: RequestHandler): void {
    const head = readForwardedHead(request);
    const isUncertain = head?.hasBody === true && head.contentLength === null && !this.checksChunks;
    // The server rejects what is ambiguous before it looks for an organization.
    if (head === null) {
      handler(response, request);
      return;
    }
    if (this.#requests >= this.#bounds.requestsMax) {
      answerLater(response, this.#options.clock, overloaded);
      return;
    }
    this.#requests++;
    const client = this.#clientOf(response, request);
    const onEnd = () => this.#requests--;
    new RequestForwarder(this.#tools, { response, head, client, isUncertain }, onEnd);
  }

  #forwardSocket(
    response: TransportResponse,
    request: TransportRequest,
    accept: (data: ForwardedSocketData, protocol: string) => void,
  ): void {
    const head = readForwardedHead(request);
    if (head === null || this.#sockets >= limits.sockets_max) {
      answerLater(response, this.#options.clock, overloaded);
      return;
    }
    this.#sockets++;
    const offered = request.getHeader("sec-websocket-protocol").split(",");
    const offersPacked = offered.some((name) => name.trim() === "msgpack");
    const client = this.#clientOf(response, request);
    const onEnd = () => this.#sockets--;
    new SocketForwarder(this.#tools, { response, head, client, offersPacked, accept }, onEnd);
  }
}

const overloaded = refused(refuse.overloaded());
/** The node that asked looks for the organization again. */
const elsewhere = refused(refuse.ownerUnreachable(), [[elsewhereHeader, "1"]]);

/** Closes the connection after the answer, because a body may follow. */
function answerLater(response: TransportResponse, clock: Clock, reply: ReturnType<typeof refused>): void {
  let isOver = false;
  response.onAborted(() => {
    isOver = true;
  });
  clock.soon(() => {
    if (isOver) return;
    response.cork(() => {
      response.writeStatus(statusLine(reply.status));
      response.writeHeader("Content-Type", "application/json");
      for (const [name, value] of reply.headers) response.writeHeader(name, value);
      response.end(reply.body as string, true);
    });
  });
}
