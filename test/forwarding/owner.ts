/** A node that serves organizations, whose sockets the test decides about. */
import { once } from "node:events";
import type { Test } from "tap";
import { WebSocket } from "ws";
import { limits } from "../../schemas/limits.ts";
import type { Destination } from "../../src/edge/forwarding/directions.ts";
import type { ForwardingBounds } from "../../src/edge/forwarding/forwarding-app.ts";
import type { HandshakeResponse, TransportSocket } from "../../src/edge/transport/transport.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { until } from "../support/realtime.ts";
import type { Teardown } from "../support/server.ts";
import { here, idleRoute, socketPath, startNode } from "./edge.ts";

export type OwnerSocket = TransportSocket<object>;

interface OwnerOptions {
  readonly open?: (socket: OwnerSocket) => void;
  readonly drained?: (socket: OwnerSocket) => void;
  /** Answers a handshake instead of accepting it, if it returns true. */
  readonly refuse?: (response: HandshakeResponse) => boolean;
  readonly destination?: () => Destination;
  readonly clock?: Clock;
  readonly bounds?: Partial<ForwardingBounds>;
}

export async function startOwner(t: Teardown, options: OwnerOptions = {}) {
  const { open = () => undefined, drained = () => undefined, refuse = () => false } = options;
  const { destination = () => here, ...more } = options;
  /** Those that are open, in the order in which they were opened. */
  const sockets: OwnerSocket[] = [];
  const received: { readonly bytes: Buffer; readonly isBinary: boolean }[] = [];
  const { url, figures } = await startNode(
    t,
    {
      ...idleRoute,
      upgrade(response, _request, accept) {
        response.onAborted(() => undefined);
        if (!refuse(response)) accept({}, "");
      },
      open(socket) {
        sockets.push(socket);
        open(socket);
      },
      message: (_socket, message, isBinary) => void received.push({ bytes: Buffer.from(message), isBinary }),
      drained,
      closed: (socket) => void sockets.splice(sockets.indexOf(socket), 1),
    },
    { ...more, directions: { destinationOf: destination } },
  );
  return { url, sockets, received, figures };
}

export interface TestClient {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly messages: Buffer[];
}

export function openClient(t: Test, url: string): TestClient {
  const socket = new WebSocket(`${url.replace("http", "ws")}${socketPath}`, { maxPayload: 0 });
  t.teardown(() => socket.terminate());
  const messages: Buffer[] = [];
  socket.on("message", (message: Buffer) => messages.push(message));
  socket.on("error", () => undefined);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return { socket, closed, messages };
}

/** A client's socket at an edge, and the owner's end of it. */
export async function openPair(t: Test, url: string, owner: Awaited<ReturnType<typeof startOwner>>) {
  const before = owner.sockets.length;
  const client = openClient(t, url);
  await once(client.socket, "open");
  await until(() => owner.sockets.length > before);
  return { ...client, owner: owner.sockets[before] as OwnerSocket };
}

/** Sends pieces of a message as far as the owner's rules allow it, as an outbox does. @returns whether all were sent */
export function sendWhileRoom(socket: OwnerSocket, payload: Buffer): boolean {
  if (socket.getBufferedAmount() >= limits.socket_buffer_bytes_soft_max / 2) return false;
  socket.send(payload, true);
  return true;
}
