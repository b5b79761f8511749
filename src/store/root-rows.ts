/** The rows of the root environment: JSON with a seal (codec.ts). */
import type { RootDatabase } from "lmdb";
import { checkSeal, contentsOf, seal } from "./codec.ts";
import { namedIn } from "./damage.ts";
import { fromBefore } from "./migrations.ts";

type RootKey = (string | number)[];

const table = "root";
/** The row that held the version before the first release. */
const formerKey: RootKey = ["version"];

export class RootRows {
  readonly #database: RootDatabase<Buffer, RootKey>;
  readonly #file: string;

  /**
   * Reads all rows, because the root is small.
   * @throws DamagedData, UnknownFormat
   */
  constructor(database: RootDatabase<Buffer, RootKey>, file: string) {
    this.#database = database;
    this.#file = file;
    if (database.doesExist(formerKey)) throw fromBefore("the data");
    this.getRange({});
  }

  /** @throws DamagedData */
  get(key: RootKey): unknown {
    const bytes = this.#database.get(key);
    return bytes === undefined ? undefined : this.#read(key, bytes);
  }

  /**
   * Ordered by key.
   * @throws DamagedData
   */
  getRange(range: { readonly start?: RootKey; readonly end?: RootKey }): { key: RootKey; value: unknown }[] {
    const entries = [...this.#database.getRange(range as object)];
    return entries.map(({ key, value }) => ({ key, value: this.#read(key, value) }));
  }

  /** Must be called inside `transactionSync`. */
  put(key: RootKey, value: unknown): void {
    const bytes = Buffer.from(JSON.stringify(value));
    void this.#database.put(key, seal(table, key, bytes));
  }

  /** Must be called inside `transactionSync`. */
  remove(key: RootKey): void {
    void this.#database.remove(key);
  }

  transactionSync(work: () => void): void {
    // A block body: a returned promise would leave the transaction open (pitfalls 1.1).
    this.#database.transactionSync(() => {
      work();
    });
  }

  /** Makes writes of other processes visible now, instead of in the next iteration of the event loop. */
  resetReadTxn(): void {
    this.#database.resetReadTxn();
  }

  backup(folder: string): Promise<void> {
    this.#database.readerCheck();
    return this.#database.backup(folder, true);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #read(key: RootKey, bytes: Buffer): unknown {
    try {
      checkSeal(table, key, bytes);
      const { start, end } = contentsOf(bytes);
      return JSON.parse(bytes.toString("utf8", start, end));
    } catch (error) {
      throw namedIn(this.#file, error);
    }
  }
}
