// TeX formulas with KaTeX, which escapes its input and, without `trust`, creates no links, images or attributes. If it
// throws (parse errors, too much expansion), the source is shown instead. Source length and nesting are bounded here,
// because KaTeX bounds only expansion and sizes.
import { createRequire } from "node:module";
import { TEX_CHARS_PER_FORMULA, TEX_CHARS_PER_SIGN, TEX_COPIES, TEX_DEFINITION, TEX_DEPTH_MAX } from "./bounds.ts";

// KaTeX 0.18 prefixed its short class names with "katex-"; clients of this dialect know (and some parse) the short
// ones.
const RENAMED_CLASS =
  /\bkatex-(?=(?:newline|base|strut|vbox|overline|underline|thinbox|rule|smash|fix|inner|root|hline|hdashline|sizing|accent|overlay|stretchy|sout|tag)[ "])/g;
const CLASS_ATTRIBUTE = /class="([^"]*)"/g;
const EXPANSIONS_MAX = 200;
const SIZE_EMS_MAX = 20;

const load = createRequire(import.meta.url);
let library: typeof import("katex") | null = null;

/** Loaded with the first formula: most organizations never write one. */
function katex(): typeof import("katex") {
  library ??= load("katex") as typeof import("katex");
  return library;
}

/** KaTeX's HTML with MathML, or null if the formula cannot be shown. */
export function renderMath(source: string, options: { readonly display: boolean }): string | null {
  if (depthOf(source) > TEX_DEPTH_MAX || TEX_DEFINITION.test(source)) return null;
  try {
    const html = katex().renderToString(source, {
      displayMode: options.display,
      throwOnError: true,
      trust: false,
      strict: false,
      maxExpand: EXPANSIONS_MAX,
      maxSize: SIZE_EMS_MAX,
    });
    // KaTeX escapes quotes in text, so `class="` occurs only where an attribute starts.
    return html.replace(CLASS_ATTRIBUTE, (attribute) => attribute.replace(RENAMED_CLASS, ""));
  } catch (error) {
    // KaTeX throws ParseError for bad input; a RangeError means that the formula is too deep for the stack. Neither is
    // a bug of ours.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Cost of a formula in characters of the message's bound; for one that is too long anyway, its length. */
export function costOfFormula(source: string, max: number): number {
  let chars = source.length + TEX_CHARS_PER_FORMULA;
  if (chars > max) return chars;
  for (const [signs, charsPerSign] of TEX_CHARS_PER_SIGN) chars += charsPerSign * (source.match(signs)?.length ?? 0);
  for (const [signs, copies] of TEX_COPIES) chars *= copies ** (source.match(signs)?.length ?? 0);
  return chars;
}

/** Maximum nesting of braces and environments; a backslash escapes the next character. */
function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (let position = 0; position < source.length; position++) {
    const character = source.charAt(position);
    if (source.startsWith("\\begin", position) || source.startsWith("\\left", position) || character === "{") depth++;
    else if (character === "}") depth = Math.max(0, depth - 1);
    if (character === "\\") position++;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
