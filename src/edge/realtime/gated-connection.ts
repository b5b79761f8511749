/**
 * A socket's connection behind its realm's gate: messages wait until everything that the realm's memory showed when
 * they were sent is durable (M1), and leave in order. Waiting messages count as buffered.
 */
import type { DurabilityGate } from "../../durability/journal/durability-gate.ts";
import { type SocketConnection, sendStatus } from "../transport/transport.ts";
import type { BufferedConnection, RecordNumber } from "./send-buffer.ts";

type Part = "whole" | "first" | "middle" | "last";

interface WaitingMessage {
  readonly part: Part;
  readonly data: string | Buffer;
  readonly isBinary: boolean;
  readonly bytes: number;
}

/** Nothing follows it. */
interface WaitingEnd {
  readonly code: number;
  readonly reason: string;
}

/** null: a message that is not sent any more. */
type Waiting = WaitingMessage | WaitingEnd | null;

/** The session of a connection. */
export interface ConnectionListener {
  /** No message waits for the gate any more. */
  drained(): void;
  /** The connection dropped a message that had passed the gate. Messages behind it are not sent. */
  dropped(): void;
}

function sendPart(connection: SocketConnection, part: Part, data: string | Buffer, isBinary: boolean): number {
  if (part === "whole") return connection.send(data, isBinary);
  const fragment = data as Buffer;
  if (part === "first") return connection.sendFirstFragment(fragment, isBinary);
  return part === "middle" ? connection.sendFragment(fragment) : connection.sendLastFragment(fragment);
}

export class GatedConnection implements BufferedConnection {
  readonly #connection: SocketConnection;
  readonly #gate: DurabilityGate;
  readonly #listener: ConnectionListener;
  /**
   * Messages that have not passed the gate yet; null if there are none, which is usual. The gate keeps nothing of them,
   * so a close frees their memory at once.
   */
  #waiting: Waiting[] | null = null;
  #waitingBytes = 0;
  #isClosed = false;
  /** The message that is being sent has passed the gate. */
  #hasPassed = false;
  /** Something that had passed could not be sent: only the end follows, so that the client knows of no gap (E3). */
  #isCut = false;
  /**
   * Whether the client may have something to read. Most have nothing when an event passes, and asking the connection
   * costs a call each time.
   */
  #mayBuffer = false;

  constructor(connection: SocketConnection, gate: DurabilityGate, listener: ConnectionListener) {
    this.#connection = connection;
    this.#gate = gate;
    this.#listener = listener;
  }

  send(data: string | Buffer, isBinary: boolean): number {
    return this.#send("whole", data, isBinary);
  }

  sendFirstFragment(data: Buffer, isBinary: boolean): number {
    return this.#send("first", data, isBinary);
  }

  sendFragment(data: Buffer): number {
    return this.#send("middle", data, false);
  }

  sendLastFragment(data: Buffer): number {
    return this.#send("last", data, false);
  }

  get shown(): RecordNumber {
    return this.#hasPassed ? 0 : this.#gate.newestRecord;
  }

  isOpenFor(position: RecordNumber): boolean {
    return this.#gate.isOpenFor(position);
  }

  wait(position: RecordNumber, goOn: () => void): void {
    this.#gate.waitFor(() => {
      if (this.#isClosed) return;
      goOn();
      this.#listener.drained();
    }, position);
  }

  /** Until `endPassed` everything that is sent has waited at the gate elsewhere, and leaves at once. */
  beginPassed(): void {
    this.#hasPassed = true;
  }

  endPassed(): void {
    this.#hasPassed = false;
  }

  /** Whether a message that has passed the gate may be sent without asking how much the client still has to read. */
  get isClear(): boolean {
    return this.#hasPassed && !this.#mayBuffer && !this.#isCut && !this.#isClosed;
  }

  /** For a connection whose end waits at the gate: what passes before it is still sent, and nothing else. */
  sendPassed(data: string | Buffer, isBinary: boolean): void {
    if (this.#hasPassed) this.send(data, isBinary);
  }

  /** Size of what waits for the gate: the client is not to blame for it. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  getBufferedAmount(): number {
    if (this.#isClosed || !this.#mayBuffer) return this.#waitingBytes;
    const buffered = this.#connection.getBufferedAmount();
    // Nothing passes the gate while the transport handles a message, so no collected bytes follow.
    if (this.#hasPassed && buffered === 0) this.#mayBuffer = false;
    return this.#waitingBytes + buffered;
  }

  /** The connection has said that the client has read something: an edge says so of what it has kept, too. */
  progressed(): void {
    this.#mayBuffer = true;
  }

  end(code: number, reason: string): void {
    if (this.#hasPassed) this.#cut();
    this.#pass({ code, reason }, 0);
  }

  /** The connection is closed: what waits is dropped. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = null;
    this.#waitingBytes = 0;
  }

  #send(part: Part, data: string | Buffer, isBinary: boolean): number {
    if (this.#hasPassed) return this.#sendPassed(part, data, isBinary);
    // The bytes may leave after this call: the transport collects what is sent while it handles a message.
    this.#mayBuffer = true;
    if (this.#waiting === null && this.#gate.isOpen) return sendPart(this.#connection, part, data, isBinary);
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.length;
    this.#pass({ part, data, isBinary, bytes }, bytes);
    return sendStatus.buffered;
  }

  #sendPassed(part: Part, data: string | Buffer, isBinary: boolean): number {
    if (this.#isCut || this.#isClosed) return sendStatus.dropped;
    const outcome = sendPart(this.#connection, part, data, isBinary);
    if (outcome === sendStatus.sent && part === "whole") return outcome;
    this.#mayBuffer = true;
    if (outcome === sendStatus.dropped) {
      this.#cut();
      this.#listener.dropped();
    }
    return outcome;
  }

  #pass(waiting: Waiting, bytes: number): void {
    this.#waiting ??= [];
    this.#waiting.push(waiting);
    this.#waitingBytes += bytes;
    this.#gate.waitFor(() => this.#next());
  }

  #next(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const next = waiting.shift() ?? null;
    if (waiting.length === 0) this.#waiting = null;
    if (next !== null && "code" in next) this.#connection.end(next.code, next.reason);
    else if (next !== null) {
      this.#waitingBytes -= next.bytes;
      this.#mayBuffer = true;
      if (sendPart(this.#connection, next.part, next.data, next.isBinary) === sendStatus.dropped) {
        this.#cut();
        this.#listener.dropped();
        return;
      }
    }
    if (this.#waiting === null && !this.#isClosed) this.#listener.drained();
  }

  /** The end still leaves, when what it shows is durable: each keeps its place at the gate. */
  #cut(): void {
    this.#isCut = true;
    this.#waiting = this.#waiting?.map((waiting) => (waiting !== null && "code" in waiting ? waiting : null)) ?? null;
    this.#waitingBytes = 0;
  }
}
