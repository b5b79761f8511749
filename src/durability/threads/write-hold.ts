/**
 * Keeps a thread from beginning another transaction of LMDB when the process is about to exit. Node ends its threads
 * then; one that it ends within a transaction keeps the lock of the writer, and its clean-up waits for that lock for
 * ever, and so does the exit (pitfalls 1.2).
 */

/** Bits of the state. */
const writing = 1;
const stopped = 2;

export class WriteGate {
  readonly memory: SharedArrayBuffer;
  readonly #state: Int32Array;

  /** @param memory that of the main thread, in another one */
  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#state = new Int32Array(memory);
  }

  /** In the thread: a transaction. It does not begin, and this does not return, when the process is about to exit. */
  during<Result>(transaction: () => Result): Result {
    while (Atomics.compareExchange(this.#state, 0, 0, writing) & stopped) Atomics.wait(this.#state, 0, stopped);
    try {
      return transaction();
    } finally {
      Atomics.and(this.#state, 0, stopped);
      Atomics.notify(this.#state, 0);
    }
  }

  /** In the main thread, which is blocked meanwhile. @returns false if a transaction is not over by then */
  stop(msMax: number): boolean {
    Atomics.or(this.#state, 0, stopped);
    // It does not wait if nothing is being written.
    return Atomics.wait(this.#state, 0, writing | stopped, msMax) !== "timed-out";
  }
}

/** The gate of the checkpoint thread. */
export const writeGate = new WriteGate();
