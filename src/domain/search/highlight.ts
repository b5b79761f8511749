/**
 * Marks what a search found in rendered HTML (behaviour 2.9): `<span class="highlight">` around words and phrases in text, never
 * inside a tag or an entity. The text is folded character by character with a note of where each came from, so that a match
 * in folded text is known in HTML.
 */
import type { SearchQuery } from "./query.ts";
import { decodeEntity, foldText, wordsOf } from "./words.ts";

const opening = '<span class="highlight">';
const closing = "</span>";
/** A tag, an entity, a run of ordinary characters, or one character that looked like the beginning of either. */
const pieces = /<[^>]*>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|[^<&]+|[<&]/g;

/**
 * A folded text; unit i came from `html.slice(starts[i], ends[i])`. A tag is one blank. Nothing is marked where it `isFixed`: in
 * tags, and in MathML, whose parser would take an HTML element for the end of the formula.
 */
interface Traced {
  readonly folded: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly isFixed: readonly boolean[];
}

type Span = readonly [start: number, end: number];

export function highlight(query: SearchQuery, html: string): string {
  const traced = trace(html);
  const spans = merged([...wordSpans(query, traced.folded), ...phraseSpans(query, traced.folded)]);
  if (spans.length === 0) return html;
  let marked = "";
  let done = 0;
  for (const [start, end] of spans.flatMap((span) => outsideFixed(span, traced))) {
    const from = traced.starts[start] ?? 0;
    const to = traced.ends[end - 1] ?? 0;
    // One source character may fold to several: it is marked once, whole.
    if (from < done) continue;
    marked += html.slice(done, from) + opening + html.slice(from, to) + closing;
    done = to;
  }
  return marked + html.slice(done);
}

function trace(html: string): Traced {
  const folded: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const isFixed: boolean[] = [];
  const add = (text: string, start: number, end: number, fixed: boolean) => {
    for (let unit = 0; unit < text.length; unit++) {
      folded.push(text[unit] ?? "");
      starts.push(start);
      ends.push(end);
      isFixed.push(fixed);
    }
  };
  let isFormula = false;
  for (const { 0: piece, index } of html.matchAll(pieces)) {
    if (piece.length > 1 && piece.startsWith("<")) {
      isFormula = piece.startsWith("<math") || (isFormula && !piece.startsWith("</math"));
      add(" ", index, index + piece.length, true);
    } else if (piece.length > 1 && piece.startsWith("&")) {
      add(foldText(decodeEntity(piece)), index, index + piece.length, isFormula);
    } else {
      let at = index;
      for (const character of piece) {
        const end = at + character.length;
        const own = foldText(character);
        // A combining mark folds to nothing: it belongs to the character before it.
        if (own === "" && ends.length > 0 && isFixed.at(-1) === false) ends[ends.length - 1] = end;
        add(own, at, end, isFormula);
        at = end;
      }
    }
  }
  return { folded: folded.join(""), starts, ends, isFixed };
}

function wordSpans(query: SearchQuery, folded: string): Span[] {
  const wanted = new Set(query.words);
  const spans: Span[] = [];
  let at = 0;
  for (const word of wordsOf(folded)) {
    const start = folded.indexOf(word, at);
    at = start + word.length;
    if (wanted.has(word)) spans.push([start, at]);
  }
  return spans;
}

function phraseSpans(query: SearchQuery, folded: string): Span[] {
  return query.phrases.flatMap((phrase) => {
    const pattern = phrase.split(" ").map(escapePattern).join("\\s+");
    return [...folded.matchAll(new RegExp(pattern, "g"))].map((found): Span => {
      return [found.index, found.index + found[0].length];
    });
  });
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** In their order, those that touch joined. */
function merged(spans: readonly Span[]): Span[] {
  const joined: [number, number][] = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** The parts of a span that may be marked. */
function outsideFixed([start, end]: Span, { isFixed }: Traced): Span[] {
  const parts: Span[] = [];
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && isFixed[at] !== true) continue;
    if (at > from) parts.push([from, at]);
    from = at + 1;
  }
  return parts;
}
