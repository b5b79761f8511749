// Linkifiers: patterns of the realm's administrators that turn "#123" into a link. Patterns come in the syntax that
// clients send (named groups as `(?P<name>...)`), templates are RFC 6570 URI templates. A pattern is run by a
// backtracking engine, so patterns that could take exponential time (a repeated group that itself repeats, look-around,
// back-references) are refused, a match stays on one line, and long lines are looked at only up to a bound.
import {
  LINKIFIER_CACHE_COUNT_MAX,
  LINKIFIER_LINE_CHARS_MAX,
  LINKIFIER_MATCHES_MAX,
  LINKIFIER_PATTERN_CHARS_MAX,
} from "./bounds.ts";
import { findLinks, type LinkSpan, safeHref } from "./links.ts";
import { expandTemplate, isTemplate } from "./uri-template.ts";

export interface Linkifier {
  readonly pattern: string;
  readonly urlTemplate: string;
}

export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

export interface CompiledLinkifier {
  readonly regexp: RegExp;
  readonly urlTemplate: string;
}

// A match begins after white space or an opening character and ends where the word ends.
const BEFORE = "(?<![^\\s'\"(\\[,:<])";
const AFTER = "(?![\\p{L}\\p{N}_])";
const UNBOUNDED = /^(?:[*+]|\{\d+,\}|\{\d*,?\d{3,}\})/;
const GROUP_PREFIX = /^\?(?::|P?<\w+>)/;
const QUANTIFIED = /^(?:[*+?]|\{\d*,?\d*\})/;
const FORBIDDEN = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k<|\(\?P=/;

const cache = new Map<string, RegExp | null>();

/** Why a linkifier cannot be accepted, or null when it can. */
export function linkifierProblem(linkifier: Linkifier): "pattern" | "template" | null {
  if (compilePattern(linkifier.pattern) === null) return "pattern";
  return isTemplate(linkifier.urlTemplate) ? null : "template";
}

/** Names of the groups of a pattern, each once. */
export function groupNames(pattern: string): string[] {
  return [...new Set(Array.from(pattern.matchAll(/\(\?P?<(\w+)>/g), ([, name = ""]) => name))];
}

/** The usable ones, ready to run; what {@link linkifierProblem} would refuse is left out. */
export function compileLinkifiers(linkifiers: readonly Linkifier[]): CompiledLinkifier[] {
  return linkifiers.flatMap(({ pattern, urlTemplate }) => {
    const regexp = compilePattern(pattern);
    return regexp === null || !isTemplate(urlTemplate) ? [] : [{ regexp, urlTemplate }];
  });
}

/** Matches in text, in order, none overlapping; earlier linkifiers win. The caller escapes `href`. */
export function findLinkifierMatches(text: string, linkifiers: readonly CompiledLinkifier[]): LinkSpan[] {
  if (linkifiers.length === 0) return [];
  const spans: LinkSpan[] = [];
  for (const { start: lineStart, line } of linesOf(text)) {
    for (const { regexp, urlTemplate } of linkifiers) {
      for (const match of line.matchAll(regexp)) {
        if (spans.length >= LINKIFIER_MATCHES_MAX) return sortSpans(spans);
        const start = lineStart + match.index;
        const end = start + match[0].length;
        if (end === start || spans.some((span) => span.start < end && start < span.end)) continue;
        // The template may begin with what was matched, so only the whole address shows where it leads.
        const href = safeHref(expandTemplate(urlTemplate, match.groups ?? {}), null);
        if (href !== null) spans.push({ start, end, href });
      }
    }
  }
  return sortSpans(spans);
}

/** The links in a topic's name: addresses and what linkifiers match, in order of appearance. */
export function renderTopicLinks(topic: string, linkifiers: readonly Linkifier[]): TopicLink[] {
  const links = findLinks(topic, null);
  const matches = findLinkifierMatches(topic, compileLinkifiers(linkifiers)).filter(
    (match) => !links.some((link) => link.start < match.end && match.start < link.end),
  );
  return sortSpans([...links, ...matches]).map(({ start, end, href }) => ({
    text: topic.slice(start, end),
    url: href,
  }));
}

/** True if any of them matches somewhere. */
export function matchesAny(text: string, linkifiers: readonly CompiledLinkifier[]): boolean {
  if (linkifiers.length === 0) return false;
  return linesOf(text).some(({ line }) => linkifiers.some(({ regexp }) => line.search(regexp) !== -1));
}

function linesOf(text: string): { start: number; line: string }[] {
  let next = 0;
  return text.split("\n").map((line) => {
    const start = next;
    next += line.length + 1;
    return { start, line: line.slice(0, LINKIFIER_LINE_CHARS_MAX) };
  });
}

function sortSpans(spans: LinkSpan[]): LinkSpan[] {
  return spans.sort((left, right) => left.start - right.start);
}

function compilePattern(pattern: string): RegExp | null {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  if (cache.size >= LINKIFIER_CACHE_COUNT_MAX) cache.clear();
  const compiled = isBoundedPattern(pattern) ? tryCompile(pattern) : null;
  cache.set(pattern, compiled);
  return compiled;
}

function tryCompile(pattern: string): RegExp | null {
  // On its own first, so that an open bracket in it cannot swallow what is put around it.
  if (!compiles(pattern.replaceAll("(?P<", "(?<"))) return null;
  const source = `${BEFORE}(?:${pattern.replaceAll("(?P<", "(?<")})${AFTER}`;
  // First as the pattern language of today, then leniently ("\-" and "\#" are errors in the strict one).
  for (const flags of ["gu", "g"]) {
    try {
      return new RegExp(flags === "gu" ? source : source.replace(AFTER, "(?!\\w)"), flags);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return null;
}

function compiles(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** False for patterns in which a group that repeats without bound contains, or is, something that repeats. */
export function isBoundedPattern(pattern: string): boolean {
  if (pattern === "" || pattern.length > LINKIFIER_PATTERN_CHARS_MAX || FORBIDDEN.test(pattern)) return false;
  const repeats: boolean[] = [false];
  for (let position = 0; position < pattern.length; position++) {
    const character = pattern.charAt(position);
    if (character === "\\") position++;
    else if (character === "[") position = endOfClass(pattern, position);
    else if (character === "(") {
      repeats.push(false);
      position += GROUP_PREFIX.exec(pattern.slice(position + 1, position + 80))?.[0].length ?? 0;
      continue;
    } else if (character === ")") {
      const inner = repeats.pop() ?? false;
      const rest = pattern.slice(position + 1, position + 12);
      if (inner && UNBOUNDED.test(rest)) return false;
      if (repeats.length === 0) return false;
      if (inner || QUANTIFIED.test(rest)) repeats[repeats.length - 1] = true;
      continue;
    } else if (character === "|" && repeats.length > 1) repeats[repeats.length - 1] = true;
    if (QUANTIFIED.test(pattern.slice(position + 1, position + 12))) repeats[repeats.length - 1] = true;
  }
  return repeats.length === 1;
}

function endOfClass(pattern: string, start: number): number {
  for (let position = start + 1; position < pattern.length; position++) {
    if (pattern.charAt(position) === "\\") position++;
    else if (pattern.charAt(position) === "]" && position > start + 1) return position;
  }
  return pattern.length;
}
