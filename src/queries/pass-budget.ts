/** What one read looked at in one pass of the event loop, against what it may (S3). */
import { limits } from "../../schemas/limits.ts";
import type { Share } from "./passes.ts";

/** A seek costs a fraction of a message that is looked at. */
const seeksPerRow = 4;
/** And so does an entry of an index. */
const entriesPerRow = 8;
/** Reading a character from the disk costs a fraction of folding it. */
const readCharactersPerFold = 8;

/** Writing a character as JSON costs a fraction of folding it. */
const encodedCharactersPerFold = 8;

export class PassBudget {
  rows = 0;
  seeks = 0;
  entries = 0;
  /** Folded or compared. */
  characters = 0;
  /** Of rows that were read. */
  readCharacters = 0;
  /** Of JSON that was written. */
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
