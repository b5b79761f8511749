/**
 * Finds the users whose alert words occur in a text. All words of all users are in one trie, so a text is scanned once
 * however many words there are. Bounded by users times `alert_words_per_user_max`.
 */
import { fold } from "../../../schemas/fold.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

/** Characters that may precede and follow a word (as in Zulip); so may the ends of the text. */
const before: ReadonlySet<string> = new Set([..." \n\t(\".,';[*`>"]);
const after: ReadonlySet<string> = new Set([..." \n\t)\",?:.;']!*`"]);

const nobody: ReadonlySet<number> = new Set();

/** A trie node. Texts are followed character by character: slicing each prefix took ten times as long. */
interface Beginning {
  readonly next: Map<number, Beginning>;
  /** Number of words that start with this prefix. */
  words: number;
  /** The users who have exactly this word. */
  readonly people: Set<number>;
}

function newBeginning(): Beginning {
  return { next: new Map(), words: 0, people: new Set() };
}

export class AlertWordsProjection implements Projection {
  readonly tables = ["alertWords"] as const;
  readonly #root = newBeginning();

  apply(delta: Delta): void {
    const [userId, word] = delta.key as [number, string];
    const people = this.#find(word)?.people;
    if (delta.row !== null) {
      if (people === undefined || people.size === 0) this.#add(word);
      this.#find(word)?.people.add(userId);
    } else if (people?.delete(userId) === true && people.size === 0) this.#remove(word);
  }

  #find(word: string): Beginning | undefined {
    let at: Beginning | undefined = this.#root;
    for (let index = 0; index < word.length && at !== undefined; index++) at = at.next.get(word.charCodeAt(index));
    return at;
  }

  #add(word: string): void {
    let at = this.#root;
    for (let index = 0; index < word.length; index++) {
      const code = word.charCodeAt(index);
      const next = at.next.get(code) ?? newBeginning();
      at.next.set(code, next);
      next.words++;
      at = next;
    }
  }

  #remove(word: string): void {
    let at = this.#root;
    for (let index = 0; index < word.length; index++) {
      const next = at.next.get(word.charCodeAt(index));
      if (next === undefined) return;
      next.words--;
      if (next.words === 0) at.next.delete(word.charCodeAt(index));
      at = next;
    }
  }

  /** Ids of users with an alert word in the text, as a whole word and in any case. */
  alertedBy(text: string): ReadonlySet<number> {
    if (this.#root.next.size === 0) return nobody;
    const alerted = new Set<number>();
    const folded = fold(text);
    for (let start = 0; start < folded.length; start++) {
      if (start > 0 && !before.has(folded.charAt(start - 1))) continue;
      let at = this.#root.next.get(folded.charCodeAt(start));
      for (let end = start + 1; at !== undefined; end++) {
        if (at.people.size > 0 && (end === folded.length || after.has(folded.charAt(end)))) {
          for (const userId of at.people) alerted.add(userId);
        }
        at = end < folded.length ? at.next.get(folded.charCodeAt(end)) : undefined;
      }
    }
    return alerted;
  }

  snapshot(): unknown {
    const people: [word: string, ids: readonly number[]][] = [];
    const beginnings: [beginning: string, words: number][] = [];
    const visit = (at: Beginning, beginning: string) => {
      if (at.people.size > 0) people.push([beginning, sortedNumbers(at.people)]);
      if (beginning !== "") beginnings.push([beginning, at.words]);
      for (const [code, next] of at.next) visit(next, beginning + String.fromCharCode(code));
    };
    visit(this.#root, "");
    return { people: sortedEntries(new Map(people)), beginnings: sortedEntries(new Map(beginnings)) };
  }
}
