/** Completion of what is being typed: finds the started name before the caret, and puts the chosen one in its place. */
import { endsInCode } from "./fences.ts";

export type CompletionKind = "person" | "channel" | "topic" | "emoji" | "command";

export interface Started {
  readonly kind: CompletionKind;
  readonly query: string;
  /** The part of the text that a choice replaces. */
  readonly start: number;
  readonly end: number;
  /** The channel of a topic. */
  readonly channel?: string;
  readonly isSilent?: boolean;
}

const nameMax = 40;

/** @returns null if nothing is started there, such as in code */
export function startedAt(text: string, caret: number): Started | null {
  if (endsInCode(text.slice(0, caret))) return null;
  const before = text.slice(Math.max(0, caret - 120), caret);
  const offset = caret - before.length;
  const topic = /#\*\*([^*>\n]{1,60})>([^*\n]{0,60})$/.exec(before);
  if (topic !== null) {
    const [, channel = "", query = ""] = topic;
    return { kind: "topic", query, channel, start: offset + topic.index, end: caret };
  }
  if (offset === 0 && /^\/\w*$/.test(before)) return { kind: "command", query: before.slice(1), start: 0, end: caret };
  const person = /(?:^|[\s([{"'/])(@_?)(?:\*{0,2})([^\s@*][^@*\n]*)?$/.exec(before);
  if (person !== null) {
    const [all, sign = "", query = ""] = person;
    const start = offset + person.index + all.indexOf(sign);
    // A name has spaces, but no sentence follows the sign.
    if (query.length <= nameMax && query.split(" ").length <= 3 && !/[.!?,;:]\s/.test(query)) {
      return { kind: "person", query, start, end: caret, isSilent: sign === "@_" };
    }
  }
  const channel = /(?:^|[\s([{"'/])#(\*{0,2})([^\s#*](?:[^#*\n>]|\*(?!\*))*)?$/.exec(before);
  if (channel !== null) {
    const [all, , query = ""] = channel;
    if (query.length <= nameMax && query.split(" ").length <= 3) {
      return { kind: "channel", query, start: offset + channel.index + all.indexOf("#"), end: caret };
    }
  }
  const emoji = /(?:^|[\s([{"'/*])(:([a-z0-9_+-]{2,30}))$/i.exec(before);
  if (emoji !== null) {
    const [all, typed = "", query = ""] = emoji;
    return {
      kind: "emoji",
      query: query.toLowerCase(),
      start: offset + emoji.index + all.length - typed.length,
      end: caret,
    };
  }
  return null;
}

export interface Candidate {
  readonly key: string;
  readonly label: string;
  readonly note?: string;
  /** What replaces the started name. */
  readonly text: string;
  /** An emoji or a sign before the label. */
  readonly sign?: string;
  readonly userId?: number;
}

/** How well a name fits: 0 is the best; null: not at all. */
export function rankOf(name: string, query: string): number | null {
  const folded = fold(name);
  const wanted = fold(query);
  if (wanted === "") return 1;
  if (folded === wanted) return 0;
  if (folded.startsWith(wanted)) return 1;
  if (folded.split(/[\s_.-]+/).some((word) => word.startsWith(wanted))) return 2;
  return folded.includes(wanted) ? 3 : null;
}

/** Case and accents do not count. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The best fitting entries, at most `max`. */
export function best<T>(entries: Iterable<T>, nameOf: (entry: T) => string, query: string, max: number): T[] {
  const ranked: { readonly entry: T; readonly rank: number; readonly order: number }[] = [];
  let order = 0;
  for (const entry of entries) {
    const rank = rankOf(nameOf(entry), query);
    if (rank !== null) ranked.push({ entry, rank, order: order++ });
  }
  return ranked
    .sort((a, b) => a.rank - b.rank || a.order - b.order)
    .slice(0, max)
    .map(({ entry }) => entry);
}
