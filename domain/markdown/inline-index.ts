// An index of a paragraph's text, built before its inline rules run, in one linear pass per kind: ends of code spans,
// matching brackets, and the positions of URLs, linkifiers, emoji and emoticons. The rules only look things up, so that
// 10,000 brackets cost no more than 10,000 letters.
import type { StateInline } from "markdown-it";
import { type EmojiCode, emoticonAt } from "../emoji/emoji-table.ts";
import { emojiRunAt } from "../emoji/unicode-emoji.ts";
import { contextOf, type ParseContext } from "./context.ts";
import { findLinks, type LinkSpan } from "./links.ts";

/** A range of text that becomes a link (`href`), an emoji by its characters, or an emoji by its name. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  readonly href?: string;
  readonly emoji?: EmojiCode;
  readonly emojiName?: string;
}

export interface CodeSpan {
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly end: number;
}

interface InlineIndex {
  readonly codeSpans: ReadonlyMap<number, CodeSpan>;
  readonly labelEnds: ReadonlyMap<number, number>;
  readonly spans: readonly TextSpan[];
  /** The first span at or after the parser's position, which only moves forward. */
  next: number;
}

const BACKTICKS = /`+/g;
const BEYOND_ASCII_OR_KEYCAP = /[\u00a9\u00ae\u203c-\u{10ffff}]/u;
const EMOTICON_START = /[:;(<]/g;

const indexes = new WeakMap<StateInline, InlineIndex>();

/** The code span that starts at `position`, if any. */
export function codeSpanAt(state: StateInline, position: number): CodeSpan | undefined {
  return indexOf(state).codeSpans.get(position);
}

/** The position of the `]` that closes the `[` at `position`, if any. */
export function labelEndAt(state: StateInline, position: number): number | undefined {
  return indexOf(state).labelEnds.get(position);
}

/** The next span at or after `position`. Positions must not decrease between calls. */
export function nextSpan(state: StateInline, position: number): TextSpan | undefined {
  const index = indexOf(state);
  while (index.next < index.spans.length && (index.spans[index.next]?.start ?? 0) < position) index.next++;
  return index.spans[index.next];
}

function indexOf(state: StateInline): InlineIndex {
  const known = indexes.get(state);
  if (known !== undefined) return known;
  const codeSpans = findCodeSpans(state.src);
  const index = {
    codeSpans,
    labelEnds: findLabelEnds(state.src, codeSpans),
    spans: findSpans(state.src, contextOf(state.env)),
    next: 0,
  };
  indexes.set(state, index);
  return index;
}

/**
 * A run of backticks opens a code span if another run of the same length follows, and it is not inside another span.
 */
export function findCodeSpans(text: string): ReadonlyMap<number, CodeSpan> {
  const spans = new Map<number, CodeSpan>();
  if (!text.includes("`")) return spans;
  const runs = Array.from(text.matchAll(BACKTICKS), (match) => ({ start: match.index, length: match[0].length }));
  // Walks backwards to find the next run of the same length for every run.
  const nextOfLength = new Map<number, number>();
  const closers = new Array<number | undefined>(runs.length);
  for (let run = runs.length - 1; run >= 0; run--) {
    const length = runs[run]?.length ?? 0;
    closers[run] = nextOfLength.get(length);
    nextOfLength.set(length, run);
  }
  for (let run = 0; run < runs.length; run++) {
    const opener = runs[run];
    const closer = runs[closers[run] ?? -1];
    if (opener === undefined || closer === undefined) continue;
    const end = closer.start + closer.length;
    spans.set(opener.start, { contentStart: opener.start + opener.length, contentEnd: closer.start, end });
    run = closers[run] ?? run;
  }
  return spans;
}

function findLabelEnds(text: string, codeSpans: ReadonlyMap<number, CodeSpan>): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  if (!text.includes("](")) return ends;
  for (let position = 0; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === "`") position = (codeSpans.get(position)?.end ?? position + 1) - 1;
    else if (character === "[") open.push(position);
    else if (character === "]") {
      const start = open.pop();
      if (start !== undefined) ends.set(start, position);
    }
  }
  return ends;
}

/** URLs take precedence over linkifiers, and both over emoji; overlapping later finds are dropped. */
function findSpans(text: string, context: ParseContext): TextSpan[] {
  const links = merge(findLinks(text, context.realmUrl), context.linkifiers.find(text));
  const emoticons = context.translateEmoticons ? findEmoticons(text) : [];
  return merge(merge<TextSpan>(links, findUnicodeEmoji(text)), emoticons);
}

function merge<Span extends TextSpan | LinkSpan>(first: readonly Span[], second: readonly Span[]): Span[] {
  if (second.length === 0) return [...first];
  const merged: Span[] = [];
  let taken = 0;
  for (const span of second) {
    for (let other = first[taken]; other !== undefined && other.start < span.end; other = first[taken]) {
      merged.push(other);
      taken++;
    }
    if ((merged.at(-1)?.end ?? 0) <= span.start) merged.push(span);
  }
  return merged.concat(first.slice(taken));
}

function findUnicodeEmoji(text: string): TextSpan[] {
  const spans: TextSpan[] = [];
  if (!BEYOND_ASCII_OR_KEYCAP.test(text)) return spans;
  for (let position = 0; position < text.length; position++) {
    const run = emojiRunAt(text, position);
    if (run === null) continue;
    if (run.emoji !== null) spans.push({ start: position, end: run.end, emoji: run.emoji });
    position = run.end - 1;
  }
  return spans;
}

function findEmoticons(text: string): TextSpan[] {
  return Array.from(text.matchAll(EMOTICON_START)).flatMap((match) => {
    const name = emoticonAt(text, match.index);
    return name === null ? [] : [{ start: match.index, end: match.index + 2, emojiName: name }];
  });
}
