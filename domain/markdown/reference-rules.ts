// Inline rules for references: mentions, channels, topics, messages, emoji by name, times, formulas. They only
// recognize the syntax; names are resolved in the turn (resolve.ts).
import type { StateInline } from "markdown-it";
import { EMOJI_NAME_CHARS_MAX, REFERENCE_CHARS_MAX, TIMESTAMP_CHARS_MAX } from "./bounds.ts";
import { parseTimestamp } from "./timestamps.ts";
import { type InlineMeta, pushElement } from "./tokens.ts";

const CHANNEL_WILDCARDS: ReadonlySet<string> = new Set(["all", "everyone", "channel", "stream"]);
const TOPIC_WILDCARD = "topic";
// Characters that may precede a mention or a channel link. "a@**b**" is neither.
const BEFORE_REFERENCE = new Set(" \n\t'\"({[/<>,:*~");
const NAME_AND_ID = /^(.*)\|(\d{1,15})$/s;
const TOPIC_AND_MESSAGE = /^(.*)@(\d{1,15})$/s;
const EMOJI_NAME = new RegExp(`:([\\p{L}\\p{N}_+-]{1,${EMOJI_NAME_CHARS_MAX}}):`, "yu");
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
const TIME_PREFIX = "<time:";

/** `@**name**`, `@**name|id**`, `@*group*`; with `_` after the at sign if silent. */
export function mentionRule(state: StateInline): boolean {
  if (state.src.charAt(state.pos) !== "@" || !maySucceed(state)) return false;
  const silent = state.src.charAt(state.pos + 1) === "_";
  const open = state.pos + (silent ? 2 : 1);
  const user = delimited(state, open, "**");
  if (user !== null) return finish(state, userMention(user.text, silent), user.end);
  const group = delimited(state, open, "*");
  return group !== null && finish(state, { kind: "group", name: group.text, silent }, group.end);
}

/** `#**channel**`, `#**channel>topic**`, `#**channel>topic@message**`. Links do not nest. */
export function channelRule(state: StateInline): boolean {
  if (state.src.charAt(state.pos) !== "#" || state.linkLevel > 0 || !maySucceed(state)) return false;
  const found = delimited(state, state.pos + 1, "**");
  return found !== null && finish(state, channelReference(found.text), found.end);
}

/** `:name:`; whether such an emoji exists is not known here. */
export function emojiRule(state: StateInline): boolean {
  if (state.src.charAt(state.pos) !== ":") return false;
  EMOJI_NAME.lastIndex = state.pos;
  const match = EMOJI_NAME.exec(state.src);
  const end = state.pos + (match?.[0].length ?? 0);
  return match !== null && end <= state.posMax && finish(state, { kind: "emojiName", name: match[1] ?? "" }, end);
}

export function timeRule(state: StateInline): boolean {
  if (!state.src.startsWith(TIME_PREFIX, state.pos)) return false;
  const start = state.pos + TIME_PREFIX.length;
  const limit = Math.min(state.posMax, start + TIMESTAMP_CHARS_MAX);
  let end = start;
  while (end < limit && state.src.charAt(end) !== ">" && state.src.charAt(end) !== "\n") end++;
  if (end >= limit || state.src.charAt(end) !== ">" || end === start) return false;
  const source = state.src.slice(start, end);
  return finish(state, { kind: "time", instant: parseTimestamp(source), source }, end + 1);
}

/** `$$formula$$` on one line, without a letter, digit or another dollar sign right outside. */
export function mathRule(state: StateInline): boolean {
  const { src, pos } = state;
  if (src.charAt(pos) !== "$") return false;
  let runEnd = pos;
  while (src.charAt(runEnd) === "$") runEnd++;
  const end = runEnd - pos === 2 && !isWordCharacter(src, pos - 1) ? endOfFormula(src, runEnd, state.posMax) : -1;
  if (end !== -1) return finish(state, { kind: "math", source: src.slice(runEnd, end) }, end + 2);
  const textEnd = Math.min(runEnd, state.posMax);
  state.pending += src.slice(pos, textEnd);
  state.pos = textEnd;
  return true;
}

function endOfFormula(source: string, start: number, limit: number): number {
  if ("\n_".includes(source.charAt(start) || "\n")) return -1;
  for (let position = start; position < limit; position++) {
    const character = source.charAt(position);
    if (character === "\n") return -1;
    if (character === "\\" && source.charAt(position + 1) === "$") position++;
    else if (character === "$") {
      const closes = source.startsWith("$$", position) && position + 2 <= limit && source.charAt(position + 2) !== "$";
      return closes && !isWordCharacter(source, position + 2) ? position : -1;
    }
  }
  return -1;
}

function isWordCharacter(source: string, position: number): boolean {
  return WORD_CHARACTER.test(source.charAt(position));
}

function maySucceed(state: StateInline): boolean {
  return state.pos === 0 || BEFORE_REFERENCE.has(state.src.charAt(state.pos - 1));
}

/** Non-empty text between two marks on one line, without `*`. */
function delimited(state: StateInline, start: number, mark: "*" | "**"): { text: string; end: number } | null {
  const { src } = state;
  const textStart = start + mark.length;
  if (!src.startsWith(mark, start) || src.charAt(textStart) === "*") return null;
  const limit = Math.min(state.posMax, textStart + REFERENCE_CHARS_MAX);
  let position = textStart;
  while (position < limit && src.charAt(position) !== "*" && src.charAt(position) !== "\n") position++;
  const end = position + mark.length;
  if (position === textStart || end > state.posMax || !src.startsWith(mark, position)) return null;
  return { text: src.slice(textStart, position), end };
}

function userMention(text: string, silent: boolean): InlineMeta {
  if (CHANNEL_WILDCARDS.has(text)) return { kind: "channelWildcard", name: text, silent };
  if (text === TOPIC_WILDCARD) return { kind: "topicWildcard", silent };
  const match = NAME_AND_ID.exec(text);
  if (match === null) return { kind: "user", name: text, id: null, silent };
  return { kind: "user", name: match[1] === "" ? null : (match[1] ?? null), id: Number(match[2]), silent };
}

function channelReference(text: string): InlineMeta {
  const separator = text.indexOf(">");
  if (separator === -1) return { kind: "channel", channel: text };
  const channel = text.slice(0, separator);
  const topic = text.slice(separator + 1);
  const match = TOPIC_AND_MESSAGE.exec(topic);
  if (match === null) return { kind: "topic", channel, topic };
  return { kind: "message", channel, topic: match[1] ?? "", messageId: Number(match[2]) };
}

function finish(state: StateInline, meta: InlineMeta, end: number): boolean {
  pushElement(state, meta, state.src.slice(state.pos, end));
  state.pos = end;
  return true;
}
