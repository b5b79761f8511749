/**
 * The send queue of one socket. Bytes that the kernel does not take at once count against the total of unsent bytes
 * (S3). A large answer is sent in fragments, each when the client has read most of the previous ones, so that
 * uWebSockets.js never buffers more than the soft bound.
 */

import { limits } from "../../../schemas/limits.ts";
import type { DurabilityGate } from "../../durability/journal/durability-gate.ts";
import type { ReservedBytes, UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { VolatileTimers } from "../../runtime/volatile-timers.ts";
import { type AnswerBody, AnswerBytes } from "../http/reply.ts";
import { type SocketConnection, sendStatus } from "../transport/transport.ts";

export type RecordNumber = DurabilityGate["newestRecord"];

/**
 * A connection whose messages wait at a gate (gated-connection.ts). Messages that wait here do not pass it a second
 * time.
 */
export interface BufferedConnection extends SocketConnection {
  /** The last record that a message shows which is sent now. */
  readonly shown: RecordNumber;
  /** Whether a message that shows this record may leave. */
  isOpenFor(position: RecordNumber): boolean;
  /** Runs `goOn` in the order of the gate when such a message may leave. */
  wait(position: RecordNumber, goOn: () => void): void;
  /** Messages that are sent until `endPassed` leave at once. */
  beginPassed(): void;
  endPassed(): void;
}

interface Waiting {
  readonly isBinary: boolean;
  readonly size: number;
  readonly shown: RecordNumber;
}

interface WaitingMessage extends Waiting {
  readonly data: string | Buffer;
}

/** Sent in fragments. */
interface WaitingAnswer extends Waiting {
  readonly data: AnswerBytes;
}

/** The session whose messages wait. */
export interface SendBufferOwner {
  readonly unsent: UnsentBytes;
  readonly volatileTimers: Pick<VolatileTimers, "set" | "cancel">;
  /** The user or address whose share is charged. */
  readonly sender: string;
  /** The client did not read enough in time, or other connections need the memory. */
  stalled(): void;
}

/**
 * "slow": the reader has left too much unread and must be closed. "full": there is no room for the message, and nothing
 * of it was sent.
 */
export type Sent = "sent" | "slow" | "full";

let outboxes = 0;

export class SendBuffer {
  readonly #connection: BufferedConnection;
  readonly #owner: SendBufferOwner;
  /** null if there are none, which is usual. */
  #waiting: (WaitingMessage | WaitingAnswer)[] | null = null;
  /** Number of bytes of the first message that were sent. */
  #offset = 0;
  /** Bytes waiting: in large answers, and in all other messages. */
  #large = 0;
  #small = 0;
  #reserved: ReservedBytes | null = null;
  /** The first message waits at the gate. */
  #isPostponed = false;
  /** Messages that show this record have passed the gate. */
  #passedUpTo: RecordNumber = 0;
  /** Name of the timer that watches a large answer; null if it was never set. */
  #timer: string | null = null;

  constructor(connection: BufferedConnection, owner: SendBufferOwner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  /** Unread bytes, not counting the rest of a large answer that is being sent. */
  get bufferedBytes(): number {
    return this.#connection.getBufferedAmount() + this.#small + (this.#large > 0 ? limits.socket_fragment_bytes : 0);
  }

  /** Whether some messages were not yet handed to the connection. */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** Nothing waits and nothing is charged. */
  get isIdle(): boolean {
    return this.#waiting === null && this.#reserved === null;
  }

  /** Charges what the connection has buffered. */
  account(): Sent {
    return this.#account() ? "sent" : "slow";
  }

  send(data: string | Buffer, isBinary: boolean): Sent {
    return this.#send(data, isBinary) ? "sent" : "slow";
  }

  /** Like `send`, but a large message is sent in fragments. */
  sendAnswer(body: AnswerBody, isBinary: boolean): Sent {
    // A UTF-16 code unit has at most three bytes in UTF-8.
    if (typeof body === "string" && 3 * body.length <= limits.answer_small_bytes_max) return this.send(body, isBinary);
    const bytes = new AnswerBytes(body);
    if (bytes.size > limits.answer_small_bytes_max) return this.#sendLarge(bytes, isBinary) ? "sent" : "full";
    return this.send(bytes.from(0) ?? "", isBinary);
  }

  #send(data: string | Buffer, isBinary: boolean): boolean {
    const connection = this.#connection;
    if (this.#waiting !== null) {
      const size = typeof data === "string" ? Buffer.byteLength(data) : data.length;
      if (this.#small + size > limits.socket_buffer_bytes_soft_max) return false;
      this.#waiting.push({ data, isBinary, size, shown: connection.shown });
      this.#small += size;
      return this.#account();
    }
    if (connection.getBufferedAmount() > limits.socket_buffer_bytes_soft_max) return false;
    const outcome = connection.send(data, isBinary);
    if (outcome === sendStatus.dropped) return false;
    return outcome === sendStatus.buffered ? this.#account() : true;
  }

  #sendLarge(data: AnswerBytes, isBinary: boolean): boolean {
    const { size } = data;
    if (!this.#reserve(this.#unsent() + size)) return false;
    this.#waiting ??= [];
    this.#waiting.push({ data, isBinary, size, shown: this.#connection.shown });
    this.#large += size;
    if (this.#waiting.length === 1) this.#watch();
    this.drained();
    return true;
  }

  /** The client has read some bytes. */
  drained(): void {
    const wasWaiting = this.isWaiting;
    let hasMoved = false;
    while (this.#mayMove()) {
      this.#sendNextPassed();
      hasMoved = true;
    }
    if (hasMoved && this.isWaiting) this.#watch();
    if (wasWaiting && !this.isWaiting) this.#unwatch();
    if (this.#reserved !== null) this.#account();
  }

  #mayMove(): boolean {
    const connection = this.#connection;
    const next = this.#waiting?.[0];
    if (next === undefined || this.#isPostponed) return false;
    if (next.shown > this.#passedUpTo && !connection.isOpenFor(next.shown)) {
      this.#isPostponed = true;
      connection.wait(next.shown, () => {
        this.#isPostponed = false;
        this.#passedUpTo = next.shown;
        this.drained();
      });
      return false;
    }
    return connection.getBufferedAmount() < limits.socket_buffer_bytes_soft_max / 2;
  }

  /** The connection is closed. */
  close(): void {
    this.#waiting = null;
    this.#large = 0;
    this.#small = 0;
    this.#unwatch();
    this.#reserved?.release();
    this.#reserved = null;
  }

  #sendNextPassed(): void {
    this.#connection.beginPassed();
    try {
      this.#sendNext();
    } finally {
      this.#connection.endPassed();
    }
  }

  #sendNext(): void {
    const connection = this.#connection;
    const next = this.#waiting?.[0];
    if (next === undefined) return;
    const { data, isBinary, size } = next;
    if (!(data instanceof AnswerBytes)) {
      this.#small -= size;
      this.#removeFirst();
      connection.send(data, isBinary);
      return;
    }
    const isFirst = this.#offset === 0;
    const chunk = data.from(this.#offset)?.subarray(0, limits.socket_fragment_bytes) ?? Buffer.alloc(0);
    const end = this.#offset + chunk.length;
    this.#offset = end;
    if (end < size) {
      if (isFirst) connection.sendFirstFragment(chunk, isBinary);
      else connection.sendFragment(chunk);
      return;
    }
    this.#large -= size;
    this.#offset = 0;
    this.#removeFirst();
    connection.sendLastFragment(chunk);
  }

  #removeFirst(): void {
    this.#waiting?.shift();
    if (this.#waiting?.length === 0) this.#waiting = null;
  }

  #watch(): void {
    outboxes++;
    this.#timer ??= `outbox:${outboxes}`;
    const owner = this.#owner;
    owner.volatileTimers.set(this.#timer, limits.unsent_stall_ms_max, () => owner.stalled());
  }

  #unwatch(): void {
    if (this.#timer !== null) this.#owner.volatileTimers.cancel(this.#timer);
  }

  #unsent(): number {
    return this.#large + this.#small + this.#connection.getBufferedAmount();
  }

  #account(): boolean {
    const bytes = this.#unsent();
    if (bytes > 0) return this.#reserve(bytes);
    this.#reserved?.release();
    this.#reserved = null;
    return true;
  }

  #reserve(bytes: number): boolean {
    if (this.#reserved !== null) return this.#reserved.resize(bytes);
    const owner = this.#owner;
    this.#reserved = owner.unsent.reserve(owner.sender, bytes, () => owner.stalled());
    return this.#reserved !== null;
  }
}
