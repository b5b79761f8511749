/** The search box: a text of operators and words as terms of a narrow, and suggestions for what is being typed. */
import { best } from "../compose/completion.ts";
import type { Term } from "./narrow.ts";

export interface Names {
  readonly users: readonly { readonly user_id: number; readonly full_name: string }[];
  readonly channels: readonly { readonly stream_id: number; readonly name: string }[];
  nameOfUser(userId: number): string | undefined;
  nameOfChannel(channelId: number): string | undefined;
  topicsOf(channelId: number): readonly string[];
}

const operators: Readonly<Record<string, string>> = {
  channel: "messages in a channel",
  topic: "messages in topics of this name",
  sender: "messages sent by a person",
  dm: "direct messages with a person",
  "dm-including": "direct messages that include a person",
  is: "messages in a state, such as is:starred",
  has: "messages with a link, image, attachment or reaction",
  near: "messages around an id",
  channels: "messages in all public channels",
};

const values: Readonly<Record<string, readonly string[]>> = {
  is: ["starred", "mentioned", "unread", "dm", "alerted", "followed", "resolved", "muted"],
  has: ["link", "image", "attachment", "reaction"],
  channels: ["public"],
};

const personOperators: ReadonlySet<string> = new Set(["sender", "dm", "dm-including"]);

/** Words, with quoted parts as one. */
function wordsOf(text: string): string[] {
  return text.match(/(?:[^\s"]+:)?"[^"]*"?|\S+/g) ?? [];
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value;
}

function split(word: string): { negated: boolean; operator: string | null; value: string } {
  const match = /^(-?)([a-z-]+):(.*)$/is.exec(word);
  const name = match?.[2]?.toLowerCase() ?? "";
  const operator = { stream: "channel", from: "sender", "pm-with": "dm" }[name] ?? name;
  if (match === null || !Object.hasOwn(operators, operator)) return { negated: false, operator: null, value: word };
  return { negated: match[1] === "-", operator, value: (match[3] ?? "").replaceAll('"', "") };
}

function userOf(value: string, names: Names): number | null {
  const wanted = value.trim().toLowerCase();
  return names.users.find(({ full_name: name }) => name.toLowerCase() === wanted)?.user_id ?? null;
}

function termOf(operator: string, value: string, names: Names): Term {
  if (operator === "channel") {
    const found = names.channels.find(({ name }) => name.toLowerCase() === value.toLowerCase());
    return { operator, operand: found?.stream_id ?? value };
  }
  if (operator === "sender") return { operator, operand: userOf(value, names) ?? value };
  if (operator === "dm" || operator === "dm-including") {
    const ids = value.split(",").map((name) => userOf(name, names));
    return { operator, operand: ids.every((id) => id !== null) ? ids : value };
  }
  return { operator, operand: value };
}

export function termsOfText(text: string, names: Names): readonly Term[] {
  const terms: Term[] = [];
  const searched: string[] = [];
  for (const word of wordsOf(text)) {
    const { negated, operator, value } = split(word);
    if (operator === null) searched.push(word);
    else if (value !== "" && operator !== "near") {
      terms.push({ ...termOf(operator, value, names), ...(negated ? { negated: true } : {}) });
    }
  }
  return searched.length === 0 ? terms : [...terms, { operator: "search", operand: searched.join(" ") }];
}

function operandText({ operator, operand }: Term, names: Names): string {
  if (operator === "channel" && typeof operand === "number") return names.nameOfChannel(operand) ?? String(operand);
  if (personOperators.has(operator) && typeof operand !== "string") {
    const ids = typeof operand === "number" ? [operand] : operand;
    return ids.map((id) => names.nameOfUser(id) ?? String(id)).join(",");
  }
  return String(operand);
}

export function textOfTerms(terms: readonly Term[], names: Names): string {
  return terms
    .map((term) => {
      const text = operandText(term, names);
      if (term.operator === "search") return text;
      return `${term.negated === true ? "-" : ""}${term.operator}:${quoted(text)}`;
    })
    .join(" ");
}

export interface Suggestion {
  readonly text: string;
  readonly note: string;
  /** Choosing it runs the search. */
  readonly isDone: boolean;
}

const suggestionsMax = 8;

function valueSuggestions(operator: string, query: string, names: Names, before: string): readonly Suggestion[] {
  const made = (value: string, note: string) => ({ text: `${before}${operator}:${quoted(value)}`, note, isDone: true });
  if (operator === "channel") {
    return best(names.channels, ({ name }) => name, query, suggestionsMax).map(({ name }) =>
      made(name, operators["channel"] ?? ""),
    );
  }
  if (personOperators.has(operator)) {
    return best(names.users, ({ full_name: name }) => name, query, suggestionsMax).map(({ full_name: name }) =>
      made(name, operators[operator] ?? ""),
    );
  }
  if (operator === "topic") {
    const channel = /(?:^|\s)channel:("[^"]*"|\S+)/.exec(before)?.[1]?.replaceAll('"', "").toLowerCase();
    const id = names.channels.find(({ name }) => name.toLowerCase() === channel)?.stream_id;
    return best(id === undefined ? [] : names.topicsOf(id), (topic) => topic, query, suggestionsMax).map((topic) =>
      made(topic, "topic"),
    );
  }
  return best(values[operator] ?? [], (value) => value, query, suggestionsMax).map((value) => made(value, ""));
}

export function suggestionsFor(text: string, names: Names): readonly Suggestion[] {
  const match = /^(.*?)((?:[^\s"]+:)?"[^"]*"?|\S*)$/s.exec(text);
  const before = match?.[1] ?? "";
  const last = match?.[2] ?? "";
  const { operator, value, negated } = split(last);
  if (operator !== null) return valueSuggestions(operator, value, names, `${before}${negated ? "-" : ""}`);
  const searched: readonly Suggestion[] =
    text.trim() === "" ? [] : [{ text: text.trim(), note: "search messages", isDone: true }];
  const named = best(Object.entries(operators), ([name]) => name, last, 6).map(([name, note]) => ({
    text: `${before}${name}:`,
    note,
    isDone: false,
  }));
  if (last === "") return [...searched, ...named].slice(0, suggestionsMax);
  const channels = best(names.channels, ({ name }) => name, last, 3).map(({ name }) => ({
    text: `${before}channel:${quoted(name)}`,
    note: "channel",
    isDone: true,
  }));
  const people = best(names.users, ({ full_name: name }) => name, last, 3).flatMap(({ full_name: name }) => [
    { text: `${before}sender:${quoted(name)}`, note: "messages sent by", isDone: true },
    { text: `${before}dm:${quoted(name)}`, note: "direct messages with", isDone: true },
  ]);
  return [...searched, ...named.slice(0, 3), ...channels, ...people].slice(0, suggestionsMax);
}
