// Maps a tokenizer's style to the short class that clients have a color for (Pygments' token types). For numbers and
// strings the text decides which of several classes applies.
import type { Highlighter } from "./highlighters.ts";

/** By the first listed word of a style. */
const CLASSES: Readonly<Record<string, string>> = {
  keyword: "k",
  controlKeyword: "k",
  modifier: "k",
  atom: "kc",
  bool: "kc",
  null: "kc",
  type: "kt",
  typeName: "kt",
  unit: "kt",
  builtin: "nb",
  "variableName.standard": "nb",
  def: "nf",
  "variableName.function": "nf",
  self: "bp",
  variable: "n",
  variableName: "n",
  "variableName.special": "nv",
  "variableName.local": "n",
  property: "n",
  propertyName: "n",
  namespace: "nn",
  labelName: "nl",
  macroName: "cp",
  meta: "cp",
  processingInstruction: "cp",
  tag: "nt",
  tagName: "nt",
  attribute: "na",
  attributeName: "na",
  attributeValue: "s",
  qualifier: "nc",
  "string.special": "sr",
  regexp: "sr",
  character: "sc",
  escape: "se",
  url: "s",
  link: "s",
  operator: "o",
  arithmeticOperator: "o",
  punctuation: "p",
  bracket: "p",
  angleBracket: "p",
  parens: "p",
  header: "gh",
  heading: "gh",
  strong: "gs",
  emphasis: "ge",
  inserted: "gi",
  deleted: "gd",
};

/** Exceptions for families where a style means something else. */
const BY_FAMILY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stex: { tag: "k", keyword: "", bracket: "nb", number: "", atom: "", builtin: "nb" },
  css: { property: "k", propertyName: "k", tag: "nt", "variableName.special": "nv", variable: "nv" },
  diff: { meta: "gu" },
  yaml: { atom: "nt", meta: "p", keyword: "kc" },
  properties: { def: "na", quote: "s", header: "k" },
  toml: { property: "n", atom: "kc" },
  xml: { meta: "cp", attribute: "na" },
};

const CONSTANTS = new Set(["true", "false", "null", "nil", "none", "undefined", "nothing"]);
const PYTHON_OPERATORS = new Set(["and", "in", "is", "not", "or"]);
const PYTHON_IMPORTS = new Set(["from", "import"]);

/** "" for no class; null if the tokenizer gives no style. */
export function classOf(style: string | null, text: string, { family }: Highlighter, isFirst: boolean): string | null {
  if (style === null || style === "") return null;
  const words = style.split(" ");
  for (const word of words) {
    const own = BY_FAMILY[family]?.[word];
    if (own !== undefined) return own;
    if (word === "comment") return isFirst && text.startsWith("#!") ? "ch" : commentClass(text);
    if (word === "number" || word === "integer") return numberClass(text);
    if (word === "string") return family === "javascript" ? `s${text.startsWith("'") ? "1" : "2"}` : stringClass(text);
    if (word === "keyword") return keywordClass(text, family);
    if (word === "meta" && text.startsWith("@")) return "nd";
    const known = Object.hasOwn(CLASSES, word) ? CLASSES[word] : undefined;
    if (known !== undefined) return known;
  }
  return null;
}

function commentClass(text: string): string {
  return /^(?:\/\*|\(\*|\{-|<!--|=begin|#\|)/.test(text) ? "cm" : "c1";
}

function numberClass(text: string): string {
  if (/^0x/i.test(text)) return "mh";
  return /[.e]/i.test(text) ? "mf" : "mi";
}

function stringClass(text: string): string {
  if (text.startsWith('"')) return "s2";
  if (text.startsWith("'")) return "s1";
  return text.startsWith("`") ? "sb" : "s";
}

function keywordClass(text: string, family: string): string {
  if (CONSTANTS.has(text.toLowerCase())) return "kc";
  if (family !== "python") return "k";
  if (PYTHON_OPERATORS.has(text)) return "ow";
  return PYTHON_IMPORTS.has(text) ? "kn" : "k";
}

/** For code without a style: names, punctuation and operators are distinguished by their characters. */
const PARTS =
  /([\p{L}_$][\p{L}\p{N}_$]*)|([()[\]{},;:.]+)|([-+*/%=<>!&|^~?@]+)|([^\p{L}_$()[\]{},;:.\-+*/%=<>!&|^~?@]+)/gu;

export function* partsOf(text: string): Iterable<readonly [text: string, className: string]> {
  for (const [part, name, punctuation, operator] of text.matchAll(PARTS)) {
    yield [part, name !== undefined ? "n" : punctuation !== undefined ? "p" : operator !== undefined ? "o" : ""];
  }
}
