/**
 * One client's WebSocket whose organization another node serves. The owner decides about the handshake and about all
 * that the client gets. When the owner or the link to it is gone, the close code asks the client to reconnect and
 * resume.
 */

import { closeCodes } from "../../../schemas/close-codes.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import { refused } from "../http/reply.ts";
import { writeRefused } from "../http/write-refused.ts";
import { type HandshakeResponse, sendStatus, type TransportSocket } from "../transport/transport.ts";
import { addressOf, type ClusterRoutes, type NodeDestination } from "./directions.ts";
import type { EdgeClient, EdgeLink } from "./edge-link.ts";
import type { EdgeLinks } from "./edge-links.ts";
import type { Kept, KeptBytes } from "./kept-bytes.ts";
import type { Form, OpenRequest, Part, SocketRefusal } from "./link-messages.ts";

/** Data that the transport keeps with a socket of another node's organization. */
export interface EdgeSocketData {
  readonly edgeSocket: EdgeSocket;
}

type Socket = TransportSocket<EdgeSocketData>;

export interface ArrivedHandshake {
  readonly response: HandshakeResponse;
  /** Whether the client's connection is encrypted. */
  readonly isSecure: boolean;
  readonly host: string;
  readonly request: OpenRequest;
  readonly accept: (data: EdgeSocketData, protocol: string) => void;
}

export interface EdgeTools {
  readonly directions: ClusterRoutes;
  readonly links: EdgeLinks;
  readonly clock: Clock;
  /** Memory for what waits for clients. */
  readonly messages: KeptBytes;
  readonly reportBug: (error: unknown, what: string) => void;
}

const sends: Readonly<Record<Part, (socket: Socket, payload: Buffer, isBinary: boolean) => number>> = {
  whole: (socket, payload, isBinary) => socket.send(payload, isBinary),
  first: (socket, payload, isBinary) => socket.sendFirstFragment(payload, isBinary),
  middle: (socket, payload) => socket.sendFragment(payload),
  last: (socket, payload) => socket.sendLastFragment(payload),
};

export class EdgeSocket implements EdgeClient {
  readonly #tools: EdgeTools;
  readonly #arrived: ArrivedHandshake;
  readonly #onEnd: () => void;
  #link: EdgeLink | null = null;
  #id = 0;
  /** Ends an attempt with false: the owner is somewhere else. */
  #attempted: (isDecided: boolean) => void = () => undefined;
  #isAccepted = false;
  #socket: Socket | null = null;
  /** Sent to the client, modulo 2^32, and how much of it waits here. */
  #sentBytes = 0;
  #waitingBytes = 0;
  #kept: Kept | null = null;
  /** Frames of the client, as the link counts them. */
  readonly #frames = { bytes: 0, emptied: 0 };
  #isOver = false;

  /** @param onEnd called once */
  constructor(tools: EdgeTools, arrived: ArrivedHandshake, onEnd: () => void) {
    this.#tools = tools;
    this.#arrived = arrived;
    this.#onEnd = onEnd;
    arrived.response.onAborted(() => this.#end());
    this.#connect().catch((error: unknown) => {
      tools.reportBug(error, "a handshake for another node");
      this.#end();
    });
  }

  async #connect(): Promise<void> {
    const { directions, clock } = this.#tools;
    const searchUntil = clock.monotonic() + limits.forward_wait_ms_max;
    while (!this.#isOver) {
      const destination = addressOf(directions.destinationOf(this.#arrived.host), directions);
      if (destination !== null && (await this.#attempt(destination))) return;
      if (this.#isOver) return;
      if (clock.monotonic() >= searchUntil) {
        const { response, isSecure } = this.#arrived;
        this.#end();
        writeRefused(response, refused(refuse.ownerUnreachable()), { isSecure, closesConnection: true });
        return;
      }
      await directions.onceChanged(limits.forward_pause_ms);
    }
  }

  /** @returns false if the node does not serve the organization */
  async #attempt(destination: NodeDestination): Promise<boolean> {
    const link = await this.#tools.links.to(destination);
    if (link === null || this.#isOver) return false;
    return new Promise((resolve) => {
      this.#attempted = resolve;
      this.#link = link;
      this.#id = link.open(this, this.#arrived.request);
    });
  }

  accepted(protocol: string): void {
    this.#isAccepted = true;
    this.#attempted(true);
    this.#arrived.accept({ edgeSocket: this }, protocol);
  }

  refused(refusal: SocketRefusal): void {
    this.#link = null;
    this.#attempted(true);
    this.#answer(refusal);
  }

  elsewhere(): void {
    this.#link = null;
    this.#attempted(false);
  }

  lost(): void {
    if (this.#isAccepted) this.end(closeCodes.goingAway.code, closeCodes.goingAway.reason);
    else this.elsewhere();
  }

  #answer({ status, headers, body }: SocketRefusal): void {
    if (this.#isOver) return;
    const { response } = this.#arrived;
    this.#end();
    if (status === "") {
      response.close();
      return;
    }
    response.cork(() => {
      response.writeStatus(status);
      for (let index = 0; index < headers.length; index += 2) {
        response.writeHeader(headers[index] ?? "", headers[index + 1] ?? "");
      }
      response.end(body, true);
    });
  }

  /** The client's side is open. */
  opened(socket: Socket): void {
    this.#socket = socket;
  }

  /** @param message valid during the call */
  received(message: Uint8Array, isBinary: boolean): void {
    if (this.#link?.frame(this.#id, message, isBinary, this.#frames) === false) this.#close(closeCodes.goingAway);
  }

  deliver({ part, isBinary }: Form, payload: Buffer): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#sentBytes = (this.#sentBytes + payload.length) >>> 0;
    if (this.#waitingBytes + payload.length > limits.socket_buffer_bytes_hard_max) this.#close(closeCodes.slowReader);
    else if (sends[part](socket, payload, isBinary) === sendStatus.buffered) this.#account();
  }

  /** The client has read some of the buffered bytes. */
  drained(): void {
    this.#account();
  }

  /** Counts what waits for this client, who has to reconnect if there is no room for it. */
  #account(): void {
    if (this.#socket === null) return;
    this.#waitingBytes = this.#socket.getBufferedAmount();
    this.#kept ??= this.#tools.messages.open();
    if (this.#kept.set(this.#waitingBytes)) this.#link?.report(this.#id);
    else this.#close(closeCodes.goingAway);
  }

  get progress() {
    return { takenBytes: (this.#sentBytes - this.#waitingBytes) >>> 0, isBehind: this.#waitingBytes > 0 };
  }

  /** The owner ends the socket, or it sends nothing more. */
  end(code: number, reason: string): void {
    this.#link = null;
    this.#close({ code, reason });
  }

  /** The client's side is closed. */
  closed(): void {
    this.#socket = null;
    this.#end();
  }

  #close({ code, reason }: { readonly code: number; readonly reason: string }): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#end();
    socket?.end(code, reason);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#kept?.release();
    this.#link?.leave(this.#id);
    this.#link = null;
    this.#attempted(false);
    this.#onEnd();
  }
}
