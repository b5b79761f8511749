// Inline rules for general markup: text, line breaks, code, links, strike-through. They replace markdown-it's own,
// because the dialect differs (no backslash escapes, reference links or images; emphasis ends at a line break; code
// keeps its spaces), and because they look things up instead of searching (inline-index.ts).
import type { Delimiter, StateInline, Token } from "markdown-it";
import { LINK_ADDRESS_CHARS_MAX, LINK_PARENTHESES_MAX, LINK_TITLE_CHARS_MAX } from "./bounds.ts";
import { contextOf } from "./context.ts";
import { codeSpanAt, labelEndAt, nextSpan } from "./inline-index.ts";
import { safeHref } from "./links.ts";
import { pushElement, pushLinkOpen } from "./tokens.ts";

const TERMINATORS = new Set(Array.from("\n`*~[@#:<$&", (character) => character.charCodeAt(0)));
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** Runs before all other rules: beyond the message's bound the rest of a line is text. */
export function boundRule(state: StateInline): boolean {
  if (state.tokens.length < contextOf(state.env).inlineTokensLeft) return false;
  const newline = state.src.indexOf("\n", state.pos);
  const end = newline === -1 ? state.posMax : Math.min(newline, state.posMax);
  if (end === state.pos) return false;
  state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** Plain characters up to the next one that starts a rule. */
export function textRule(state: StateInline): boolean {
  const stop = Math.min(state.posMax, nextSpan(state, state.pos)?.start ?? state.posMax);
  let end = state.pos;
  while (end < stop && !TERMINATORS.has(state.src.charCodeAt(end))) end++;
  if (end === state.pos) return false;
  state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/**
 * A line break is `<br>`, and emphasis does not cross it: each line has its own list of delimiters. After a line
 * without delimiters the break stays in the text and the renderer writes it, so that many short lines need few tokens.
 */
export function newlineRule(state: StateInline): boolean {
  if (state.src.charCodeAt(state.pos) !== NEWLINE) return false;
  // Counted in the source: reading the end of a growing string would copy all of it for every line.
  let spaces = 0;
  while (spaces < state.pending.length && state.src.charCodeAt(state.pos - 1 - spaces) === SPACE) spaces++;
  if (spaces > 0) state.pending = state.pending.slice(0, -spaces);
  if (state.delimiters.length === 0) state.pending += "\n";
  else breakWithDelimiters(state);
  state.pos++;
  return true;
}

function breakWithDelimiters(state: StateInline): void {
  state.push("hardbreak", "br", 0);
  const finished = state.delimiters;
  const fresh: Delimiter[] = [];
  state.delimiters = fresh;
  // markdown-it pairs the delimiters of `state.delimiters` and of every token's meta. Inside an element the finished
  // list already belongs to the opening token; at the top level it must be stored here.
  state.tokens_meta[state.tokens_meta.length - 1] = { delimiters: state.level === 0 ? finished : fresh };
}

export function codeRule(state: StateInline): boolean {
  if (state.src.charAt(state.pos) !== "`") return false;
  const span = codeSpanAt(state, state.pos);
  if (span === undefined || span.end > state.posMax) {
    // The whole run is text, so that its tail does not open a code span.
    while (state.pos < state.posMax && state.src.charAt(state.pos) === "`") {
      state.pending += "`";
      state.pos++;
    }
    return true;
  }
  state.push("code_inline", "code", 0).content = state.src.slice(span.contentStart, span.contentEnd);
  state.pos = span.end;
  return true;
}

/** Bare URLs, linkifiers, emoji characters and emoticons, found beforehand. */
export function spanRule(state: StateInline): boolean {
  const span = nextSpan(state, state.pos);
  if (span === undefined || span.start !== state.pos || span.end > state.posMax) return false;
  const typed = state.src.slice(span.start, span.end);
  if (span.emoji !== undefined) pushElement(state, { kind: "emojiCharacters", emoji: span.emoji }, typed);
  else if (span.emojiName !== undefined)
    pushElement(state, { kind: "emojiName", name: span.emojiName }, `:${span.emojiName}:`);
  else if (span.href !== undefined && state.linkLevel === 0) {
    pushLinkOpen(state, { href: span.href, title: null, label: typed });
    state.push("text", "", 0).content = typed;
    state.push("link_close", "a", -1);
  } else state.pending += typed;
  state.pos = span.end;
  return true;
}

/** `[label](address "title")`. An empty label shows the URL; an unsafe URL leaves the source text unchanged. */
export function linkRule(state: StateInline): boolean {
  if (state.src.charAt(state.pos) !== "[" || state.linkLevel > 0) return false;
  const labelEnd = labelEndAt(state, state.pos);
  if (labelEnd === undefined || labelEnd >= state.posMax || state.src.charAt(labelEnd + 1) !== "(") return false;
  const target = parseTarget(state.src, labelEnd + 2, state.posMax);
  const href = target === null ? null : safeHref(target.address, contextOf(state.env).realmUrl);
  if (target === null || href === null) return false;
  const labelStart = state.pos + 1;
  const label = state.src.slice(labelStart, labelEnd).trim();
  pushLinkOpen(state, { href, title: target.title, label: label === "" ? target.address : label });
  if (label === "") state.push("text", "", 0).content = target.address;
  else tokenizeWithin(state, { start: labelStart, end: labelEnd, isLink: true });
  state.push("link_close", "a", -1);
  state.pos = target.end;
  return true;
}

/** `~~text~~` on one line, without tildes inside. */
export function strikeRule(state: StateInline): boolean {
  const { src, pos } = state;
  if (src.charAt(pos) !== "~") return false;
  let runEnd = pos;
  while (src.charAt(runEnd) === "~") runEnd++;
  const close = runEnd - pos === 2 ? closingTildes(src, runEnd, state.posMax) : -1;
  if (close === -1) {
    state.pending += src.slice(pos, Math.min(runEnd, state.posMax));
    state.pos = Math.min(runEnd, state.posMax);
    return true;
  }
  state.push("s_open", "del", 1);
  tokenizeWithin(state, { start: runEnd, end: close, isLink: false });
  state.push("s_close", "del", -1);
  state.pos = close + 2;
  return true;
}

/** `***x***` is strong outside and emphasis inside; markdown-it does it the other way round. Runs after its pairing. */
export function strongOutsideRule(state: StateInline): void {
  const tokens = state.tokens.filter((token) => token.type !== "text" || token.content !== "");
  const open: number[] = [];
  let lastClosed = -1;
  for (const [position, token] of tokens.entries()) {
    if (token.nesting === 1) open.push(position);
    if (token.nesting !== -1) continue;
    const start = open.pop() ?? position;
    const [outer, inner, innerClose] = [tokens[start], tokens[start + 1], tokens[position - 1]];
    const isPair = outer?.type === "em_open" && inner?.type === "strong_open" && innerClose?.type === "strong_close";
    // The strong element must fill the whole emphasis: it opens right after the emphasis opens and closes right before
    // it closes.
    if (isPair && lastClosed === start + 1) {
      swapTypes(outer, inner);
      swapTypes(token, innerClose);
    }
    lastClosed = start;
  }
}

function swapTypes(left: Token, right: Token): void {
  [left.type, right.type] = [right.type, left.type];
  [left.tag, right.tag] = [right.tag, left.tag];
}

function closingTildes(source: string, start: number, end: number): number {
  let position = start;
  while (position < end && source.charAt(position) !== "~" && source.charAt(position) !== "\n") position++;
  const isPair = position > start && position + 2 <= end && source.startsWith("~~", position);
  return isPair && source.charAt(position + 2) !== "~" ? position : -1;
}

function tokenizeWithin(state: StateInline, part: { start: number; end: number; isLink: boolean }): void {
  const end = state.posMax;
  state.pos = part.start;
  state.posMax = part.end;
  if (part.isLink) state.linkLevel++;
  state.md.inline.tokenize(state);
  if (part.isLink) state.linkLevel--;
  state.posMax = end;
}

interface LinkTarget {
  readonly address: string;
  readonly title: string | null;
  readonly end: number;
}

/** The part between the parentheses of a link; `end` is the position after the closing one. */
function parseTarget(source: string, start: number, end: number): LinkTarget | null {
  const addressStart = skipBlanks(source, start, end);
  const limit = Math.min(end, addressStart + LINK_ADDRESS_CHARS_MAX);
  const isAngled = source.charAt(addressStart) === "<";
  const addressEnd = isAngled ? endOfAngled(source, addressStart + 1, limit) : endOfBare(source, addressStart, limit);
  const address = source.slice(isAngled ? addressStart + 1 : addressStart, addressEnd);
  if (address === "") return null;
  const next = skipBlanks(source, isAngled ? addressEnd + 1 : addressEnd, end);
  if (next >= end) return null;
  if (source.charAt(next) === ")") return { address, title: null, end: next + 1 };
  const title = titleAt(source, next, end);
  const close = title === null ? end : skipBlanks(source, next + title.length + 2, end);
  return close < end && source.charAt(close) === ")" ? { address, title, end: close + 1 } : null;
}

/** A quoted title without its quotes; a space must separate it from the URL. */
function titleAt(source: string, start: number, end: number): string | null {
  const quote = source.charAt(start);
  if ((quote !== '"' && quote !== "'") || source.charAt(start - 1) !== " ") return null;
  const limit = Math.min(end, start + LINK_TITLE_CHARS_MAX);
  for (let position = start + 1; position < limit; position++) {
    if (source.charAt(position) === quote) return source.slice(start + 1, position);
  }
  return null;
}

function endOfAngled(source: string, start: number, limit: number): number {
  let position = start;
  while (position < limit && !">\n<".includes(source.charAt(position))) position++;
  return source.charAt(position) === ">" ? position : start;
}

function endOfBare(source: string, start: number, limit: number): number {
  let depth = 0;
  let position = start;
  for (; position < limit; position++) {
    const character = source.charAt(position);
    if (character === " " || character === "\n" || character === "\t") break;
    if (character === "(" && ++depth > LINK_PARENTHESES_MAX) break;
    if (character === ")" && --depth < 0) break;
  }
  return position;
}

function skipBlanks(source: string, start: number, end: number): number {
  let position = start;
  while (position < end && source.charCodeAt(position) === SPACE) position++;
  return position;
}
