/**
 * The rows of the root environment: JSON with a seal (seal.ts). A root from a version without seals is read and written
 * without them until its owner seals it, because the older server may still be running on it.
 */
import type { RootDatabase } from "lmdb";
import { DamagedRow, namedIn } from "./damage.ts";
import { checkSeal, contentsOf, isSealed, seal, sealedSince } from "./seal.ts";

type RootKey = (string | number)[];

const table = "root";
const versionKey: RootKey = ["version"];

export class RootRows {
  readonly #database: RootDatabase<Buffer, RootKey>;
  readonly #file: string;
  /** Rows have seals, and a row without one is damaged. */
  #isSealed = false;

  /**
   * Reads all rows, because the root is small.
   * @throws DamagedData
   */
  constructor(database: RootDatabase<Buffer, RootKey>, file: string) {
    this.#database = database;
    this.#file = file;
    const version = database.get(versionKey);
    this.#isSealed = version === undefined || isSealed(version);
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
    void this.#database.put(key, this.#isSealed ? seal(table, key, bytes) : bytes);
  }

  /** Must be called inside `transactionSync`. */
  remove(key: RootKey): void {
    void this.#database.remove(key);
  }

  /** Seals every row. Must be called inside `transactionSync`, and only by the owner. */
  sealAll(): void {
    if (this.#isSealed) return;
    const rows = this.getRange({});
    this.#isSealed = true;
    for (const { key, value } of rows) this.put(key, value);
    this.put(versionKey, sealedSince);
  }

  transactionSync(work: () => void): void {
    // A block body: a returned promise would leave the transaction open (pitfalls 1.1).
    this.#database.transactionSync(() => {
      // Another process may own it by now and have sealed it.
      this.#isSealed ||= isSealed(this.#database.get(versionKey) as Buffer);
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
      if (this.#isSealed || isSealed(bytes)) {
        checkSeal(table, key, bytes);
        const { start, end } = contentsOf(bytes);
        return JSON.parse(bytes.toString("utf8", start, end));
      }
      return parsed(key, bytes);
    } catch (error) {
      throw namedIn(this.#file, error);
    }
  }
}

function parsed(key: RootKey, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new DamagedRow(table, key, "cannot be decoded");
  }
}
