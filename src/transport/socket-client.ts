/** A WebSocket to another server, by `ws`: its messages arrive only while the receiver wants them. */
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

/** A handshake that was answered by something else than an upgrade. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface SocketClientEvents {
  /** No message arrives until `resume`. @param protocol "" for none */
  readonly opened: (protocol: string) => void;
  readonly refused: (refusal: HandshakeRefusal) => void;
  readonly received: (message: Buffer, isBinary: boolean) => void;
  /** So much of the next message is in memory, about. */
  readonly arriving: (bytes: number) => void;
  /** Called once, unless it was refused; 1006 without a close frame, also if it was never open. */
  readonly closed: (code: number, reason: string) => void;
}

export interface SocketClient {
  readonly bufferedBytes: number;
  send(message: Uint8Array, isBinary: boolean): void;
  pause(): void;
  resume(): void;
  /** Sends a close frame. */
  close(code: number): void;
  /** Closes the connection at once. */
  terminate(): void;
}

const bodyBytesMax = 64 * 1024;

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
  let messageFrom = 0;
  socket.on("upgrade", (message) => {
    stream = message.socket;
  });
  socket.on("open", () => {
    socket.pause();
    messageFrom = stream?.bytesRead ?? 0;
    // After the one of `ws`, which may have got a whole message by it.
    stream?.on("data", () => {
      const bytes = (stream?.bytesRead ?? 0) - messageFrom;
      if (bytes > 0) events.arriving(bytes);
    });
    events.opened(socket.protocol);
  });
  socket.on("unexpected-response", (request, message) => {
    wasRefused = true;
    void readSmall(message).then((body) => {
      request.destroy();
      events.refused({ status: message.statusCode ?? 502, headers: message.headers, body });
    });
  });
  socket.on("message", (message: Buffer, isBinary) => {
    messageFrom = stream?.bytesRead ?? 0;
    events.received(message, isBinary);
  });
  socket.on("error", () => undefined);
  socket.on("close", (code, reason) => {
    if (!wasRefused) events.closed(code, reason.toString());
  });
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send: (message, isBinary) => socket.send(message, { binary: isBinary, compress: false }),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: (code) => socket.close(code),
    terminate: () => socket.terminate(),
  };
}

async function readSmall(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message) {
      bytes += (chunk as Buffer).length;
      if (bytes > bodyBytesMax) break;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // What there is of it counts.
  }
  return Buffer.concat(chunks);
}
