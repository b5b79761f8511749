// Linkifiers: patterns of administrators that turn "#123" into a link. Patterns use the syntax that clients send (named
// groups as `(?P<name>...)`), templates are RFC 6570 URI templates. Patterns run in linear time (linkifier-pattern.ts),
// a match stays on one line, and the total work per message is bounded.
import { LRUCache } from "lru-cache";
import {
  LINKIFIER_CACHE_COUNT_MAX,
  LINKIFIER_LINE_CHARS_MAX,
  LINKIFIER_MATCHES_MAX,
  LINKIFIER_STEPS_PER_MESSAGE_MAX,
  LINKIFIERS_PER_MESSAGE_MAX,
} from "./bounds.ts";
import { compileLinkifierPattern, type LinkifierPattern, measurePattern } from "./linkifier-pattern.ts";
import { findLinks, type LinkSpan, safeHref } from "./links.ts";
import { expandTemplate, isTemplate, isWebTemplate } from "./uri-template.ts";

export interface Linkifier {
  readonly pattern: string;
  readonly urlTemplate: string;
}

export interface TopicLink {
  readonly text: string;
  readonly url: string;
}

/** An unusable pattern is cached as such. */
type Compiled = LinkifierPattern | "unusable";

const compiledPatterns = new LRUCache<string, Compiled>({ max: LINKIFIER_CACHE_COUNT_MAX });

function compiled(pattern: string): Compiled {
  const known = compiledPatterns.get(pattern);
  if (known !== undefined) return known;
  const made = compileLinkifierPattern(pattern) ?? "unusable";
  compiledPatterns.set(pattern, made);
  return made;
}

/** Why a linkifier is rejected, or null. */
export function linkifierProblem(linkifier: Linkifier): "pattern" | "template" | "scheme" | null {
  if (compiled(linkifier.pattern) === "unusable") return "pattern";
  if (!isTemplate(linkifier.urlTemplate)) return "template";
  return isWebTemplate(linkifier.urlTemplate) ? null : "scheme";
}

/** Names of a pattern's groups, without duplicates. */
export function groupNames(pattern: string): string[] {
  return [...new Set(Array.from(pattern.matchAll(/\(\?P?<(\w+)>/g), ([, name = ""]) => name))];
}

interface Candidate {
  readonly pattern: string;
  readonly urlTemplate: string;
  readonly names: readonly string[];
  readonly required: readonly string[];
}

/** Keyed by the list of linkifiers, which is replaced whenever one of them changes. */
const candidateLists = new WeakMap<readonly Linkifier[], readonly Candidate[]>();

function candidatesOf(linkifiers: readonly Linkifier[]): readonly Candidate[] {
  const known = candidateLists.get(linkifiers);
  if (known !== undefined) return known;
  const candidates = linkifiers
    .filter(({ urlTemplate }) => isTemplate(urlTemplate) && isWebTemplate(urlTemplate))
    .map(({ pattern, urlTemplate }) => ({
      pattern,
      urlTemplate,
      names: groupNames(pattern),
      required: measurePattern(pattern).required,
    }));
  candidateLists.set(linkifiers, candidates);
  return candidates;
}

/** Cost, in steps, of checking that a line lacks a character. */
const STEPS_PER_LOOK = 10;

/** Finds linkifiers in one message, line by line, until its bounds are reached; the rest stays text. */
export class LinkifierFinder {
  readonly #candidates: readonly Candidate[];
  readonly #run = new Set<Candidate>();
  #stepsLeft = LINKIFIER_STEPS_PER_MESSAGE_MAX;
  /** Lines are searched more than once: to decide whether a text is plain, and to find its links. */
  readonly #byLine = new Map<string, readonly LinkSpan[]>();

  constructor(linkifiers: readonly Linkifier[]) {
    this.#candidates = linkifiers.length === 0 ? [] : candidatesOf(linkifiers);
  }

  /** Ordered matches in a text, without overlaps; earlier linkifiers win. The caller escapes `href`. */
  find(text: string): LinkSpan[] {
    if (this.#candidates.length === 0) return [];
    const spans = linesOf(text).flatMap(({ start, line }) =>
      this.#findInLine(line).map((span) => ({ ...span, start: span.start + start, end: span.end + start })),
    );
    return spans.slice(0, LINKIFIER_MATCHES_MAX);
  }

  /** True if any linkifier matches somewhere. */
  matchesAny(text: string): boolean {
    if (this.#candidates.length === 0) return false;
    return linesOf(text).some(({ line }) => this.#findInLine(line).length > 0);
  }

  #findInLine(line: string): readonly LinkSpan[] {
    const known = this.#byLine.get(line);
    if (known !== undefined) return known;
    const spans: LinkSpan[] = [];
    for (const candidate of this.#candidates) {
      if (this.#stepsLeft <= 0) break;
      this.#stepsLeft -= STEPS_PER_LOOK;
      if (candidate.required.every((character) => line.includes(character))) this.#findOne(candidate, line, spans);
    }
    spans.sort((left, right) => left.start - right.start);
    this.#byLine.set(line, spans);
    return spans;
  }

  #findOne(candidate: Candidate, line: string, spans: LinkSpan[]): void {
    // Compiling is expensive, so one message compiles only a limited number of new patterns.
    if (!this.#run.has(candidate) && this.#run.size >= LINKIFIERS_PER_MESSAGE_MAX) return;
    this.#run.add(candidate);
    const usable = compiled(candidate.pattern);
    if (usable === "unusable") return;
    const taken = new Uint8Array(line.length);
    for (const { start, end } of spans) taken.fill(1, start, end);
    const matcher = usable.regexp.matcher(line);
    let at = 0;
    while (at <= line.length && this.#stepsLeft > 0 && spans.length < LINKIFIER_MATCHES_MAX) {
      const isFound = matcher.find(at);
      // How far the engine looked behind the match is unknown: assume the rest of the line.
      this.#stepsLeft -= usable.size * (line.length - at);
      if (!isFound) break;
      const [start, end] = [matcher.start(1), matcher.end(1)];
      // The last character of a match may be the required context before the next one.
      at = Math.max(startOfLast(line, end), at + 1);
      if (start === end || taken.subarray(start, end).includes(1)) continue;
      const values = Object.fromEntries(candidate.names.map((name) => [name, matcher.group(name) ?? undefined]));
      // The template may start with the matched text, so only the complete URL can be checked.
      const href = safeHref(expandTemplate(candidate.urlTemplate, values), null);
      if (href !== null) spans.push({ start, end, href });
    }
  }
}

/** Start of the character that ends before `end`. */
function startOfLast(line: string, end: number): number {
  return /[\udc00-\udfff]/.test(line.charAt(end - 1)) ? end - 2 : end - 1;
}

/** The links in a topic name: URLs and linkifier matches, in order of appearance. */
export function renderTopicLinks(topic: string, linkifiers: readonly Linkifier[]): TopicLink[] {
  const links = findLinks(topic, null);
  const matches = new LinkifierFinder(linkifiers)
    .find(topic)
    .filter((match) => !links.some((link) => link.start < match.end && match.start < link.end));
  return [...links, ...matches]
    .sort((left, right) => left.start - right.start)
    .map(({ start, end, href }) => ({ text: topic.slice(start, end), url: href }));
}

function linesOf(text: string): { start: number; line: string }[] {
  let next = 0;
  return text.split("\n").map((line) => {
    const start = next;
    next += line.length + 1;
    return { start, line: line.slice(0, LINKIFIER_LINE_CHARS_MAX) };
  });
}
