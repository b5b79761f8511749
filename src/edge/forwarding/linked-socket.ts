/**
 * The socket of a client whose connection another node has, as its owner's sessions see it. Bytes that wait for the
 * link, and bytes that have reached the edge but not the client, count as buffered.
 */
import { limits } from "../../../schemas/limits.ts";
import { sendStatus, type TransportSocket } from "../transport/transport.ts";
import type { Part } from "./link-messages.ts";
import type { End, Own, Receiver } from "./link-queue.ts";

/** The link that a socket uses. Both return false if nothing was kept. */
export interface SocketLink {
  pushShared(socket: LinkedSocket, payload: Buffer, isBinary: boolean): boolean;
  pushOwn(socket: LinkedSocket, message: Own): boolean;
  /** Calls the route's `closed` before it returns. */
  end(socket: LinkedSocket, end: End): void;
}

export class LinkedSocket implements TransportSocket<object>, Receiver {
  readonly id: number;
  readonly #data: object;
  readonly #link: SocketLink;
  waitingBytes = 0;
  lastShared = 0;
  isGone = false;
  /** The session has ended it, or knows that the client is gone. */
  isClosed = false;
  /** Bytes on their way to the client, and those that have left the edge, modulo 2^32. */
  #sentBytes = 0;
  #takenBytes = 0;
  /** Some of them wait at the edge. Otherwise what is on its way counts as sent, as in the buffers of a kernel. */
  #isBehind = false;

  constructor(id: number, data: object, link: SocketLink) {
    this.id = id;
    this.#data = data;
    this.#link = link;
  }

  getUserData(): object {
    return this.#data;
  }

  getBufferedAmount(): number {
    return this.#isBehind ? this.waitingBytes + ((this.#sentBytes - this.#takenBytes) >>> 0) : this.waitingBytes;
  }

  send(data: string | Buffer, isBinary: boolean): number {
    if (this.isClosed) return sendStatus.dropped;
    const isKept =
      typeof data === "string"
        ? this.#sendAlone(Buffer.from(data), isBinary)
        : data.length > limits.forward_link_shared_message_bytes_max
          ? this.#sendAlone(data, isBinary)
          : this.#hasRoomFor(data) && this.#link.pushShared(this, data, isBinary);
    return this.#statusOf(isKept);
  }

  /** A message that is for this client only, or so long that it leaves in pieces. */
  #sendAlone(data: Buffer, isBinary: boolean): boolean {
    const bytes = limits.socket_fragment_bytes;
    if (data.length <= bytes) return this.#pushOwn("whole", data, isBinary);
    for (let from = 0; from < data.length; from += bytes) {
      const part = from === 0 ? "first" : from + bytes < data.length ? "middle" : "last";
      if (!this.#pushOwn(part, data.subarray(from, from + bytes), isBinary)) return false;
    }
    return true;
  }

  sendFirstFragment(data: Buffer, isBinary: boolean): number {
    return this.#statusOf(this.#pushOwn("first", data, isBinary));
  }

  sendFragment(data: Buffer): number {
    return this.#statusOf(this.#pushOwn("middle", data, false));
  }

  sendLastFragment(data: Buffer): number {
    return this.#statusOf(this.#pushOwn("last", data, false));
  }

  #pushOwn(part: Part, payload: Buffer, isBinary: boolean): boolean {
    return !this.isClosed && this.#hasRoomFor(payload) && this.#link.pushOwn(this, { part, isBinary, payload });
  }

  #hasRoomFor({ length }: Buffer): boolean {
    return this.getBufferedAmount() + length <= limits.socket_buffer_bytes_hard_max;
  }

  #statusOf(isKept: boolean): number {
    if (!isKept) return sendStatus.dropped;
    return this.getBufferedAmount() > 0 ? sendStatus.buffered : sendStatus.sent;
  }

  end(code: number, reason: string): void {
    if (!this.isClosed) this.#link.end(this, { code, reason });
  }

  /** So many bytes are on their way to the client. */
  handedOver(bytes: number): void {
    this.#sentBytes = (this.#sentBytes + bytes) >>> 0;
  }

  /** The edge says how much has left it. */
  progressed(takenBytes: number, isBehind: boolean): void {
    this.#takenBytes = takenBytes;
    this.#isBehind = isBehind;
  }
}
