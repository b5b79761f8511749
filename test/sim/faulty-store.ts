/**
 * The disk of a simulated machine: LMDB itself, with planned faults. A crash before the commit, or between two rows,
 * discards the transaction; a crash after it leaves it on disk without a response. A dead machine sends nothing.
 */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Environment, PreparedWrite } from "../../src/store/environment.ts";
import { StoreTap } from "./store-tap.ts";

export type StoreFault =
  | { readonly kind: "crash before commit" }
  | { readonly kind: "crash after commit" }
  /** Happens after this many rows of a transaction. */
  | { readonly kind: "crash between rows"; readonly rows: number }
  | { readonly kind: "failed commit" }
  | { readonly kind: "slow flush"; readonly ms: number }
  | { readonly kind: "clock set back"; readonly ms: number }
  | { readonly kind: "clock jumps ahead"; readonly ms: number; readonly lastingMs: number };

/** The machine has stopped: code that still runs has no visible effect. */
export class MachineDown extends Error {
  override readonly name = "MachineDown";
}

export interface FaultPlan {
  /** Called when a transaction starts. @returns its fault, if any */
  draw(): StoreFault | null;
  /** Time that passes while the disk is busy. */
  slowed(fault: StoreFault): void;
  /** The fault has happened. */
  met(fault: StoreFault): void;
}

export class FaultyStore extends StoreTap {
  readonly #plan: FaultPlan;
  #rowsLeft = Number.POSITIVE_INFINITY;
  #isDown = false;
  #hasFailed = false;

  constructor(inner: Environment, plan: FaultPlan) {
    super(inner);
    this.#plan = plan;
  }

  /** The process saw a commit error: it must exit before it sends anything (M5). */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  kill(): void {
    this.#isDown = true;
  }

  override write(prepared: PreparedWrite): void {
    this.#countRow();
    super.write(prepared);
  }

  override put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number {
    this.#countRow();
    return super.put(table, key, row);
  }

  override remove<T extends TableName>(table: T, key: KeyOf<T>): void {
    this.#countRow();
    super.remove(table, key);
  }

  #countRow(): void {
    if (this.#isDown || this.#rowsLeft <= 0) this.#goDown();
    this.#rowsLeft--;
  }

  #goDown(): never {
    this.#isDown = true;
    throw new MachineDown();
  }

  override transaction<R>(work: () => R): R {
    if (this.#isDown) throw new MachineDown();
    if (this.isWriting) return super.transaction(work);
    const fault = this.#plan.draw();
    if (fault === null) return super.transaction(work);
    try {
      return this.#runWith(fault, work);
    } finally {
      this.#plan.met(fault);
    }
  }

  #runWith<R>(fault: StoreFault, work: () => R): R {
    this.#rowsLeft = fault.kind === "crash between rows" ? fault.rows : Number.POSITIVE_INFINITY;
    const result = super.transaction(() => {
      const done = work();
      if (fault.kind === "crash before commit" || fault.kind === "crash between rows") this.#goDown();
      if (fault.kind === "failed commit") {
        this.#hasFailed = true;
        throw new Error("Input/output error");
      }
      return done;
    });
    if (fault.kind === "crash after commit") this.#goDown();
    this.#plan.slowed(fault);
    return result;
  }
}
