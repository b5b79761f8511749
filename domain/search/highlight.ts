/**
 * Marks search matches in rendered HTML (behaviour 2.9): `<span class="highlight">` around words and phrases in text,
 * never inside a tag or an entity. Only the first `search_marks_per_message_max` matches of a message are marked.
 */
import { limits } from "../../schemas/limits.ts";
import type { SearchQuery } from "./query.ts";
import { TracedText } from "./traced-text.ts";
import { wordPattern } from "./words.ts";

const opening = '<span class="highlight">';
const closing = "</span>";

type Span = readonly [start: number, end: number];

export function highlight(query: SearchQuery, html: string): string {
  return isPlain(query, html) ? highlightPlain(query, html) : highlightTraced(query, html);
}

/** Each word of the text is compared with each of the search. */
const plainWords_max = 8;
const plainCharacters = /^[\0-%'-\x7f]*$/;

/**
 * Whether folding keeps the positions of the text: ASCII without entities. Phrases may extend over tags, and formulas
 * are not marked.
 */
function isPlain({ words, phrases }: SearchQuery, html: string): boolean {
  return (
    words.length <= plainWords_max &&
    phrases.length === 0 &&
    html.length <= limits.search_marked_characters_max &&
    plainCharacters.test(html) &&
    !html.includes("<math")
  );
}

/** The same as `highlightTraced`, which takes twenty times as long. */
function highlightPlain(query: SearchQuery, html: string): string {
  let marked = "";
  let done = 0;
  let marks = 0;
  let tag = nextTag(html, 0);
  // Words neither overlap nor touch.
  for (const [start, end] of wordSpans(query, html.toLowerCase(), html.length)) {
    while (tag.end <= start) tag = nextTag(html, tag.end);
    if (start >= tag.start) continue;
    marked += html.slice(done, start) + opening + html.slice(start, end) + closing;
    done = end;
    marks++;
    if (marks === limits.search_marks_per_message_max) break;
  }
  return marked + html.slice(done);
}

/** The first tag from a point on; infinite: there is none. */
function nextTag(html: string, from: number): { readonly start: number; readonly end: number } {
  const start = html.indexOf("<", from);
  const last = start < 0 ? -1 : html.indexOf(">", start);
  return last < 0 ? { start: Infinity, end: Infinity } : { start, end: last + 1 };
}

/** For any text: locates each match in the HTML. */
export function highlightTraced(query: SearchQuery, html: string): string {
  const traced = new TracedText(html);
  const spans = merged([...wordSpans(query, traced.folded), ...phraseSpans(query, traced.folded)]);
  if (spans.length === 0) return html;
  let marked = "";
  let marks = 0;
  let done = 0;
  for (const [start, end] of spans.flatMap((span) => outsideFixed(span, traced))) {
    const from = traced.start(start);
    const to = traced.end(end - 1);
    // One source character may fold to several; it is marked once, as a whole.
    if (from < done) continue;
    marked += html.slice(done, from) + opening + html.slice(from, to) + closing;
    done = to;
    marks++;
    if (marks === limits.search_marks_per_message_max) break;
  }
  return marked + html.slice(done);
}

function wordSpans({ words }: SearchQuery, folded: string, most = marksLooked_max): Span[] {
  const spans: Span[] = [];
  if (words.length === 0) return spans;
  for (const { 0: found, index } of folded.matchAll(wordPattern(folded))) {
    if (!words.some((word) => word.accepts(found))) continue;
    spans.push([index, index + found.length]);
    if (spans.length === most) break;
  }
  return spans;
}

/** Adjacent matches are joined into one mark, so more matches than marks are collected. */
const marksLooked_max = 10 * limits.search_marks_per_message_max;

function phraseSpans({ phrases }: SearchQuery, folded: string): Span[] {
  if (phrases.length === 0) return [];
  const { text, places } = evened(folded);
  return phrases.flatMap((phrase) => {
    const spans: Span[] = [];
    for (let at = text.indexOf(phrase); at >= 0 && spans.length < marksLooked_max; ) {
      const end = at + phrase.length;
      spans.push([places[at] ?? 0, (places[end - 1] ?? 0) + 1]);
      at = text.indexOf(phrase, end);
    }
    return spans;
  });
}

const blank = /\s/;

/** White space collapsed to single spaces, with the original position of each unit. */
function evened(folded: string): { readonly text: string; readonly places: Int32Array } {
  const places = new Int32Array(folded.length);
  let text = "";
  let length = 0;
  let copied = 0;
  let wasBlank = false;
  for (let at = 0; at < folded.length; at++) {
    const code = folded.charCodeAt(at);
    const isBlank = code <= 0x20 || code >= 0xa0 ? blank.test(folded.charAt(at)) : false;
    if (isBlank) {
      text += folded.slice(copied, at) + (wasBlank ? "" : " ");
      copied = at + 1;
    }
    if (!(isBlank && wasBlank)) places[length++] = at;
    wasBlank = isBlank;
  }
  return { text: text + folded.slice(copied), places };
}

/** Ordered, with touching spans joined. */
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
function outsideFixed([start, end]: Span, traced: TracedText): Span[] {
  const parts: Span[] = [];
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && !traced.isFixed(at)) continue;
    if (at > from) parts.push([from, at]);
    from = at + 1;
  }
  return parts;
}
