/**
 * One client's WebSocket that another node serves: a socket to that node, and the messages of both sides. A side that
 * reads slowly slows the other one down, and the node that serves decides when it is too slow. When that node is gone,
 * the client is told to reconnect and resume.
 */
import { closeCodes } from "../../schemas/close-codes.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { refused } from "../http/refused.ts";
import { StallWatch } from "../http/stall-watch.ts";
import { statusLine } from "../http/status-line.ts";
import { type HandshakeRefusal, openSocket, type SocketClient } from "../transport/socket-client.ts";
import type { TransportResponse, TransportSocket } from "../transport/transport.ts";
import { addressOf, type NodeDestination } from "./directions.ts";
import type { ForwardedHead } from "./forwarded-head.ts";
import type { Kept } from "./kept-bytes.ts";
import { elsewhereHeader, type ForwardedClient } from "./node-header.ts";
import type { ForwardingTools } from "./request-forwarder.ts";

/** Data that the transport keeps with a forwarded socket. */
export interface ForwardedSocketData {
  readonly forwarder: SocketForwarder;
}

export interface ArrivedHandshake {
  readonly response: TransportResponse;
  readonly head: ForwardedHead;
  readonly client: ForwardedClient;
  /** Whether the client offers messages in msgpack. */
  readonly offersPacked: boolean;
  readonly accept: (data: ForwardedSocketData, protocol: string) => void;
}

interface WaitingMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
  /** How much of it was sent. */
  offset: number;
}

type Socket = TransportSocket<ForwardedSocketData>;

export class SocketForwarder {
  readonly #tools: ForwardingTools;
  readonly #arrived: ArrivedHandshake;
  readonly #onEnd: () => void;
  #upstream: SocketClient | null = null;
  #endWatch: () => void = () => undefined;
  #socket: Socket | null = null;
  /** The client did not take them yet; the node's socket is paused meanwhile. */
  readonly #waiting: WaitingMessage[] = [];
  #waitingBytes = 0;
  /** Of a message that is not whole yet. */
  #arrivingBytes = 0;
  readonly #kept: Kept;
  #stall: StallWatch | null = null;
  /** The client's side is open, or about to be. */
  #isAccepted = false;
  #isOver = false;

  /** @param onEnd called once */
  constructor(tools: ForwardingTools, arrived: ArrivedHandshake, onEnd: () => void) {
    this.#tools = tools;
    this.#arrived = arrived;
    this.#onEnd = onEnd;
    this.#kept = tools.messages.open();
    arrived.response.onAborted(() => this.#end());
    this.#connect().catch((error: unknown) => {
      tools.reportBug(error, "forwarding a socket");
      this.#close(closeCodes.goingAway);
    });
  }

  /** The client's side is open. */
  opened(socket: Socket): void {
    this.#socket = socket;
    if (this.#isOver) socket.end(closeCodes.goingAway.code, closeCodes.goingAway.reason);
    else this.#upstream?.resume();
  }

  /** @param message valid during the call */
  received(message: Uint8Array, isBinary: boolean): void {
    const upstream = this.#upstream;
    if (this.#isOver || upstream === null) return;
    // The node reads at most one frame at a time of each socket, so this is one that does not read any more.
    if (upstream.bufferedBytes > 2 * limits.ws_frame_bytes_hard_max) this.#close(closeCodes.goingAway);
    else upstream.send(Uint8Array.prototype.slice.call(message), isBinary);
  }

  /** The client has read some of the buffered bytes. */
  drained(): void {
    this.#stall?.restart();
    this.#flow();
  }

  /** The client's side is closed. */
  closed(): void {
    this.#socket = null;
    this.#end();
  }

  async #connect(): Promise<void> {
    const { directions, clock } = this.#tools;
    const { head } = this.#arrived;
    const searchUntil = clock.monotonic() + limits.forward_wait_ms_max;
    while (!this.#isOver) {
      const destination = addressOf(directions.destinationOf(head.host), directions);
      if (destination !== null && (await this.#attempt(destination))) return;
      if (this.#isOver) return;
      if (clock.monotonic() >= searchUntil) {
        const { status, body, headers } = refused(refuse.ownerUnreachable());
        this.#answer({ status, body: Buffer.from(body as string), headers: Object.fromEntries(headers) });
        return;
      }
      await directions.onceChanged(limits.forward_pause_ms);
    }
  }

  /** @returns false if the node does not serve the organization */
  #attempt(destination: NodeDestination): Promise<boolean> {
    const { upstreams } = this.#tools;
    const { head, client, offersPacked } = this.#arrived;
    return new Promise((resolve) => {
      this.#endWatch = upstreams.watch(destination.instance, () => this.#upstream?.terminate());
      this.#upstream = openSocket(
        {
          url: `${destination.address.replace(/^http/, "ws")}${head.path}`,
          headers: headersOf(upstreams.headersOf(head, client)),
          protocols: offersPacked ? ["msgpack"] : [],
          connectMsMax: limits.forward_connect_ms_max,
          messageBytesMax: limits.forward_message_bytes_max,
        },
        {
          opened: (protocol) => {
            if (!this.#isOver) this.#arrived.accept({ forwarder: this }, protocol);
            this.#isAccepted = true;
            resolve(true);
          },
          refused: (refusal) => {
            this.#endWatch();
            if (refusal.headers[elsewhereHeader] !== undefined) {
              resolve(false);
              return;
            }
            this.#answer(refusal);
            resolve(true);
          },
          received: (message, isBinary) => {
            this.#waiting.push({ data: message, isBinary, offset: 0 });
            this.#waitingBytes += message.length;
            this.#arrivingBytes = 0;
            if (this.#hasRoom()) this.#flow();
          },
          arriving: (bytes) => {
            this.#arrivingBytes = bytes;
            this.#hasRoom();
          },
          closed: (code, reason) => {
            this.#endWatch();
            if (this.#isAccepted)
              this.#close(code < 4000 && !passed.has(code) ? closeCodes.goingAway : { code, reason });
            resolve(false);
          },
        },
      );
    });
  }

  /** Counts what is in memory for this client, who has to reconnect if there is no room for it. */
  #hasRoom(): boolean {
    if (this.#isOver) return false;
    if (this.#kept.set(this.#waitingBytes + this.#arrivingBytes)) return true;
    this.#waiting.length = 0;
    this.#upstream?.terminate();
    this.#close(closeCodes.goingAway);
    return false;
  }

  /** Sends what the client takes, and reads on from the node when nothing waits. */
  #flow(): void {
    const socket = this.#socket;
    if (socket === null || this.#isOver) return;
    while (this.#waiting.length > 0 && socket.getBufferedAmount() < limits.forward_socket_bytes_max) {
      this.#sendNext(socket);
      if (this.#isOver) return;
    }
    this.#hasRoom();
    if (this.#waiting.length === 0) {
      this.#stall?.stop();
      this.#stall = null;
      this.#upstream?.resume();
      return;
    }
    this.#upstream?.pause();
    this.#stall ??= new StallWatch(this.#tools.clock, limits.unsent_stall_ms_max, () =>
      this.#close(closeCodes.slowReader),
    );
  }

  #sendNext(socket: Socket): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const { data, isBinary, offset } = next;
    const piece = data.subarray(offset, offset + limits.socket_fragment_bytes);
    next.offset += piece.length;
    // Its memory is free when all of it was sent.
    if (next.offset >= data.length) this.#waitingBytes -= data.length;
    const isLast = next.offset >= data.length;
    if (isLast) this.#waiting.shift();
    if (offset === 0 && isLast) socket.send(isBinary ? data : data.toString("utf8"), isBinary);
    else if (offset === 0) socket.sendFirstFragment(piece, isBinary);
    else if (isLast) socket.sendLastFragment(piece);
    else socket.sendFragment(piece);
  }

  /** The node's side is closed, or of no use any more. What it sent before is dropped if the client is slow. */
  #close({ code, reason }: { readonly code: number; readonly reason: string }): void {
    if (this.#isOver) return;
    const socket = this.#socket;
    if (socket !== null) while (this.#waiting.length > 0 && !this.#isOver) this.#sendNext(socket);
    this.#socket = null;
    this.#end();
    socket?.end(code, reason);
  }

  /** Answers the handshake as the node did. */
  #answer({ status, headers, body }: HandshakeRefusal): void {
    if (this.#isOver) return;
    const { response } = this.#arrived;
    response.cork(() => {
      response.writeStatus(statusLine(status));
      for (const name of passedHeaders) {
        const value = headers[name] ?? headers[name.toLowerCase()];
        if (typeof value === "string") response.writeHeader(name, value);
      }
      response.end(body, true);
    });
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stall?.stop();
    this.#waiting.length = 0;
    this.#kept.release();
    this.#endWatch();
    this.#upstream?.resume();
    this.#upstream?.close(1000);
    this.#onEnd();
  }
}

/** Codes below 4000 that the server sends itself. */
const passed: ReadonlySet<number> = new Set([1000, 1001, 1009]);

const passedHeaders = ["Content-Type", "Retry-After", "WWW-Authenticate"] as const;

/** Without those of the handshake itself, which each connection has of its own. */
function headersOf(pairs: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < pairs.length; index += 2) {
    const [name = "", value = ""] = pairs.slice(index, index + 2);
    if (!name.startsWith("sec-websocket-")) headers[name] ??= value;
  }
  return headers;
}
