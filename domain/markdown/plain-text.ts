// The fast path for plain words, which most messages are: text that no rule could act on skips the parser. A property
// test verifies that the result equals the parser's. The parser uses the same check for its paragraphs and list items,
// so that a long list of words stays cheap.
import type { ParseContext } from "./context.ts";

// Letters of most scripts, digits, spaces inside lines and harmless punctuation. A full stop must not be followed by a
// letter or digit (URLs), and a colon only by a space (emoji, schemes); NEEDS_PARSER checks both.
const HARMLESS =
  /^[A-Za-z0-9 ,.;'"()!?%/=_:\n\u00c0-\u167f\u1681-\u180d\u1810-\u1fff\u2013\u2014\u2018-\u201d\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3-]+$/;
const NEEDS_PARSER = /[.][^\s.!?,'")]|:[^ ]|:$|^ | $|\n | \n|\n\n|^\n|\n$|(?:^|\n)(?:[-=_]|\d+[.])|[-=_]{2}/;
const EMOTICON_PARTS = /[:;]/;

/** True if no block or inline rule finds anything but line breaks in the text. False may only mean "not sure". */
export function isPlain(text: string, context: ParseContext): boolean {
  if (!HARMLESS.test(text) || NEEDS_PARSER.test(text)) return false;
  if (context.translateEmoticons && EMOTICON_PARTS.test(text)) return false;
  return !context.linkifiers.matchesAny(text);
}

/** `<p>...</p>` for plain text, or null if the parser is needed. */
export function renderPlainText(text: string, context: ParseContext): string | null {
  return isPlain(text, context) ? `<p>${text.replaceAll("\n", "<br>\n")}</p>` : null;
}
