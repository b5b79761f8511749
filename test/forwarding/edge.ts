/** A node that serves nothing itself, in the process of the test: it forwards everything where the test says. */
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Destination, Directions } from "../../src/forwarding/directions.ts";
import { ForwardingApp, type ForwardingBounds } from "../../src/forwarding/forwarding-app.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { ignoreForwarded } from "../../src/runtime/forwarded.ts";
import { loadTransport } from "../../src/transport/load.ts";
import type { ManualClock } from "../support/manual-clock.ts";

interface EdgeOptions {
  readonly destination: () => Destination;
  readonly clock?: ManualClock;
  readonly isGone?: () => boolean;
  readonly bounds?: Partial<ForwardingBounds>;
}

/** A node that serves nothing itself. */
export async function startEdge(t: Test, { destination, isGone = () => false, clock, bounds = {} }: EdgeOptions) {
  const { transport } = await loadTransport("auto");
  const app = transport.createApp({ tls: null, malformedBody: "{}", timers: systemClock });
  if (app === null) throw new Error("no app");
  const directions: Directions = {
    key: "secret",
    ownAddress: "",
    destinationOf: destination,
    isGone,
    onceChanged: () => new Promise((resolve) => setImmediate(resolve)),
  };
  const edge = new ForwardingApp({
    app,
    directions,
    clock: clock ?? systemClock,
    readForwarded: ignoreForwarded,
    isSecure: false,
    bounds,
    reportBug: (error) => t.fail(String(error)),
  });
  edge.onRequest((response) => {
    response.onAborted(() => undefined);
    response.end("here", false);
  });
  edge.onSocket("/api/v1/events/ws", {
    messageBytesMax: limits.ws_frame_bytes_hard_max,
    bufferBytesMax: limits.socket_buffer_bytes_hard_max,
    heartbeatS: 30,
    upgrade: (response) => void response.close(),
    plain: (response) => void response.close(),
    open: () => undefined,
    message: () => undefined,
    drained: () => undefined,
    closed: () => undefined,
  });
  const port = await edge.listen("127.0.0.1", 0);
  t.teardown(() => {
    edge.stopListening();
    edge.close();
  });
  return `http://127.0.0.1:${port}`;
}

export const to = (address: string): Destination => ({ kind: "node", instance: "b", address });
