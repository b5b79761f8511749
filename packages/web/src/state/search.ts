/** The search box: a text of operators and words as terms of a narrow. */
import { idOf, operatorNamed, type Term } from "./narrow.ts";

export interface Names {
  readonly users: readonly { readonly user_id: number; readonly full_name: string }[];
  readonly channels: readonly { readonly stream_id: number; readonly name: string }[];
  nameOfUser(userId: number): string | undefined;
  nameOfChannel(channelId: number): string | undefined;
  topicsOf(channelId: number): readonly string[];
  /** The name of a topic as people see it: the empty one has a name of its own. */
  topicLabel(topic: string): string;
  topicNamed(name: string): string;
}

const operators: ReadonlySet<string> = new Set(
  "channel topic sender dm dm-including group-pm-with is has near id in channels".split(" "),
);

export const personOperators: ReadonlySet<string> = new Set(["sender", "dm", "dm-including", "group-pm-with"]);

/** A quoted part is one word; in it, a backslash precedes a quote or a backslash. */
export const word = /(?:[^\s"]+:)?"(?:\\["\\]|[^"])*"?|\S+/g;

export function quoted(value: string): string {
  return /\s|^"/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : value;
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const inside = /^"((?:\\["\\]|[^"])*)/.exec(text)?.[1] ?? "";
  return inside.replace(/\\(["\\])/g, "$1");
}

export function split(text: string): { negated: boolean; operator: string | null; value: string } {
  const match = /^(-?)([a-z_-]+):(.*)$/is.exec(text);
  const operator = operatorNamed(match?.[2]?.toLowerCase() ?? "");
  if (match === null || !operators.has(operator)) return { negated: false, operator: null, value: text };
  return { negated: match[1] === "-", operator, value: unquoted(match[3] ?? "") };
}

/** A name, `name|id` as in a mention, or an id. No name ends like one with an id. */
function userOf(value: string, { users }: Names): number | null {
  const wanted = value.trim().toLowerCase();
  const named = users.find(({ full_name: name }) => name.toLowerCase() === wanted);
  if (named !== undefined) return named.user_id;
  const [, name, id] = /^(?:(.*)\|)?(\d{1,15})$/s.exec(wanted) ?? [];
  const withId = users.find(({ user_id: one }) => one === Number(id));
  return withId === undefined || (name !== undefined && withId.full_name.toLowerCase() !== name)
    ? null
    : withId.user_id;
}

/** People between commas, whose names may have commas: from each place on, the longest name. */
function usersOf(value: string, names: Names): readonly number[] | null {
  const parts = value.split(",");
  const ids: number[] = [];
  for (let at = 0; at < parts.length; ) {
    let end = parts.length;
    let id = userOf(parts.slice(at, end).join(","), names);
    while (id === null && --end > at) id = userOf(parts.slice(at, end).join(","), names);
    if (id === null) return null;
    ids.push(id);
    at = end;
  }
  return ids;
}

function termsOf(operator: string, value: string, names: Names): readonly Term[] {
  if (operator === "channel") {
    const found = names.channels.find(({ name }) => name.toLowerCase() === value.toLowerCase());
    return [{ operator, operand: found?.stream_id ?? value }];
  }
  if (operator === "topic") return [{ operator, operand: names.topicNamed(value) }];
  if (operator === "sender") return [{ operator, operand: userOf(value, names) ?? value }];
  const ids = personOperators.has(operator) ? usersOf(value, names) : null;
  if (ids === null) return [{ operator, operand: operator === "id" ? idOf(value) : value }];
  return operator === "dm" ? [{ operator, operand: ids }] : ids.map((operand) => ({ operator, operand }));
}

export function termsOfText(text: string, names: Names): readonly Term[] {
  const terms: Term[] = [];
  const searched: string[] = [];
  for (const [one] of text.matchAll(word)) {
    const { negated, operator, value } = split(one);
    if (operator === null) searched.push(one);
    else if (value !== "") {
      terms.push(...termsOf(operator, value, names).map((term) => (negated ? { ...term, negated } : term)));
    }
  }
  return searched.length === 0 ? terms : [...terms, { operator: "search", operand: searched.join(" ") }];
}

/** A name that several people have needs the id. */
export function userText(id: number, names: Names): string {
  const name = names.nameOfUser(id);
  if (name === undefined) return String(id);
  const folded = name.toLowerCase();
  const isShared = names.users.some((user) => user.user_id !== id && user.full_name.toLowerCase() === folded);
  return isShared ? `${name}|${id}` : name;
}

/** The operand in words: names of people, channels and topics as people see them. */
export function operandText(
  { operator, operand }: Term,
  nameOfChannel: (channelId: number) => string | undefined,
  nameOfUser: (userId: number) => string,
  topicLabel: (topic: string) => string,
): string {
  if (operator === "topic") return topicLabel(String(operand));
  if (operator === "channel" && typeof operand === "number") return nameOfChannel(operand) ?? String(operand);
  if (!personOperators.has(operator) || typeof operand === "string") return String(operand);
  return (typeof operand === "number" ? [operand] : operand).map(nameOfUser).join(",");
}

export function textOfTerms(terms: readonly Term[], names: Names): string {
  return terms
    .map((term) => {
      const text = operandText(term, names.nameOfChannel, (id) => userText(id, names), names.topicLabel);
      if (term.operator === "search") return text;
      return `${term.negated === true ? "-" : ""}${term.operator}:${quoted(text)}`;
    })
    .join(" ");
}
