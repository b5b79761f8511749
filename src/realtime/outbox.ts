/**
 * What goes out on one socket, in order. What the kernel does not take at once counts against the sum of what is unsent (S3). A large
 * answer goes in fragments, each when the client has taken most of those before, so that uWebSockets.js never buffers more than the
 * soft bound; what is sent meanwhile waits behind it.
 */
import { limits } from "../../schemas/limits.ts";
import type { Holding, UnsentBytes } from "../runtime/unsent-bytes.ts";
import type { TimerWheel } from "../runtime/wheel.ts";
import type { Connection } from "./socket-host.ts";

/** What `send` says when uWS buffered the bytes, and when it did not take them (pitfalls 2.3). */
const buffered = 0;
const dropped = 2;

interface Waiting {
  readonly data: string | Buffer;
  readonly isBinary: boolean;
  readonly size: number;
  /** It goes in fragments. */
  readonly isLarge: boolean;
}

export interface OutboxOptions {
  readonly connection: Connection;
  readonly unsent: UnsentBytes;
  /** Whose share it is. */
  readonly who: () => string;
  /** The client has not taken enough in its time, or others need the room. */
  readonly onStalled: () => void;
  readonly wheel: Pick<TimerWheel, "set" | "cancel">;
}

/** "slow": the reader has left too much unread, and must go. "full": there is no room for it, and nothing of it was sent. */
export type Sent = "sent" | "slow" | "full";

let outboxes = 0;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting: Waiting[] = [];
  /** How much of the first one has gone. */
  #offset = 0;
  /** In bytes, of those that wait: large answers, and the rest. */
  #large = 0;
  #small = 0;
  #holding: Holding | null = null;
  /** Name of the timer that watches a large answer; null: it never had to be set. */
  #timer: string | null = null;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** What the client has not taken, without a large answer that is on its way. */
  get bufferedBytes(): number {
    const { connection } = this.#options;
    return connection.getBufferedAmount() + this.#small + (this.#large > 0 ? limits.socket_fragment_bytes : 0);
  }

  /** Whether something was not handed over to the connection yet. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  send(data: string | Buffer, isBinary: boolean): Sent {
    return this.#send(data, isBinary) ? "sent" : "slow";
  }

  /** As `send`, but one that is large goes in fragments. */
  sendAnswer(data: string | Buffer, isBinary: boolean): Sent {
    // A character has at most three bytes.
    if (3 * data.length <= limits.answer_small_bytes_max) return this.send(data, isBinary);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    if (bytes.length <= limits.answer_small_bytes_max) return this.send(data, isBinary);
    return this.#sendLarge(bytes, isBinary) ? "sent" : "full";
  }

  #send(data: string | Buffer, isBinary: boolean): boolean {
    const { connection } = this.#options;
    if (this.#waiting.length > 0) {
      const size = typeof data === "string" ? Buffer.byteLength(data) : data.length;
      if (this.#small + size > limits.socket_buffer_bytes_soft_max) return false;
      this.#waiting.push({ data, isBinary, size, isLarge: false });
      this.#small += size;
      return this.#account();
    }
    if (connection.getBufferedAmount() > limits.socket_buffer_bytes_soft_max) return false;
    const said = connection.send(data, isBinary);
    if (said === dropped) return false;
    return said === buffered ? this.#account() : true;
  }

  #sendLarge(data: Buffer, isBinary: boolean): boolean {
    if (!this.#hold(this.#unsent() + data.length)) return false;
    this.#waiting.push({ data, isBinary, size: data.length, isLarge: true });
    this.#large += data.length;
    if (this.#waiting.length === 1) this.#watch();
    this.drained();
    return true;
  }

  /** The client has taken something. */
  drained(): void {
    const { connection } = this.#options;
    const wasWaiting = this.#waiting.length > 0;
    let hasMoved = false;
    while (this.#waiting.length > 0 && connection.getBufferedAmount() < limits.socket_buffer_bytes_soft_max / 2) {
      this.#sendNext();
      hasMoved = true;
    }
    if (hasMoved && this.#waiting.length > 0) this.#watch();
    if (wasWaiting && this.#waiting.length === 0) this.#unwatch();
    if (this.#holding !== null) this.#account();
  }

  /** The connection is over. */
  close(): void {
    this.#waiting.length = 0;
    this.#large = 0;
    this.#small = 0;
    this.#unwatch();
    this.#holding?.release();
    this.#holding = null;
  }

  #sendNext(): void {
    const { connection } = this.#options;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const { data, isBinary, size } = next;
    if (typeof data === "string" || !next.isLarge) {
      connection.send(data, isBinary);
      this.#small -= size;
      this.#waiting.shift();
      return;
    }
    const end = Math.min(this.#offset + limits.socket_fragment_bytes, size);
    const piece = data.subarray(this.#offset, end);
    const isFirst = this.#offset === 0;
    this.#offset = end;
    if (end < size) {
      if (isFirst) connection.sendFirstFragment(piece, isBinary);
      else connection.sendFragment(piece);
      return;
    }
    connection.sendLastFragment(piece);
    this.#large -= size;
    this.#offset = 0;
    this.#waiting.shift();
  }

  #watch(): void {
    outboxes++;
    this.#timer ??= `outbox:${outboxes}`;
    this.#options.wheel.set(this.#timer, limits.unsent_stall_ms_max, this.#options.onStalled);
  }

  #unwatch(): void {
    if (this.#timer !== null) this.#options.wheel.cancel(this.#timer);
  }

  #unsent(): number {
    return this.#large + this.#small + this.#options.connection.getBufferedAmount();
  }

  #account(): boolean {
    const bytes = this.#unsent();
    if (bytes > 0) return this.#hold(bytes);
    this.#holding?.release();
    this.#holding = null;
    return true;
  }

  #hold(bytes: number): boolean {
    if (this.#holding !== null) return this.#holding.resize(bytes);
    const { unsent, who, onStalled } = this.#options;
    this.#holding = unsent.hold(who(), bytes, onStalled);
    return this.#holding !== null;
  }
}
