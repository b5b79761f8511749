/**
 * Word forms: the stem of a folded word in the language of the organization (`search_language`), by Snowball's
 * algorithms. Two words are forms of one if their stems are equal. Stems are made of folded words, so a text without
 * diacritics has the same ones.
 */
import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as porter } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russianOfLetters } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { limits } from "../../schemas/limits.ts";
import type { SearchLanguage } from "../../schemas/search.ts";
import { foldText } from "./words.ts";

/** Porter's first algorithm makes `deploi` of `deployed` and `deploy` of `deployment`; his second keeps such a y. */
function english(word: string): string {
  return porter(word).replace(/(?<=[aeou])i$/, "y");
}

/** Folding makes и of й, which ends most adjectives. */
function russian(word: string): string {
  return russianOfLetters(word.replace(/(?<=[аеиоуыэюя])и/g, "й"));
}

const stemmers: Readonly<Record<SearchLanguage, (word: string) => string>> = {
  none: (word) => word,
  danish,
  dutch,
  english,
  finnish,
  french,
  german,
  hungarian,
  italian,
  norwegian,
  portuguese,
  romanian,
  russian,
  spanish,
  swedish,
  turkish,
};

/** Cache, because stemming takes microseconds and texts repeat their words. */
const known = new Map<string, string>();
let knownIn: SearchLanguage = "none";
const known_max = 16_384;

/** @returns the word itself if it is very long */
export function stemOf(language: SearchLanguage, word: string): string {
  if (language === "none" || word.length > limits.search_word_characters_max) return word;
  if (language !== knownIn || known.size >= known_max) known.clear();
  knownIn = language;
  const before = known.get(word);
  if (before !== undefined) return before;
  const stem = foldText(stemmers[language](word));
  // Comparing begins with the first letter, which no suffix contains.
  const own = stem.charAt(0) === word.charAt(0) ? stem : word;
  known.set(word, own);
  return own;
}
