/**
 * One WebSocket by `ws`, with the behaviour of the contract: a send reports at once whether it was buffered, and a
 * silent client is disconnected.
 */
import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { type SocketRoute, sendStatus, silenceMarginS, type TransportSocket } from "./transport.ts";

interface Frame {
  readonly binary?: boolean;
  /** False if more fragments follow. */
  readonly fin: boolean;
}

export class NodeSocket<Data extends object> implements TransportSocket<Data> {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #data: Data;
  readonly #route: SocketRoute<Data>;
  #isOver = false;
  /** Data was buffered since the route was last notified of a drain. */
  #isBehind = false;
  #heardAt: number;
  #bytesHeard = 0;
  #isPinged = false;

  constructor(webSocket: WebSocket, socket: Socket, data: Data, route: SocketRoute<Data>, now: number) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#data = data;
    this.#route = route;
    this.#heardAt = now;
    webSocket.on("message", (message: Buffer, isBinary) => {
      if (!this.#isOver) route.message(this, message, isBinary);
    });
    webSocket.on("close", () => this.#close());
    // For a client that breaks the protocol; `ws` closes the connection itself.
    webSocket.on("error", () => undefined);
  }

  getUserData(): Data {
    return this.#data;
  }

  send(data: string | Buffer, isBinary: boolean): number {
    return this.#send(data, { binary: isBinary, fin: true });
  }

  sendFirstFragment(data: Buffer, isBinary: boolean): number {
    return this.#send(data, { binary: isBinary, fin: false });
  }

  sendFragment(data: Buffer): number {
    return this.#send(data, { fin: false });
  }

  sendLastFragment(data: Buffer): number {
    return this.#send(data, { fin: true });
  }

  #send(data: string | Buffer, frame: Frame): number {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== WebSocket.OPEN) return sendStatus.dropped;
    if (webSocket.bufferedAmount > this.#route.bufferBytesMax) {
      webSocket.terminate();
      return sendStatus.dropped;
    }
    webSocket.send(data, { ...frame, compress: false }, this.#flushed);
    if (webSocket.bufferedAmount === 0) return sendStatus.sent;
    this.#isBehind = true;
    return sendStatus.buffered;
  }

  /** Shared by all frames of the socket. Frames that the kernel took at once are reported as well. */
  readonly #flushed = (): void => {
    if (!this.#isBehind || this.#isOver) return;
    this.#isBehind = this.#webSocket.bufferedAmount > 0;
    this.#route.drained(this);
  };

  getBufferedAmount(): number {
    return this.#webSocket.bufferedAmount;
  }

  end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#webSocket.close(code, reason);
    // Ends the connection without waiting for the client's close frame.
    this.#socket.end();
    this.#close();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#route.closed(this);
  }

  /** Pings a silent client, and closes the connection of one that does not answer. */
  check(now: number): void {
    const { bytesRead } = this.#socket;
    if (bytesRead !== this.#bytesHeard) {
      this.#bytesHeard = bytesRead;
      this.#heardAt = now;
      this.#isPinged = false;
      return;
    }
    const { heartbeatS } = this.#route;
    const silenceS = (now - this.#heardAt) / 1000;
    if (silenceS >= heartbeatS + silenceMarginS(heartbeatS)) this.#webSocket.terminate();
    else if (silenceS >= heartbeatS && !this.#isPinged && !this.#isOver) {
      this.#isPinged = true;
      this.#webSocket.ping();
    }
  }
}
