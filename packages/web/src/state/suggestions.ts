/** The search box: suggestions for what is being typed. */
import { best } from "../compose/completion.ts";
import { type Names, personOperators, quoted, split, termsOfText, userText, word } from "./search.ts";

/** Operators that are offered. */
const operators: Readonly<Record<string, string>> = {
  channel: "messages in a channel",
  topic: "messages in topics of this name",
  sender: "messages sent by a person",
  dm: "direct messages with a person",
  "dm-including": "direct messages that include a person",
  is: "messages in a state, such as is:starred",
  has: "messages with a link, image, attachment or reaction",
  near: "messages around an id",
  id: "the message with an id",
  in: "all messages, or those that are not muted",
  channels: "messages in all channels of a kind",
};

const values: Readonly<Record<string, readonly string[]>> = {
  is: ["starred", "mentioned", "unread", "read", "dm", "alerted", "followed", "resolved", "muted"],
  has: ["link", "image", "attachment", "reaction"],
  in: ["home", "all"],
  channels: ["public", "web-public", "archived"],
};

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
    return best(names.users, ({ full_name: name }) => name, query, suggestionsMax).map(({ user_id: id }) =>
      made(userText(id, names), operators[operator] ?? ""),
    );
  }
  if (operator === "topic") {
    const [id] = termsOfText(before, names).flatMap((term) => (term.operator === "channel" ? [term.operand] : []));
    const labels = typeof id === "number" ? names.topicsOf(id).map(names.topicLabel) : [];
    return best(labels, (label) => label, query, suggestionsMax).map((label) => made(label, "topic"));
  }
  return best(values[operator] ?? [], (value) => value, query, suggestionsMax).map((value) => made(value, ""));
}

/** The first word that looks like an operator and is none; addresses and times of day do not. */
function unknownOperator(text: string): string | undefined {
  for (const [one] of text.matchAll(word)) {
    const name = /^-?([a-z][a-z_-]*):(?![:/])./is.exec(one)?.[1];
    if (name !== undefined && split(one).operator === null) return name;
  }
  return undefined;
}

function noteOfSearch(text: string): string {
  const unknown = unknownOperator(text);
  return unknown === undefined ? "search messages" : `search these words: there is no operator ${unknown}`;
}

export function suggestionsFor(text: string, names: Names): readonly Suggestion[] {
  const newest = [...text.matchAll(word)].at(-1);
  const last = newest !== undefined && text.endsWith(newest[0]) ? newest[0] : "";
  const before = text.slice(0, text.length - last.length);
  const { operator, value, negated } = split(last);
  if (operator !== null) return valueSuggestions(operator, value, names, `${before}${negated ? "-" : ""}`);
  const searched: readonly Suggestion[] =
    text.trim() === "" ? [] : [{ text: text.trim(), note: noteOfSearch(text), isDone: true }];
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
  const people = best(names.users, ({ full_name: name }) => name, last, 3).flatMap(({ user_id: id }) => {
    const name = quoted(userText(id, names));
    return [
      { text: `${before}sender:${name}`, note: "messages sent by", isDone: true },
      { text: `${before}dm:${name}`, note: "direct messages with", isDone: true },
    ];
  });
  return [...searched, ...named.slice(0, 3), ...channels, ...people].slice(0, suggestionsMax);
}
