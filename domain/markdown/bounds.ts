// Bounds of message rendering (S3): whatever a message contains, work and output stay within them. A message has at
// most 10,000 code points; these bounds keep a hostile one from being expensive or growing without limit. Anything
// beyond a bound is shown as plain text and never rejected.

/** Nesting depth of quotes, lists and spoilers. */
export const BLOCK_DEPTH_MAX = 8;
/** Nesting depth of emphasis, strike-through and links; deeper tags are left out, but their text stays. */
export const INLINE_DEPTH_MAX = 12;
/**
 * Total of paragraphs, headings, quotes, lists, list items and table cells (including padding cells) in one message.
 */
export const BLOCKS_PER_MESSAGE_MAX = 800;
/** Cost of a table in addition to its cells. */
export const BLOCKS_PER_TABLE = 16;
/** Total of tags and text runs within paragraphs, headings and cells of one message; line breaks are kept beyond it. */
export const INLINE_TOKENS_PER_MESSAGE_MAX = 2_000;
/** Characters between `@**` and `**`, `#**` and `**` (enough for a channel name, a topic and a message id). */
export const REFERENCE_CHARS_MAX = 300;
/** Characters of an emoji name between its colons. */
export const EMOJI_NAME_CHARS_MAX = 100;
/** Characters of a time between `<time:` and `>`. */
export const TIMESTAMP_CHARS_MAX = 100;
/** Characters of a link's URL and of its title. */
export const LINK_ADDRESS_CHARS_MAX = 2_000;
export const LINK_TITLE_CHARS_MAX = 500;
/** Open parentheses in a link's URL. */
export const LINK_PARENTHESES_MAX = 16;
/** Nested parentheses in a bare URL; with more it is plain text, as in Zulip. */
export const BARE_LINK_PARENTHESES_MAX = 7;
/** Highlighted code of one message, all blocks together. */
export const CODE_CHARS_PER_MESSAGE_MAX = 10_000;
/** Characters in one line of highlighted code: a tokenizer may scan the rest of its line for each token. */
export const CODE_LINE_CHARS_MAX = 500;
/** Spans in the highlighted code of one message; each takes about 25 characters of HTML. */
export const CODE_SPANS_PER_MESSAGE_MAX = 2_000;
/** TeX source of one message, all formulas together; formulas beyond it are shown as source. */
export const TEX_CHARS_PER_MESSAGE_MAX = 2_000;
/** Cost of a formula in addition to its characters, because even "a" becomes 400 characters of HTML. */
export const TEX_CHARS_PER_FORMULA = 16;
/** Additional cost of expensive signs: operators, signs that make boxes (cells, powers, fractions, rows), accents. */
export const TEX_CHARS_PER_SIGN: readonly (readonly [signs: RegExp, chars: number])[] = [
  [/[-+=<>*/]/g, 3],
  [/[&^_']|\\(?:[a-z]*(?:frac|binom|brace|stack)|sqrt|hat|\\)/g, 10],
  [/[\u00c0-\u024f\u1e00-\u1fff]|\p{M}/gu, 20],
];
/**
 * A formula that defines macros is shown as source: a definition can be used 200 times, and can double what it is given,
 * so that 900 characters take minutes. KaTeX bounds the number of expansions, but not their length.
 */
export const TEX_DEFINITION = /\\(?:[egx]?def|let|futurelet|(?:new|renew|provide)command)(?![a-zA-Z])/;
/** KaTeX's own macros that use what they are given several times, and how often; they can be nested. */
export const TEX_COPIES: readonly (readonly [signs: RegExp, copies: number])[] = [[/\\pmb(?![a-zA-Z])/g, 4]];
/** Nested braces in a formula. */
export const TEX_DEPTH_MAX = 20;
/** Images and videos shown below a message. */
export const IMAGE_PREVIEWS_PER_MESSAGE_MAX = 24;
/** Distinct topics per message whose latest message is looked up; further topic links have none. */
export const TOPIC_LOOKUPS_PER_MESSAGE_MAX = 50;
/** Characters of a linkifier's pattern. */
export const LINKIFIER_PATTERN_CHARS_MAX = 1_000;
/** Instructions of its compiled program; a pattern for a long hash has 70, for a URL 100. */
export const LINKIFIER_PROGRAM_STEPS_MAX = 500;
/** Compiled linkifiers in memory, over all realms. */
export const LINKIFIER_CACHE_COUNT_MAX = 2_000;
/** Linkifier matches in one text; further ones stay text. */
export const LINKIFIER_MATCHES_MAX = 500;
/** Characters per line that are searched for linkifiers; the rest of the line stays text. */
export const LINKIFIER_LINE_CHARS_MAX = 1_000;
/**
 * Linkifiers that may match in one message, counted by the characters it contains; linkifiers earlier in the order are
 * tried first.
 */
export const LINKIFIERS_PER_MESSAGE_MAX = 100;
/** Instructions times characters, over all linkifiers and lines of one message: the maximum number of steps. */
export const LINKIFIER_STEPS_PER_MESSAGE_MAX = 2_000_000;
