/**
 * A store that lacks turns which a journal or an archive has. It gets them in order, many in one transaction, which also
 * stores the number of the last one (M2).
 */
import { limits } from "../../../schemas/limits.ts";
import { decodeRowOf, encodeRow, nameOfKey } from "../../store/codec.ts";
import { StoreWriter } from "../../store/store-writer.ts";
import { turnKey } from "../../store/turn-number.ts";
import { nextTurn } from "./checkpoint.ts";
import { decodeRecord, type RecordedWrite, turnOf } from "./record.ts";

const metaTable = "meta";

export class LaggingStore {
  readonly #folder: string;
  readonly #writer: StoreWriter;
  #turn: number;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  /**
   * @param folder of a store whose pages are checked
   * @param isDraft nothing is flushed, because the folder is removed if this process ends before it has flushed all of it
   * @throws DamagedData when its version or its number is not readable
   */
  constructor(folder: string, isDraft = false) {
    this.#folder = folder;
    this.#writer = new StoreWriter(folder, isDraft);
    try {
      this.#turn = storedTurn(this.#writer);
    } catch (error) {
      void this.#writer.close();
      throw error;
    }
  }

  /** The last turn that it has. */
  get turn(): number {
    return this.#turn;
  }

  /** @throws JournalDamaged when it is not a record of this format */
  lacks(record: Uint8Array): boolean {
    return turnOf(record) > this.#turn;
  }

  /**
   * A turn that it has already is skipped. The bytes must not change before they are written.
   * @throws JournalDamaged as `write` does
   */
  add(record: Uint8Array): void {
    if (!this.lacks(record)) return;
    this.#waiting.push(record);
    this.#waitingBytes += record.length;
    if (this.#waitingBytes >= limits.checkpoint_bytes) this.write();
  }

  /** @throws JournalDamaged when a turn is missing: nothing that waited is written then */
  write(): void {
    const records = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    let last = this.#turn;
    for (const record of records) last = nextTurn(last, turnOf(record), this.#folder);
    if (last === this.#turn) return;
    const bytes = encodeRow("meta", turnKey, { value: last });
    const turnRow = { table: metaTable, key: nameOfKey(turnKey), bytes };
    this.#writer.write(rowsOfAll(records, turnRow), []);
    this.#turn = last;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

/** Decoded one after the other, because a start has tens of megabytes of them. A row may be written several times. */
function* rowsOfAll(records: readonly Uint8Array[], turnRow: RecordedWrite): Iterable<RecordedWrite> {
  for (const record of records) yield* decodeRecord(record).writes;
  yield turnRow;
}

function storedTurn(writer: StoreWriter): number {
  const bytes = writer.get(metaTable, nameOfKey(turnKey));
  return bytes === undefined ? 0 : (decodeRowOf(writer.file, "meta", turnKey, bytes).value as number);
}
