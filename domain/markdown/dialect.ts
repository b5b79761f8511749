// The parser: markdown-it with only the features of the dialect. It has no raw HTML, reference links, images, backslash
// escapes, emphasis by underscores, or underlined headings. It is built once on first use and shared, because each
// parse keeps its state in its own context.
import MarkdownIt, { type MarkdownIt as Parser, type StateCore, type StateInline, type Token } from "markdown-it";
import { boundRule as boundBlockRule, boundedTableRule, fenceRule, headingRule, quoteRule } from "./block-rules.ts";
import { contextOf, envOf, type ParseContext } from "./context.ts";
import {
  boundRule as boundInlineRule,
  codeRule,
  linkRule,
  newlineRule,
  spanRule,
  strikeRule,
  strongOutsideRule,
  textRule,
} from "./inline-rules.ts";
import { listRule } from "./list-rule.ts";
import { isPlain } from "./plain-text.ts";
import { channelRule, emojiRule, mathRule, mentionRule, timeRule } from "./reference-rules.ts";

const BLANK = /^\s?$/u;
const BLANK_OR_PUNCTUATION = /^(?:\s|[\p{P}\p{S}])?$/u;
/** After a word it ends something: in `soup*, bread*` neither star opens emphasis. */
const CLOSING = /[\p{Pe}\p{Pf},.;:!?\u2026\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01\uff1f]/u;
/** Before a word it begins something. */
const OPENING = /[\p{Ps}\p{Pi}]/u;

/** `*` and `**`: where they open and close emphasis. CommonMark's rule needs a blank or punctuation on one side, which
scripts without blanks do not have; the public server looks only for blanks inside. markdown-it pairs what this finds. */
function emphasisRule(state: StateInline): boolean {
  const { src, pos, posMax } = state;
  if (src.charAt(pos) !== "*") return false;
  let end = pos;
  while (end < posMax && src.charAt(end) === "*") end++;
  const before = characterBefore(src, pos);
  const after = end < posMax ? String.fromCodePoint(src.codePointAt(end) ?? 0) : "";
  const open = !BLANK.test(after) && (!CLOSING.test(after) || BLANK_OR_PUNCTUATION.test(before));
  const close = !BLANK.test(before) && (!OPENING.test(before) || BLANK_OR_PUNCTUATION.test(after));
  for (let star = pos; star < end; star++) {
    state.push("text", "", 0).content = "*";
    const token = state.tokens.length - 1;
    state.delimiters.push({ marker: 0x2a, length: end - pos, token, end: -1, open, close });
  }
  state.pos = end;
  return true;
}

function characterBefore(source: string, position: number): string {
  return /.$/su.exec(source.slice(Math.max(0, position - 2), position))?.[0] ?? "";
}

let parser: Parser | null = null;

/** The message as markdown-it tokens, including the dialect's own. */
export function tokenize(content: string, context: ParseContext): Token[] {
  parser ??= buildParser();
  return parser.parse(content, envOf(context));
}

function buildParser(): Parser {
  const md = new MarkdownIt("zero", { html: false, linkify: false, typographer: false });
  const interruptsParagraph = { alt: ["paragraph"] };
  md.core.ruler.at("inline", inlineTokensRule);
  md.core.ruler.enableOnly(["block", "inline"]);
  const { ruler: blocks } = md.block;
  blocks.enable(["code", "hr"]);
  blocks.before("code", "dialect_bound", boundBlockRule);
  blocks.before("code", "dialect_fence", fenceRule, interruptsParagraph);
  blocks.before("code", "dialect_table", boundedTableRule(), interruptsParagraph);
  blocks.after("hr", "dialect_quote", quoteRule, interruptsParagraph);
  blocks.after("dialect_quote", "dialect_list", listRule, interruptsParagraph);
  blocks.after("dialect_list", "dialect_heading", headingRule, interruptsParagraph);
  const { ruler: inlines } = md.inline;
  inlines.at("text", textRule);
  inlines.before("text", "dialect_bound", boundInlineRule);
  inlines.enable(["emphasis", "entity"]);
  inlines.at("emphasis", emphasisRule);
  const rules = {
    codeRule,
    mathRule,
    mentionRule,
    channelRule,
    timeRule,
    linkRule,
    spanRule,
    emojiRule,
    strikeRule,
    newlineRule,
  };
  for (const [name, rule] of Object.entries(rules)) inlines.before("emphasis", name, rule);
  md.inline.ruler2.enable("emphasis");
  md.inline.ruler2.after("emphasis", "strong_outside", strongOutsideRule);
  return md;
}

/** The inline step for every paragraph, heading and cell; a plain one becomes a single text token. */
function inlineTokensRule(state: StateCore): void {
  const context = contextOf(state.env);
  for (const token of state.tokens) {
    if (token.type !== "inline") continue;
    const children = token.children ?? [];
    if (context.usesShortcuts && !token.content.includes("\n") && isPlain(token.content, context)) {
      const text = new state.Token("text", "", 0);
      text.content = token.content;
      children.push(text);
    } else state.md.inline.parse(token.content, state.md, state.env, children);
    token.children = children;
    // Each paragraph costs something by itself: a table may have many small cells.
    context.inlineTokensLeft -= children.length + 1;
  }
}
