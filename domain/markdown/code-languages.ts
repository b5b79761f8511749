// Maps the word after ``` to the language's canonical name, as clients expect it in `data-code-language` (they find
// playgrounds by it). Unknown words are passed on as typed.
import { LANGUAGE_NAMES } from "./language-names.ts";

let names: ReadonlyMap<string, string> | null = null;

/** The language's name for `data-code-language`; the word itself if it is unknown. */
export function languageName(word: string): string {
  return knownLanguage(word) ?? word;
}

/** The name of the language with this alias; null if there is none. */
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

/** A first line that names the interpreter, or the language after colons. */
const FIRST_LINE = /^(?:::+|#!)(?:(?:\/\w+)*[/ ])?([\w#.+-]*)/;

/** The language that the first line of the code names, or null. */
export function languageInCode(code: string): string | null {
  const word = FIRST_LINE.exec(code)?.[1];
  return word === undefined ? null : knownLanguage(word);
}
