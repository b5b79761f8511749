/**
 * The links that edges have opened to this node. Only a node of the cluster can open one, with the key; for everybody
 * else there is nothing at their path.
 */
import { closeCodes } from "../../../schemas/close-codes.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import type {
  HandshakeResponse,
  RequestHandler,
  SocketRoute,
  TransportRequest,
  TransportResponse,
  WebApp,
} from "../transport/transport.ts";
import type { LinkCounts, LinkState } from "./link-figures.ts";
import { linkPath, linkVersions } from "./link-messages.ts";
import type { LinkQueueBounds } from "./link-queue.ts";
import { OwnerLink } from "./owner-link.ts";

export interface OwnerLinksOptions {
  readonly clock: Clock;
  readonly counts: LinkCounts;
  readonly bounds: LinkQueueBounds;
  /** Whether a node of the cluster sent the request. */
  readonly isOfNode: (request: TransportRequest) => boolean;
  /** Whether this node serves the organization that a handshake of an edge's client is for. */
  readonly isHere: (request: TransportRequest) => boolean;
  readonly overload: (response: HandshakeResponse, request: TransportRequest) => void;
  /** Answers requests of others. */
  readonly handler: RequestHandler;
  readonly reportBug: (error: unknown, what: string) => void;
}

/** Data that the transport keeps with a link. */
interface LinkData {
  link: OwnerLink | null;
}

export class OwnerLinks {
  readonly #options: OwnerLinksOptions;
  readonly #routes = new Map<string, SocketRoute<object>>();
  readonly #links = new Set<OwnerLink>();
  #count = 0;

  constructor(options: OwnerLinksOptions) {
    this.#options = options;
  }

  get states(): LinkState[] {
    return [...this.#links].map(({ state }) => state);
  }

  /** The route of sockets at a path, those of edges' clients included. */
  onSocket(path: string, route: SocketRoute<object>): void {
    this.#routes.set(path, route);
  }

  mount(app: WebApp): void {
    const { handler } = this.#options;
    app.onSocket<LinkData>(linkPath, {
      messageBytesMax: limits.forward_link_message_bytes_max,
      bufferBytesMax: limits.forward_link_carrier_bytes_max,
      heartbeatS: limits.socket_heartbeat_s,
      upgrade: (response, request, accept) => {
        const version = this.#versionOf(request);
        // Transports give the whole response.
        if (version === null) handler(response as TransportResponse, request);
        else if (this.#count >= limits.forward_links_max) this.#options.overload(response, request);
        else accept({ link: null }, version);
      },
      plain: handler,
      open: (carrier) => {
        this.#count++;
        const { clock, counts, bounds, overload, reportBug } = this.#options;
        const routeOf = (request: TransportRequest) => this.#routeOf(request);
        const link = new OwnerLink({ carrier, clock, counts, bounds, routeOf, overload, reportBug });
        carrier.getUserData().link = link;
        this.#links.add(link);
      },
      message: (carrier, message) => {
        try {
          carrier.getUserData().link?.received(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
        } catch (error) {
          this.#options.reportBug(error, "a link");
          carrier.end(closeCodes.malformed.code, closeCodes.malformed.reason);
        }
      },
      drained: () => undefined,
      closed: (carrier) => {
        this.#count--;
        const { link } = carrier.getUserData();
        if (link === null) return;
        this.#links.delete(link);
        link.closed();
      },
    });
  }

  /** @returns null unless a node asks that speaks a version which this one speaks, too */
  #versionOf(request: TransportRequest): string | null {
    if (!this.#options.isOfNode(request)) return null;
    const offered = request.getHeader("sec-websocket-protocol").split(",");
    return linkVersions.find((version) => offered.some((name) => name.trim() === version)) ?? null;
  }

  #routeOf(request: TransportRequest): SocketRoute<object> | null {
    return this.#options.isHere(request) ? (this.#routes.get(request.getUrl()) ?? null) : null;
  }
}
