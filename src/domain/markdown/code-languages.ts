// What people write after ``` -> the language's own name, as clients expect it in `data-code-language` (they look up
// playgrounds by it). Unknown words are passed on as typed.
import { LANGUAGE_NAMES } from "./language-names.ts";

let names: ReadonlyMap<string, string> | null = null;

/** The language's name for `data-code-language`; the word itself when it is not known. */
export function languageName(word: string): string {
  return knownLanguage(word) ?? word;
}

/** The name of a language that is known by this word; null: it is none. */
export function knownLanguage(word: string): string | null {
  names ??= readNames();
  return names.get(word.toLowerCase()) ?? null;
}

function readNames(): ReadonlyMap<string, string> {
  return new Map(
    LANGUAGE_NAMES.split("|").flatMap((entry) => {
      const [name = "", aliases = ""] = entry.trim().split(" = ");
      return aliases.split(" ").map((alias): [string, string] => [alias.toLowerCase(), name]);
    }),
  );
}

/** A first line that names the program which runs the code, or the language after colons. */
const FIRST_LINE = /^(?:::+|#!)(?:(?:\/\w+)*[/ ])?([\w#.+-]*)/;

/** The language that the code itself names in its first line; null: it names none. */
export function languageInCode(code: string): string | null {
  const word = FIRST_LINE.exec(code)?.[1];
  return word === undefined ? null : knownLanguage(word);
}
