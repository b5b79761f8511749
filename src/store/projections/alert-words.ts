/**
 * Finds the users whose alert words occur in a text. All words of all users are in one tree, so a text is scanned once
 * however many words there are. Bounded by users times `alert_words_per_user_max`.
 */
import { fold } from "../../../schemas/fold.ts";
import { type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

/** Characters that may precede and follow a word (as in Zulip); so may the ends of the text. */
const before: ReadonlySet<string> = new Set([..." \n\t(\".,';[*`>"]);
const after: ReadonlySet<string> = new Set([..." \n\t)\",?:.;']!*`"]);

const nobody: ReadonlySet<number> = new Set();

/**
 * A node of a radix tree: a run of characters that only its words have in common is one node, so memory grows with the
 * words and not with their characters (S3). A node for each character takes 90 MiB for one user's longest words.
 */
interface Beginning {
  /** The characters that follow those of the parent. */
  label: string;
  /** By the first character of their labels; null if no longer word begins like this. */
  next: Map<number, Beginning> | null;
  /** The users who have exactly this word; null if there are none. */
  people: Set<number> | null;
}

function newBeginning(label: string): Beginning {
  return { label, next: null, people: null };
}

export class AlertWordsProjection implements Projection {
  readonly tables = ["alertWords"] as const;
  readonly #root = newBeginning("");

  apply(delta: Delta<"alertWords">): void {
    const [userId, word] = delta.key;
    if (delta.row === null) removeWord(this.#root, word, userId);
    else addWord(this.#root, word, userId);
  }

  /** Ids of users with an alert word in the text, as a whole word and in any case. */
  alertedBy(text: string): ReadonlySet<number> {
    if (this.#root.next === null) return nobody;
    const alerted = new Set<number>();
    const folded = fold(text);
    for (let start = 0; start < folded.length; start++) {
      if (start > 0 && !before.has(folded.charAt(start - 1))) continue;
      let end = start;
      for (let at = nextOf(this.#root, folded, end); at !== undefined; at = nextOf(at, folded, end)) {
        end += at.label.length;
        if (at.people === null || (end < folded.length && !after.has(folded.charAt(end)))) continue;
        for (const userId of at.people) alerted.add(userId);
      }
    }
    return alerted;
  }

  snapshot(): unknown {
    const beginnings: [beginning: string, people: readonly number[]][] = [];
    const visit = (at: Beginning, beginning: string) => {
      if (beginning !== "") beginnings.push([beginning, sortedNumbers(at.people ?? nobody)]);
      for (const next of at.next?.values() ?? []) visit(next, beginning + next.label);
    };
    visit(this.#root, "");
    return sortedEntries(new Map(beginnings));
  }
}

/** The node whose label follows in the text at this place. */
function nextOf(at: Beginning, text: string, place: number): Beginning | undefined {
  const next = at.next?.get(text.charCodeAt(place));
  return next !== undefined && text.startsWith(next.label, place) ? next : undefined;
}

function addWord(root: Beginning, word: string, userId: number): void {
  let at = root;
  for (let place = 0; place < word.length; place += at.label.length) at = grown(at, word, place);
  at.people ??= new Set();
  at.people.add(userId);
}

/** The node below `at` with the longest label that follows in the word; made, or split off, if there is none. */
function grown(at: Beginning, word: string, place: number): Beginning {
  at.next ??= new Map();
  const code = word.charCodeAt(place);
  const next = at.next.get(code);
  if (next === undefined) {
    const leaf = newBeginning(word.slice(place));
    at.next.set(code, leaf);
    return leaf;
  }
  const common = commonLength(next.label, word, place);
  if (common === next.label.length) return next;
  const parent = newBeginning(next.label.slice(0, common));
  next.label = next.label.slice(common);
  parent.next = new Map([[next.label.charCodeAt(0), next]]);
  at.next.set(code, parent);
  return parent;
}

function commonLength(label: string, word: string, place: number): number {
  let length = 0;
  while (length < label.length && label.charCodeAt(length) === word.charCodeAt(place + length)) length++;
  return length;
}

function removeWord(root: Beginning, word: string, userId: number): void {
  const path = [root];
  let at: Beginning | undefined = root;
  for (let place = 0; place < word.length; place += at.label.length) {
    at = nextOf(at, word, place);
    if (at === undefined) return;
    path.push(at);
  }
  if (at.people?.delete(userId) !== true || at.people.size > 0) return;
  at.people = null;
  const parent = path.at(-2) ?? root;
  if (at.next === null) removeLeaf(parent, at);
  else joinWithOnly(at);
  if (parent !== root) joinWithOnly(parent);
}

function removeLeaf(parent: Beginning, leaf: Beginning): void {
  parent.next?.delete(leaf.label.charCodeAt(0));
  if (parent.next?.size === 0) parent.next = null;
}

/** A node without people and with one node below it is one with that. */
function joinWithOnly(at: Beginning): void {
  if (at.people !== null || at.next?.size !== 1) return;
  for (const only of at.next.values()) {
    at.label += only.label;
    at.next = only.next;
    at.people = only.people;
  }
}
