/** The work done by one read in one pass of the event loop, relative to its limit (S3). */
import { limits } from "../../schemas/limits.ts";
import type { Share } from "./passes.ts";

/** Seeks that cost as much as examining one message. */
const seeksPerRow = 4;
/** Index entries that cost as much as examining one message. */
const entriesPerRow = 8;
/** Characters read from disk that cost as much as folding one. */
const readCharactersPerFold = 8;

/** Characters written as JSON that cost as much as folding one. */
const encodedCharactersPerFold = 8;

export class PassBudget {
  rows = 0;
  seeks = 0;
  entries = 0;
  /** Folded or compared. */
  characters = 0;
  /** In rows that were read. */
  readCharacters = 0;
  /** In JSON that was written. */
  encodedCharacters = 0;

  get share(): Share {
    const rows = this.rows + this.seeks / seeksPerRow + this.entries / entriesPerRow;
    const read = this.readCharacters / readCharactersPerFold;
    const characters = this.characters + read + this.encodedCharacters / encodedCharactersPerFold;
    return rows / limits.narrow_rows_per_pass_max + characters / limits.narrow_characters_per_pass_max;
  }

  get isSpent(): boolean {
    return this.share >= 1;
  }
}
