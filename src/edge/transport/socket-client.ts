/** A WebSocket to another server, by `ws`. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket } from "ws";

export interface SocketClientOptions {
  /** Such as `ws://10.0.0.2:9991/path`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Subprotocols that are offered. */
  readonly protocols: readonly string[];
  readonly connectMsMax: number;
  /** A larger message closes the socket. */
  readonly messageBytesMax: number;
}

export interface SocketClientEvents {
  readonly opened: () => void;
  /** The handshake was answered by something else than an upgrade, with this status. */
  readonly refused: (status: number) => void;
  readonly received: (message: Buffer, isBinary: boolean) => void;
  /** Called once, unless it was refused; 1006 without a close frame, also if it was never open. */
  readonly closed: (code: number, reason: string) => void;
}

export interface SocketClient {
  readonly bufferedBytes: number;
  send(message: Uint8Array, isBinary: boolean): void;
  /** Sends a close frame. */
  close(code: number): void;
  /** Closes the connection at once. */
  terminate(): void;
}

export function openSocket(options: SocketClientOptions, events: SocketClientEvents): SocketClient {
  const { url, headers, protocols, connectMsMax, messageBytesMax } = options;
  const socket = new WebSocket(url, [...protocols], {
    headers,
    handshakeTimeout: connectMsMax,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    followRedirects: false,
  });
  let wasRefused = false;
  let stream: Socket | null = null;
  let isCorked = false;
  /** Messages that are sent in one pass of the event loop leave in one write. */
  const cork = () => {
    if (isCorked) return;
    isCorked = true;
    stream?.cork();
    setImmediate(() => {
      isCorked = false;
      stream?.uncork();
    });
  };
  socket.on("upgrade", (message) => {
    stream = message.socket;
  });
  socket.on("open", () => events.opened());
  socket.on("unexpected-response", (request, message: IncomingMessage) => {
    wasRefused = true;
    request.destroy();
    events.refused(message.statusCode ?? 502);
  });
  socket.on("message", (message: Buffer, isBinary) => events.received(message, isBinary));
  socket.on("error", () => undefined);
  socket.on("close", (code, reason) => {
    if (!wasRefused) events.closed(code, reason.toString());
  });
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send(message, isBinary) {
      cork();
      socket.send(message, { binary: isBinary, compress: false });
    },
    close: (code) => socket.close(code),
    terminate: () => socket.terminate(),
  };
}
