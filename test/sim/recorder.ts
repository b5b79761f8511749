/**
 * Records what the server writes: a committed transaction becomes part of the replica; one without a known result is in
 * doubt until the disk is read again.
 */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { encodeRow } from "../../src/store/codec.ts";
import type { Environment, PreparedWrite } from "../../src/store/environment.ts";
import type { Replica, Write } from "./replica.ts";
import { StoreTap } from "./store-tap.ts";

export class Recorder extends StoreTap {
  readonly #replica: Replica;
  readonly #committed: (writes: readonly Write[]) => void;
  #staged: Write[] = [];
  /** Writes of the transaction during which the machine went down. */
  inDoubt: readonly Write[] = [];

  /** @param committed is called with each transaction before its rows are in the replica */
  constructor(inner: Environment, replica: Replica, committed: (writes: readonly Write[]) => void) {
    super(inner);
    this.#replica = replica;
    this.#committed = committed;
  }

  override write(prepared: PreparedWrite): void {
    super.write(prepared);
    this.#staged.push({ table: prepared.table, key: prepared.key, bytes: prepared.bytes });
  }

  override put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number {
    const bytes = super.put(table, key, row);
    this.#staged.push({ table, key, bytes: encodeRow(table, key, row) });
    return bytes;
  }

  override remove<T extends TableName>(table: T, key: KeyOf<T>): void {
    super.remove(table, key);
    this.#staged.push({ table, key, bytes: null });
  }

  override transaction<R>(work: () => R): R {
    const isOutermost = !this.isWriting;
    const before = this.#staged.length;
    try {
      const result = super.transaction(work);
      if (isOutermost) this.#conclude();
      return result;
    } catch (error) {
      if (isOutermost) this.inDoubt = this.#staged;
      if (isOutermost) this.#staged = [];
      else this.#staged.length = before;
      throw error;
    }
  }

  #conclude(): void {
    const writes = this.#staged;
    this.#staged = [];
    this.#committed(writes);
    for (const write of writes) this.#replica.apply(write);
  }
}
