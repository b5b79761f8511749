/**
 * The folded text of rendered HTML with the origin of each unit, so that a match in the folded text can be located in
 * the HTML.
 */
import { limits } from "../../schemas/limits.ts";
import { decodeEntity, foldText } from "./words.ts";

/** A tag, an entity, a run of ordinary characters, or one character that looked like the start of a tag or entity. */
const tokens = /<[^>]*>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|[^<&]+|[<&]/g;
const ascii = /^[\0-\x7f]*$/;

/** Cache of folded characters, because many texts share them. */
const foldedCharacters = new Map<string, string>();
const foldedCharacters_max = 16_384;

function foldCharacter(character: string): string {
  const known = foldedCharacters.get(character);
  if (known !== undefined) return known;
  if (foldedCharacters.size >= foldedCharacters_max) foldedCharacters.clear();
  const folded = foldText(character);
  foldedCharacters.set(character, folded);
  return folded;
}

/**
 * Traces only the beginning of a very long text (`search_marked_characters_max`). Unit i of `folded` comes from
 * `html.slice(start(i), end(i))`. A tag becomes one space.
 */
export class TracedText {
  readonly folded: string;
  #starts = new Int32Array(256);
  #ends = new Int32Array(256);
  /** 1 where nothing may be marked: in tags, and in MathML, whose parser would end the formula at an HTML element. */
  #fixed = new Uint8Array(256);
  #length = 0;

  constructor(html: string) {
    this.folded = this.#trace(html);
  }

  start(unit: number): number {
    return this.#starts[unit] ?? 0;
  }

  end(unit: number): number {
    return this.#ends[unit] ?? 0;
  }

  isFixed(unit: number): boolean {
    return this.#fixed[unit] === 1;
  }

  #trace(html: string): string {
    let folded = "";
    let isFormula = false;
    for (const { 0: token, index } of html.matchAll(tokens)) {
      if (this.#length >= limits.search_marked_characters_max) break;
      if (token.length > 1 && token.startsWith("<")) {
        isFormula = token.startsWith("<math") || (isFormula && !token.startsWith("</math"));
        folded += this.#add(" ", index, index + token.length, true);
      } else if (token.length > 1 && token.startsWith("&")) {
        folded += this.#add(foldText(decodeEntity(token)), index, index + token.length, isFormula);
      } else {
        folded += this.#addRun(token, index, isFormula);
      }
    }
    return folded;
  }

  /** Adds text that comes from one place in the HTML. */
  #add(text: string, start: number, end: number, isFixed: boolean): string {
    this.#reserve(text.length);
    for (let unit = 0; unit < text.length; unit++) {
      this.#starts[this.#length] = start;
      this.#ends[this.#length] = end;
      this.#fixed[this.#length] = isFixed ? 1 : 0;
      this.#length++;
    }
    return text;
  }

  #addRun(run: string, index: number, isFixed: boolean): string {
    const whole = ascii.test(run) ? run.toLowerCase() : foldText(run);
    // Folding did not change any positions.
    if (whole === run || ascii.test(run)) {
      this.#reserve(run.length);
      for (let unit = 0; unit < run.length; unit++) {
        this.#starts[this.#length] = index + unit;
        this.#ends[this.#length] = index + unit + 1;
        this.#fixed[this.#length] = isFixed ? 1 : 0;
        this.#length++;
      }
      return whole;
    }
    let folded = "";
    let at = index;
    for (const character of run) {
      if (this.#length >= limits.search_marked_characters_max) break;
      const end = at + character.length;
      const own = foldCharacter(character);
      // A combining mark folds to nothing and belongs to the preceding character.
      const last = this.#length - 1;
      if (own === "" && last >= 0 && this.#fixed[last] === 0) this.#ends[last] = end;
      folded += this.#add(own, at, end, isFixed);
      at = end;
    }
    return folded;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#starts.length) return;
    const size = Math.max(needed, 2 * this.#starts.length);
    this.#starts = grown(this.#starts, new Int32Array(size));
    this.#ends = grown(this.#ends, new Int32Array(size));
    this.#fixed = grown(this.#fixed, new Uint8Array(size));
  }
}

function grown<A extends Int32Array | Uint8Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
