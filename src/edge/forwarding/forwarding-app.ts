/**
 * The app of a node: requests and sockets of organizations that it serves go to the server as usual, the others to the
 * node that serves them. A request that another node forwarded is never forwarded again.
 */

import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ReadForwarded } from "../http/forwarded.ts";
import { type Refused, refused } from "../http/reply.ts";
import { writeRefused } from "../http/write-refused.ts";
import { handshakeFault } from "../transport/handshake.ts";
import type {
  HandshakeResponse,
  RenewedCertificate,
  RequestHandler,
  SocketRoute,
  TlsOptions,
  TransportRequest,
  TransportResponse,
  TransportSocket,
  WebApp,
} from "../transport/transport.ts";
import type { ClusterRoutes } from "./directions.ts";
import { EdgeLinks } from "./edge-links.ts";
import { EdgeSocket, type EdgeSocketData, type EdgeTools } from "./edge-socket.ts";
import { readForwardedHead } from "./forwarded-head.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { LinkCounts, type LinkFigures, linkFigures } from "./link-figures.ts";
import type { LinkQueueBounds } from "./link-queue.ts";
import { elsewhereHeader, type ForwardedClient, nodeHeader, readNodeHeader } from "./node-header.ts";
import { OwnerLinks } from "./owner-links.ts";
import { type ForwardingTools, RequestForwarder } from "./request-forwarder.ts";
import { Upstreams } from "./upstreams.ts";

export interface ForwardingAppOptions {
  readonly app: WebApp;
  readonly directions: ClusterRoutes;
  readonly clock: Clock;
  /** The address and scheme of a client, as a proxy reports them. */
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
  readonly link: LinkQueueBounds;
}

/** The destination of a request. */
type Way = "here" | "elsewhere" | "forward";

export class ForwardingApp implements WebApp {
  readonly #options: ForwardingAppOptions;
  readonly #tools: ForwardingTools;
  readonly #edgeTools: EdgeTools;
  readonly #upstreams: Upstreams;
  readonly #edgeLinks: EdgeLinks;
  readonly #ownerLinks: OwnerLinks;
  readonly #counts = new LinkCounts();
  readonly #bounds: ForwardingBounds;
  #handler: RequestHandler = (response) => response.close();
  /** Requests that are pending at other nodes. */
  readonly #requests = new Set<RequestForwarder>();
  #onQuiet: () => void = () => undefined;
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
      link: {
        sharedBytesMax: limits.forward_link_shared_bytes_max,
        linesBytesMax: limits.forward_link_lines_bytes_max,
      },
      ...options.bounds,
    };
    const answers = new KeptBytes(this.#bounds.answersBytesMax);
    this.#tools = { directions, clock, reportBug, budget, answers, upstreams: this.#upstreams };
    const counts = this.#counts;
    this.#edgeLinks = new EdgeLinks({ ...this.#tools, counts });
    const messages = new KeptBytes(this.#bounds.messagesBytesMax);
    this.#edgeTools = { directions, links: this.#edgeLinks, clock, messages, reportBug };
    this.#ownerLinks = new OwnerLinks({
      clock,
      counts,
      reportBug,
      bounds: this.#bounds.link,
      isOfNode: (request) => this.#isOfNode(request),
      isHere: (request) => this.#wayOf(request) === "here",
      overload: (response, request) => this.#refuse(response, request, overloaded),
      handler: (response, request) => this.#handle(response, request),
    });
  }

  /** For metrics. */
  get figures(): LinkFigures {
    const { states: edge } = this.#edgeLinks;
    const { states: owner } = this.#ownerLinks;
    return linkFigures(this.#counts, { edge, owner, requests: this.#requests.size });
  }

  get checksChunks(): boolean {
    return this.#options.app.checksChunks;
  }

  onRequest(handler: RequestHandler): void {
    this.#handler = handler;
    this.#options.app.onRequest((response, request) => this.#handle(response, request));
    this.#ownerLinks.mount(this.#options.app);
  }

  #handle(response: TransportResponse, request: TransportRequest): void {
    const way = this.#wayOf(request);
    if (way === "here") this.#handler(response, request);
    else if (way === "elsewhere") this.#refuse(response, request, elsewhere);
    else this.#forward(response, request);
  }

  onSocket<Data extends object>(path: string, route: SocketRoute<Data>): void {
    type Both = Data | EdgeSocketData;
    const own = (socket: TransportSocket<Both>) => socket as TransportSocket<Data>;
    const edgeSocketOf = (socket: TransportSocket<Both>) => {
      const data = socket.getUserData();
      return "edgeSocket" in data ? (data as EdgeSocketData).edgeSocket : null;
    };
    this.#ownerLinks.onSocket(path, route as SocketRoute<object>);
    this.#options.app.onSocket<Both>(path, {
      ...route,
      upgrade: (response, request, accept) => {
        const way = handshakeFault((name) => request.getHeader(name)) === null ? this.#wayOf(request) : "here";
        if (way === "here") route.upgrade(response, request, accept);
        else if (way === "elsewhere") this.#refuse(response, request, elsewhere);
        else this.#forwardSocket(response, request, accept);
      },
      open(socket) {
        const edgeSocket = edgeSocketOf(socket);
        if (edgeSocket === null) route.open(own(socket));
        else edgeSocket.opened(socket as TransportSocket<EdgeSocketData>);
      },
      message(socket, message, isBinary) {
        const edgeSocket = edgeSocketOf(socket);
        if (edgeSocket === null) route.message(own(socket), message, isBinary);
        else edgeSocket.received(message, isBinary);
      },
      drained(socket) {
        const edgeSocket = edgeSocketOf(socket);
        if (edgeSocket === null) route.drained(own(socket));
        else edgeSocket.drained();
      },
      closed(socket) {
        const edgeSocket = edgeSocketOf(socket);
        if (edgeSocket === null) route.closed(own(socket));
        else edgeSocket.closed();
      },
    });
  }

  listen(host: string, port: number): Promise<number | null> {
    return this.#options.app.listen(host, port);
  }

  renewCertificate(tls: TlsOptions): RenewedCertificate {
    return this.#options.app.renewCertificate(tls);
  }

  /** Clients on sockets and those that poll go to another node at once; other requests are answered first. */
  stopListening(): Promise<void> {
    this.#isStopping = true;
    void this.#options.app.stopListening();
    this.#edgeLinks.dismiss();
    for (const forwarder of [...this.#requests]) forwarder.dismissPoll();
    if (this.#requests.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  close(): void {
    this.#edgeLinks.close();
    this.#options.app.close();
    this.#upstreams.close();
  }

  #wayOf(request: TransportRequest): Way {
    const { directions } = this.#options;
    const isHere = directions.destinationOf(request.getHeader("host")).kind === "here";
    if (this.#isOfNode(request)) return isHere && !this.#isStopping ? "here" : "elsewhere";
    // A server that stops tells its clients so.
    return isHere || this.#isStopping ? "here" : "forward";
  }

  #isOfNode(request: TransportRequest): boolean {
    const given = request.getHeader(nodeHeader);
    return given !== "" && readNodeHeader(given, this.#options.directions.key) !== null;
  }

  #clientOf(response: Pick<TransportResponse, "getRemoteAddressAsText">, request: TransportRequest): ForwardedClient {
    const { address, isSecure } = this.#options.readForwarded(request);
    return {
      address: address ?? Buffer.from(response.getRemoteAddressAsText()).toString("latin1"),
      isSecure: isSecure ?? this.#options.isSecure,
    };
  }

  /** Closes the connection after the answer, because a body may follow. */
  #refuse(response: HandshakeResponse, request: TransportRequest, reply: Refused): void {
    const isSecure = this.#options.readForwarded(request).isSecure ?? this.#options.isSecure;
    let isOver = false;
    response.onAborted(() => {
      isOver = true;
    });
    this.#options.clock.soon(() => {
      if (!isOver) writeRefused(response, reply, { isSecure, closesConnection: true });
    });
  }

  #forward(response: TransportResponse, request: TransportRequest): void {
    const head = readForwardedHead(request);
    const isUncertain = head?.hasBody === true && head.contentLength === null && !this.checksChunks;
    // The server rejects what is ambiguous before it looks for an organization.
    if (head === null) {
      this.#handler(response, request);
      return;
    }
    if (this.#requests.size >= this.#bounds.requestsMax) {
      this.#refuse(response, request, overloaded);
      return;
    }
    const client = this.#clientOf(response, request);
    const forwarder = new RequestForwarder(this.#tools, { response, head, client, isUncertain }, () => {
      this.#requests.delete(forwarder);
      if (this.#requests.size === 0) this.#onQuiet();
    });
    this.#requests.add(forwarder);
  }

  #forwardSocket(
    response: HandshakeResponse,
    request: TransportRequest,
    accept: (data: EdgeSocketData, protocol: string) => void,
  ): void {
    const head = readForwardedHead(request);
    if (head === null || this.#sockets >= limits.sockets_max) {
      this.#refuse(response, request, overloaded);
      return;
    }
    this.#sockets++;
    const client = this.#clientOf(response, request);
    const headers = [...this.#upstreams.headersOf(head, client), ...upgradeHeaders];
    const onEnd = () => this.#sockets--;
    new EdgeSocket(
      this.#edgeTools,
      { response, isSecure: client.isSecure, host: head.host, request: { path: head.path, headers }, accept },
      onEnd,
    );
  }
}

/** Those of the client's handshake belong to its connection, and were checked here. */
const upgradeHeaders = ["connection", "Upgrade", "upgrade", "websocket"] as const;
const overloaded = refused(refuse.overloaded());
/** The node that asked looks for the organization again. */
const elsewhere = refused(refuse.ownerUnreachable(), [[elsewhereHeader, "1"]]);
