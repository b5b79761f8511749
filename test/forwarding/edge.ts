/** Nodes in the process of the test: one that serves nothing itself, and forwards everything where the test says. */
import { limits } from "../../schemas/limits.ts";
import type { ClusterRoutes, Destination } from "../../src/edge/forwarding/directions.ts";
import { ForwardingApp, type ForwardingBounds } from "../../src/edge/forwarding/forwarding-app.ts";
import { ignoreForwarded } from "../../src/edge/http/forwarded.ts";
import { loadTransport, type TransportChoice } from "../../src/edge/transport/load.ts";
import type { SocketRoute, WebApp } from "../../src/edge/transport/transport.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import type { Teardown } from "../support/server.ts";

export const nodeKey = "secret";

interface EdgeOptions {
  readonly destination: () => Destination;
  readonly clock?: Clock;
  /** Whether clients reach it over TLS. */
  readonly isSecure?: boolean;
  readonly isGone?: () => boolean;
  readonly bounds?: Partial<ForwardingBounds>;
}

interface NodeOptions {
  readonly directions: Pick<ClusterRoutes, "destinationOf"> & Partial<ClusterRoutes>;
  readonly clock?: Clock;
  readonly isSecure?: boolean;
  readonly bounds?: Partial<ForwardingBounds>;
}

/** What a node has before its app. */
export function nodeFront(
  app: WebApp,
  { directions, clock = systemClock, isSecure = false, bounds = {} }: NodeOptions,
): ForwardingApp {
  return new ForwardingApp({
    app,
    directions: {
      key: nodeKey,
      ownAddress: "",
      isGone: () => false,
      onceChanged: () => new Promise((resolve) => setImmediate(resolve)),
      ...directions,
    },
    clock,
    readForwarded: ignoreForwarded,
    isSecure,
    bounds,
    // tap reports it as a failure.
    reportBug: (error) => setImmediate(() => Promise.reject(error)),
  });
}

/** A node of the test, with the sockets of this route. */
export async function startNode(t: Teardown, route: SocketRoute<object>, options: NodeOptions) {
  const { transport } = await loadTransport((process.env["TRANSPORT"] as TransportChoice | undefined) ?? "auto");
  const app = transport.createApp({ tls: null, malformedBody: "{}", timers: systemClock });
  if (app === null) throw new Error("no app");
  const node = nodeFront(app, options);
  node.onRequest((response) => {
    response.onAborted(() => undefined);
    response.end("here", false);
  });
  node.onSocket(socketPath, route);
  const port = await node.listen("127.0.0.1", 0);
  t.teardown(() => {
    void node.stopListening();
    node.close();
  });
  return { url: `http://127.0.0.1:${port}`, stopListening: () => node.stopListening(), figures: () => node.figures };
}

/** A route whose sockets do nothing. */
export const idleRoute: SocketRoute<object> = {
  messageBytesMax: limits.ws_frame_bytes_hard_max,
  bufferBytesMax: limits.socket_buffer_bytes_hard_max,
  // Clients that a test pauses answer no ping.
  heartbeatS: limits.socket_heartbeat_s_max,
  upgrade: (response) => void response.close(),
  plain: (response) => void response.close(),
  open: () => undefined,
  message: () => undefined,
  drained: () => undefined,
  closed: () => undefined,
};

/** A node that serves nothing itself. */
export async function startEdge(t: Teardown, { destination, isGone = () => false, ...options }: EdgeOptions) {
  const { url } = await startNode(t, idleRoute, { ...options, directions: { destinationOf: destination, isGone } });
  return url;
}

export const socketPath = "/api/v1/events/ws";
export const here: Destination = { kind: "here" };
export const to = (address: string): Destination => ({ kind: "node", instance: "b", address });
