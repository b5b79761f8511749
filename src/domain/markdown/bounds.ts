// Bounds of message rendering (S3): whatever a message contains, the work and the output stay within them. A message
// itself is at most 10,000 code points; these keep a hostile one from being dear or from growing without limit.
// What lies beyond a bound is shown as plain text, never refused.

/** Quotes, lists and spoilers inside each other. */
export const BLOCK_DEPTH_MAX = 8;
/** Emphasis, strike-through and links inside each other; deeper tags are left out, their text stays. */
export const INLINE_DEPTH_MAX = 12;
/** Paragraphs, headings, quotes, lists, their items, table cells (filled-up ones included), ... of one message, all together. */
export const BLOCKS_PER_MESSAGE_MAX = 800;
/** What a table counts as on top of its cells. */
export const BLOCKS_PER_TABLE = 16;
/** Tags and stretches of text within paragraphs, headings and cells of one message, all together; lines still end where they end. */
export const INLINE_TOKENS_PER_MESSAGE_MAX = 2_000;
/** Characters between `@**` and `**`, `#**` and `**` (a channel name, a topic and a message id fit). */
export const REFERENCE_CHARS_MAX = 300;
/** Characters of an emoji name between its colons. */
export const EMOJI_NAME_CHARS_MAX = 100;
/** Characters of a time between `<time:` and `>`. */
export const TIMESTAMP_CHARS_MAX = 100;
/** Characters of a link's address and of its title. */
export const LINK_ADDRESS_CHARS_MAX = 2_000;
export const LINK_TITLE_CHARS_MAX = 500;
/** Open parentheses in a link's address. */
export const LINK_PARENTHESES_MAX = 16;
/** Parentheses inside each other in an address that stands in text by itself; deeper ones make it text, as on the public server. */
export const BARE_LINK_PARENTHESES_MAX = 7;
/** Code of one message that is highlighted, all blocks together. */
export const CODE_CHARS_PER_MESSAGE_MAX = 10_000;
/** Characters of one line of code that is highlighted: a tokenizer may look through the rest of its line for each token. */
export const CODE_LINE_CHARS_MAX = 500;
/** Spans in the highlighted code of one message: each is some 25 characters of HTML. */
export const CODE_SPANS_PER_MESSAGE_MAX = 2_000;
/** TeX source of one message, all formulas together; what does not fit is shown as source. */
export const TEX_CHARS_PER_MESSAGE_MAX = 2_000;
/** What a formula counts as on top of its characters, because even "a" becomes 400 characters of HTML. */
export const TEX_CHARS_PER_FORMULA = 16;
/** What dear signs count as on top of themselves: operators, what makes boxes (cells, powers, fractions, rows), accents. */
export const TEX_CHARS_PER_SIGN: readonly (readonly [signs: RegExp, chars: number])[] = [
  [/[-+=<>*/]/g, 3],
  [/[&^_']|\\(?:[a-z]*(?:frac|binom|brace|stack)|sqrt|hat|\\)/g, 10],
  [/[\u00c0-\u024f\u1e00-\u1fff]|\p{M}/gu, 20],
];
/** Braces inside each other in a formula. */
export const TEX_DEPTH_MAX = 20;
/** Images and videos shown below a message. */
export const IMAGE_PREVIEWS_PER_MESSAGE_MAX = 24;
/** Distinct topics whose latest message is looked up for one message; further topic links carry none. */
export const TOPIC_LOOKUPS_PER_MESSAGE_MAX = 50;
/** Characters of a linkifier's pattern. */
export const LINKIFIER_PATTERN_CHARS_MAX = 1_000;
/** Instructions of its compiled program; a long hash has 70, an address 100. */
export const LINKIFIER_PROGRAM_STEPS_MAX = 500;
/** Compiled linkifiers kept in memory, over all realms. */
export const LINKIFIER_CACHE_COUNT_MAX = 2_000;
/** Matches of linkifiers in one text; further ones stay text. */
export const LINKIFIER_MATCHES_MAX = 500;
/** Characters of one line in which linkifiers are looked for; what lies beyond stays text. */
export const LINKIFIER_LINE_CHARS_MAX = 1_000;
/** Linkifiers that may match in one message, by the characters that it has; those with a higher place in the order go first. */
export const LINKIFIERS_PER_MESSAGE_MAX = 100;
/** Instructions times characters, of all linkifiers on all lines of one message: at worst so many steps are done. */
export const LINKIFIER_STEPS_PER_MESSAGE_MAX = 2_000_000;
