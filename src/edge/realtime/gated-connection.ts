/**
 * A socket's connection behind its realm's gate: messages wait until everything that the realm's memory showed when
 * they were sent is durable (M1), and leave in order. Waiting messages count as buffered.
 */
import type { DurabilityGate } from "../../durability/journal/durability-gate.ts";
import { type SocketConnection, sendStatus } from "../transport/transport.ts";
import type { BufferedConnection, RecordNumber } from "./send-buffer.ts";

interface Waiting {
  readonly message: (connection: SocketConnection) => number;
  readonly bytes: number;
  /** Nothing follows it. */
  readonly isEnd: boolean;
}

const nothing: Waiting = { message: () => sendStatus.sent, bytes: 0, isEnd: false };

export class GatedConnection implements BufferedConnection {
  readonly #connection: SocketConnection;
  readonly #gate: DurabilityGate;
  /** Messages that have not passed the gate yet. The gate keeps nothing of them, so a close frees their memory at once. */
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  /** The message that is being sent has passed the gate. */
  #hasPassed = false;
  /** Something that had passed could not be sent: only the end follows, so that the client knows of no gap (E3). */
  #isCut = false;
  #onLeft: () => void = () => undefined;
  #onDropped: () => void = () => undefined;

  constructor(connection: SocketConnection, gate: DurabilityGate) {
    this.#connection = connection;
    this.#gate = gate;
  }

  /** Sets the listener that is called when no message waits for the gate any more. */
  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  /**
   * Sets the listener that is called when the connection drops a message that waited. Messages behind it are not sent.
   */
  onDropped(listener: () => void): void {
    this.#onDropped = listener;
  }

  send(data: string | Buffer, isBinary: boolean): number {
    return this.#leave(data, (connection) => connection.send(data, isBinary));
  }

  sendFirstFragment(data: Buffer, isBinary: boolean): number {
    return this.#leave(data, (connection) => connection.sendFirstFragment(data, isBinary));
  }

  sendFragment(data: Buffer): number {
    return this.#leave(data, (connection) => connection.sendFragment(data));
  }

  sendLastFragment(data: Buffer): number {
    return this.#leave(data, (connection) => connection.sendLastFragment(data));
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
      this.#onLeft();
    }, position);
  }

  /** Runs `send`, whose messages have waited at the gate elsewhere, in their place in its order: they leave at once. */
  passed(send: () => void): void {
    this.#hasPassed = true;
    try {
      send();
    } finally {
      this.#hasPassed = false;
    }
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
    return this.#waitingBytes + (this.#isClosed ? 0 : this.#connection.getBufferedAmount());
  }

  end(code: number, reason: string): void {
    if (this.#hasPassed) this.#cut();
    const message = (connection: SocketConnection) => {
      connection.end(code, reason);
      return sendStatus.sent;
    };
    this.#pass({ message, bytes: 0, isEnd: true });
  }

  /** The connection is closed: what waits is dropped. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #leave(data: string | Buffer, message: (connection: SocketConnection) => number): number {
    if (this.#hasPassed) return this.#leavePassed(message);
    if (this.#waiting.length === 0 && this.#gate.isOpen) return message(this.#connection);
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.length;
    this.#pass({ message, bytes, isEnd: false });
    return sendStatus.buffered;
  }

  #leavePassed(message: (connection: SocketConnection) => number): number {
    if (this.#isCut || this.#isClosed) return sendStatus.dropped;
    const outcome = message(this.#connection);
    if (outcome !== sendStatus.dropped) return outcome;
    this.#cut();
    this.#onDropped();
    return outcome;
  }

  #pass(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.bytes;
    this.#gate.waitFor(this.#next);
  }

  readonly #next = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#waitingBytes -= next.bytes;
    if (next.message(this.#connection) === sendStatus.dropped) {
      this.#cut();
      this.#onDropped();
      return;
    }
    if (this.#waiting.length === 0 && !this.#isClosed) this.#onLeft();
  };

  /** The end still leaves, when what it shows is durable: each keeps its place at the gate. */
  #cut(): void {
    this.#isCut = true;
    this.#waiting = this.#waiting.map((waiting) => (waiting.isEnd ? waiting : nothing));
    this.#waitingBytes = 0;
  }
}
