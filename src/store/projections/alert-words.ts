/**
 * Whose alert words a text contains: all words of all people in one tree of beginnings, so that a text is read once however
 * many words there are. Bounded by people and `alert_words_per_user_max`.
 */
import { fold } from "../../../schemas/fold.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

/** What may stand before and after a word (behaviour of the public server); the ends of the text may, too. */
const before: ReadonlySet<string> = new Set([..." \n\t(\".,';[*`>"]);
const after: ReadonlySet<string> = new Set([..." \n\t)\",?:.;']!*`"]);

const nobody: ReadonlySet<number> = new Set();

export class AlertWordsProjection implements Projection {
  readonly tables = ["alertWords"] as const;
  readonly #people = new Map<string, Set<number>>();
  /** How many words begin so. */
  readonly #beginnings = new Map<string, number>();

  apply(delta: Delta): void {
    const [userId, word] = delta.key as [number, string];
    const people = this.#people.get(word);
    if (delta.row !== null && people === undefined) {
      this.#people.set(word, new Set([userId]));
      this.#count(word, 1);
    } else if (delta.row !== null) people?.add(userId);
    else if (people?.delete(userId) === true && people.size === 0) {
      this.#people.delete(word);
      this.#count(word, -1);
    }
  }

  #count(word: string, change: 1 | -1): void {
    for (let length = 1; length <= word.length; length++) {
      const beginning = word.slice(0, length);
      const count = (this.#beginnings.get(beginning) ?? 0) + change;
      if (count === 0) this.#beginnings.delete(beginning);
      else this.#beginnings.set(beginning, count);
    }
  }

  /** Ids of people one of whose words stands in the text, on its own and in any case. */
  alertedBy(text: string): ReadonlySet<number> {
    if (this.#people.size === 0) return nobody;
    const alerted = new Set<number>();
    const folded = fold(text);
    for (let start = 0; start < folded.length; start++) {
      if (start > 0 && !before.has(folded.charAt(start - 1))) continue;
      for (let end = start + 1; end <= folded.length; end++) {
        const beginning = folded.slice(start, end);
        if (!this.#beginnings.has(beginning)) break;
        if (end < folded.length && !after.has(folded.charAt(end))) continue;
        for (const userId of this.#people.get(beginning) ?? nobody) alerted.add(userId);
      }
    }
    return alerted;
  }

  picture(): unknown {
    return {
      people: sortedEntries(this.#people).map(([word, people]) => [word, sortedNumbers(people)]),
      beginnings: sortedEntries(this.#beginnings),
    };
  }
}
