/**
 * Schedules long reads (S3). In one pass of the event loop, all reads together do at most the work of one pass, so a
 * hundred searches delay a post no longer than one does. Users take turns (round robin): a user with many requests
 * waits for users with one.
 */
import { limits } from "../../schemas/limits.ts";

/** Work that may have to wait for a later pass: it yields each promise that it waits for. */
export type Waiting<T> = Generator<Promise<void>, T, void>;

/** Work that does not wait ends here and now, so that what it has read is watched (M9). */
export function finished<T>(work: Waiting<T>): T | Promise<T> {
  const { done, value } = work.next();
  return done === true ? value : finishedAfter(value, work);
}

async function finishedAfter<T>(first: Promise<void>, work: Waiting<T>): Promise<T> {
  for (let wait = first; ; ) {
    await wait;
    const { done, value } = work.next();
    if (done === true) return value;
    wait = value;
  }
}

/** A queue of waiting readers, admitted round robin: a user with many requests waits for users with one. */
class RoundRobin {
  /** By reader, in the order of admission. */
  readonly #waiting = new Map<string, (() => void)[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  wait(reader: string): Promise<void> {
    return new Promise((resolve) => {
      const own = this.#waiting.get(reader);
      if (own === undefined) this.#waiting.set(reader, [resolve]);
      else own.push(resolve);
    });
  }

  /** @returns false if no caller is waiting */
  admitNext(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    const [reader, own] = first;
    const resolve = own.shift();
    this.#waiting.delete(reader);
    if (own.length > 0) this.#waiting.set(reader, own);
    resolve?.();
    return true;
  }
}

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

class LongAnswers {
  #isBusy = false;
  readonly #waiting = new RoundRobin();

  /** null: the answer may be built at once. Call `leave` when it is finished. */
  enter(reader: string): Promise<void> | null {
    if (this.#isBusy) return this.#waiting.wait(reader);
    this.#isBusy = true;
    return null;
  }

  leave(): void {
    this.#isBusy = this.#waiting.admitNext();
  }
}

/** All organizations share the memory, so there is one instance. */
export const longAnswers = new LongAnswers();

/** Fraction of a pass; 1 is a whole pass. */
export type Share = number;

export class Passes {
  /** Used in this pass of the event loop. */
  #used: Share = 0;
  #isResetDue = false;
  readonly #waiting = new RoundRobin();

  /**
   * Resolves when there is room, in this pass if possible; null: at once. Work until the next `leave` without awaiting.
   */
  enter(reader: string): Promise<void> | null {
    return this.#used < 1 && this.#waiting.isEmpty ? null : this.next(reader);
  }

  /** Resolves in a later pass of the event loop. */
  next(reader: string): Promise<void> {
    this.#expectReset();
    return this.#waiting.wait(reader);
  }

  leave(share: Share): void {
    this.#used += share;
    this.#expectReset();
    if (this.#used < 1) this.#admitNext();
  }

  #expectReset(): void {
    if (this.#isResetDue) return;
    this.#isResetDue = true;
    setImmediate(() => {
      this.#isResetDue = false;
      this.#used = 0;
      this.#admitNext();
    });
  }

  #admitNext(): void {
    if (this.#waiting.admitNext() && !this.#waiting.isEmpty) this.#expectReset();
  }
}

/** All organizations share the event loop, so there is one instance. */
export const passes = new Passes();
