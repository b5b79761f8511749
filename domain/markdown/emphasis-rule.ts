// `*` and `**`: where they open and close emphasis. CommonMark's rule needs a blank or punctuation on one side, which
// scripts without blanks do not have; the public server looks only for blanks inside. markdown-it pairs what this finds.
import type { StateInline } from "markdown-it";

const BLANK = /^\s?$/u;
const BLANK_OR_PUNCTUATION = /^(?:\s|[\p{P}\p{S}])?$/u;
/** After a word it ends something: in `soup*, bread*` neither star opens emphasis. */
const CLOSING = /[\p{Pe}\p{Pf},.;:!?\u2026\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01\uff1f]/u;
/** Before a word it begins something. */
const OPENING = /[\p{Ps}\p{Pi}]/u;

export function emphasisRule(state: StateInline): boolean {
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
