/**
 * Reads the rows of one file. Errors name the file; a row without a seal is accepted only in a store that is older than
 * seals.
 */
import type { RowOf, TableName } from "../../schemas/records.ts";
import { decodeRow } from "./codec.ts";
import { namedIn } from "./damage.ts";
import { sealedSince } from "./seal.ts";

export class RowReader {
  readonly #file: string;
  /** True until the version is known: the first byte of its own row shows whether it is sealed. */
  #mayBeUnsealed = true;

  /**
   * @param version the row `version` of the table `meta`; undefined in a new store
   * @throws DamagedData
   */
  constructor(file: string, version: Uint8Array | undefined) {
    this.#file = file;
    const stored = version === undefined ? sealedSince : (this.read("meta", "version", version).value as number);
    if (stored >= sealedSince) this.requireSeals();
  }

  /** From now on a row without a seal is damaged. */
  requireSeals(): void {
    this.#mayBeUnsealed = false;
  }

  /** @throws DamagedData when the bytes differ from those written under this key */
  read<T extends TableName>(table: T, key: unknown, bytes: Uint8Array): RowOf<T> {
    try {
      return decodeRow(table, key, bytes, this.#mayBeUnsealed);
    } catch (error) {
      throw namedIn(this.#file, error);
    }
  }
}
