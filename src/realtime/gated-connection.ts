/**
 * A socket's connection behind its realm's gate: messages wait until everything that the realm's memory showed when
 * they were sent is durable (M1), and leave in order. What waits counts as buffered.
 */
import type { Gate } from "../journal/gate.ts";
import { type SocketConnection, sendStatus } from "../transport/transport.ts";

export class GatedConnection implements SocketConnection {
  readonly #connection: SocketConnection;
  readonly #gate: Gate;
  /** Messages that have not passed the gate yet. */
  #waiting = 0;
  #waitingBytes = 0;
  #isClosed = false;
  #onLeft: () => void = () => undefined;

  constructor(connection: SocketConnection, gate: Gate) {
    this.#connection = connection;
    this.#gate = gate;
  }

  /** Sets who is told when nothing waits for the gate any more. */
  onLeft(listener: () => void): void {
    this.#onLeft = listener;
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

  /** Size of what waits for the gate: the client is not to blame for it. */
  get heldBytes(): number {
    return this.#waitingBytes;
  }

  getBufferedAmount(): number {
    return this.#waitingBytes + (this.#isClosed ? 0 : this.#connection.getBufferedAmount());
  }

  end(code: number, reason: string): void {
    this.#pass((connection) => connection.end(code, reason));
  }

  /** The connection is closed: what waits is dropped. */
  closed(): void {
    this.#isClosed = true;
  }

  #leave(data: string | Buffer, message: (connection: SocketConnection) => number): number {
    if (this.#waiting === 0 && this.#gate.isOpen) return message(this.#connection);
    const bytes = typeof data === "string" ? Buffer.byteLength(data) : data.length;
    this.#waitingBytes += bytes;
    this.#pass((connection) => {
      this.#waitingBytes -= bytes;
      message(connection);
    });
    return sendStatus.buffered;
  }

  #pass(message: (connection: SocketConnection) => void): void {
    this.#waiting++;
    this.#gate.pass(() => {
      this.#waiting--;
      if (this.#isClosed) return;
      message(this.#connection);
      if (this.#waiting === 0) this.#onLeft();
    });
  }
}
