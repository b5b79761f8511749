// Compiles a linkifier's pattern with an engine that runs in linear time (RE2 syntax, as in Zulip). Linear time is
// still multiplied by the program size, so a pattern is measured before it is compiled (nested repetitions multiply:
// "(?:x{1,30}){1,30}" has 900 copies of "x"), and its program is bounded.
import { RE2JS, RE2JSException } from "re2js";
import { LINKIFIER_PATTERN_CHARS_MAX, LINKIFIER_PROGRAM_STEPS_MAX } from "./bounds.ts";

export interface LinkifierPattern {
  /** Group 1 is the match; the rest is the required context before and after it. */
  readonly regexp: RE2JS;
  /** Number of instructions of the program. */
  readonly size: number;
}

export interface MeasuredPattern {
  /** Number of single characters and classes with all repetitions expanded. */
  readonly size: number;
  /** Characters in every match. A text without one of them need not be searched. */
  readonly required: readonly string[];
}

// A match starts after white space or an opening character, and ends at the end of a word.
const BEFORE = "(?:^|[\\s\\v\\pZ\\x{85}\\x{feff}'\"(\\[,:<])";
const AFTER = "(?:$|[^\\pL\\pN_])";

/** Returns null if the engine cannot express it, or its program would be too large. */
export function compileLinkifierPattern(pattern: string): LinkifierPattern | null {
  if (pattern === "" || pattern.length > LINKIFIER_PATTERN_CHARS_MAX) return null;
  if (measurePattern(pattern).size > LINKIFIER_PROGRAM_STEPS_MAX) return null;
  try {
    // Compiled alone first, so that an open bracket cannot swallow the surrounding context.
    RE2JS.compile(pattern);
    const regexp = RE2JS.compile(`${BEFORE}(${pattern})${AFTER}`);
    const size = regexp.programSize();
    return size > LINKIFIER_PROGRAM_STEPS_MAX ? null : { regexp, size };
  } catch (error) {
    if (error instanceof RE2JSException) return null;
    throw error;
  }
}

interface Part {
  size: number;
  required: string[];
}

interface Group extends Part {
  hasAlternatives: boolean;
}

const QUANTIFIER = /[*+?]\??|\{(\d+)(,(\d*))?\}\??/y;
const CLASS_ESCAPE = /\\(?:[pPx]\{[^}]*\}|[pP].|x[0-9a-fA-F]{2}|\d{1,3}|.)/suy;
const GROUP_START = /\(\?(?:P?<\w+>|:)/y;
const FLAGS = /\(\?[a-zA-Z-]+[:)]/;
const PUNCTUATION = /^[!-/:-@[-`{-~]$/;

/** Never too small for a pattern that the engine accepts; the compiled program is measured again. */
export function measurePattern(pattern: string): MeasuredPattern {
  const groups: Group[] = [newGroup()];
  let position = 0;
  while (position < pattern.length) {
    const character = String.fromCodePoint(pattern.codePointAt(position) ?? 0);
    if (character === "(") {
      groups.push(newGroup());
      position += matchAt(GROUP_START, pattern, position)?.[0].length ?? 1;
      continue;
    }
    if (character === "|") {
      const group = groups.at(-1);
      if (group !== undefined) group.hasAlternatives = true;
      position++;
      continue;
    }
    let part: Part = { size: 1, required: [] };
    if (character === ")") {
      const closed = groups.length > 1 ? groups.pop() : undefined;
      if (closed !== undefined) part = partOf(closed);
      position++;
    } else if (character === "[") position = endOfClass(pattern, position);
    else if (character === "\\") {
      const escaped = matchAt(CLASS_ESCAPE, pattern, position)?.[0] ?? "\\";
      if (PUNCTUATION.test(escaped.slice(1))) part.required.push(escaped.slice(1));
      position += escaped.length;
    } else {
      if (!".^$".includes(character)) part.required.push(character);
      position += character.length;
    }
    for (let found = matchAt(QUANTIFIER, pattern, position); found !== null; ) {
      part = repeated(part, found);
      position += found[0].length;
      found = matchAt(QUANTIFIER, pattern, position);
    }
    const group = groups.at(-1);
    if (group === undefined) continue;
    group.size += part.size;
    group.required.push(...part.required);
  }
  const whole = groups.map(partOf).reduce(joined);
  // With flags a letter may match its other case, and quoted parts are not parsed here.
  const isLiteral = !FLAGS.test(pattern) && !pattern.includes("\\Q");
  return { size: whole.size, required: isLiteral ? [...new Set(whole.required)] : [] };
}

function newGroup(): Group {
  return { size: 0, required: [], hasAlternatives: false };
}

function partOf({ size, required, hasAlternatives }: Group): Part {
  return { size: size + 1, required: hasAlternatives ? [] : required };
}

function joined(first: Part, second: Part): Part {
  return { size: first.size + second.size, required: [...first.required, ...second.required] };
}

function repeated({ size, required }: Part, [whole, least, , most]: RegExpExecArray): Part {
  const isOptional = whole.startsWith("*") || whole.startsWith("?") || Number(least) === 0;
  const copies = least === undefined ? 1 : Math.max(Number(least), Number(most ?? 0), 1);
  return { size: size * copies + 1, required: isOptional ? [] : required };
}

/** The position after the bracket that closes the class at `start`. */
function endOfClass(pattern: string, start: number): number {
  const first = pattern.charAt(start + 1) === "^" ? start + 2 : start + 1;
  for (let position = first; position < pattern.length; position++) {
    const character = pattern.charAt(position);
    if (character === "\\") position++;
    else if (character === "[" && pattern.charAt(position + 1) === ":") {
      const end = pattern.indexOf(":]", position);
      if (end > 0) position = end + 1;
    } else if (character === "]" && position > first) return position + 1;
  }
  return pattern.length;
}

function matchAt(regexp: RegExp, text: string, position: number): RegExpExecArray | null {
  regexp.lastIndex = position;
  return regexp.exec(text);
}
