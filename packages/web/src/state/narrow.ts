/**
 * Places of the page and their addresses: a place is a fragment such as `#narrow/channel/5-kitchen/topic/lunch`, in the
 * form that rendered messages link to. Also: which messages belong to a narrow, as far as a client can tell.
 */
import type { Message } from "../../../client/src/api/index.ts";

export interface Term {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated?: boolean;
}

export interface NarrowPlace {
  readonly kind: "narrow";
  readonly terms: readonly Term[];
  /** The message at which it opens. */
  readonly near: number | null;
  /** A message of the conversation: the place is where this message is, whatever its topic was called. */
  readonly with?: number;
}

export type Place =
  | { readonly kind: "inbox" | "recent" | "drafts" | "scheduled" }
  | NarrowPlace
  | { readonly kind: "settings" | "channels" | "groups" | "organization"; readonly section: string };

const pageNames = ["inbox", "recent", "drafts", "scheduled"] as const;
const panelNames = ["settings", "channels", "groups", "organization"] as const;

export const inbox: Place = { kind: "inbox" };

export function narrow(terms: readonly Term[], near: number | null = null): NarrowPlace {
  return { kind: "narrow", terms, near };
}

export const feed = narrow([]);

export function channelNarrow(channelId: number): NarrowPlace {
  return narrow([{ operator: "channel", operand: channelId }]);
}

export function topicNarrow(channelId: number, topic: string, near: number | null = null): NarrowPlace {
  return narrow(
    [
      { operator: "channel", operand: channelId },
      { operator: "topic", operand: topic },
    ],
    near,
  );
}

/** @param id a message of the conversation, if one is known */
export function withMessage(target: NarrowPlace, id: number | undefined): NarrowPlace {
  return id === undefined ? target : { ...target, with: id };
}

/** The message that the place follows; null if its address names none. */
export function memberOf(target: NarrowPlace): number | null {
  return target.near ?? target.with ?? null;
}

/** The same narrow in another channel or topic. */
export function movedTerms(terms: readonly Term[], channelId: number, topic: string): readonly Term[] {
  const operands: Readonly<Record<string, string | number>> = { channel: channelId, topic };
  return terms.map((term) => {
    const operand = term.negated === true ? undefined : operands[term.operator];
    return operand === undefined ? term : { ...term, operand };
  });
}

/** @param userIds the other participants; one's own id alone for notes to oneself */
export function directNarrow(userIds: readonly number[], near: number | null = null): NarrowPlace {
  return narrow([{ operator: "dm", operand: [...userIds].sort((a, b) => a - b) }], near);
}

export function stateNarrow(operand: string): NarrowPlace {
  return narrow([{ operator: "is", operand }]);
}

/** A percent sign in a fragment is shown badly by some programs, so a dot stands for it. */
function encode(text: string): string {
  return encodeURIComponent(text)
    .replaceAll(".", "%2E")
    .replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%", ".");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(".", "%"));
  } catch {
    return text;
  }
}

const listOperators: ReadonlySet<string> = new Set(["dm", "dm-including", "group-pm-with"]);

function encodeOperand({ operator, operand }: Term, nameOf: (channelId: number) => string | undefined): string {
  if (typeof operand === "string") return encode(operand);
  if (typeof operand !== "number") return `${operand.join(",")}-${operand.length > 1 ? "group" : "dm"}`;
  if (operator !== "channel") return String(operand);
  const name =
    nameOf(operand)
      ?.replace(/\s+/g, "-")
      .replace(/[^\w-]/g, "") ?? "";
  return `${operand}${name === "" ? "" : `-${encode(name)}`}`;
}

/** @param nameOf names of channels, only for readable addresses */
export function addressOf(place: Place, nameOf: (channelId: number) => string | undefined = () => undefined): string {
  if (place.kind !== "narrow") return "section" in place ? `#${place.kind}/${place.section}` : `#${place.kind}`;
  if (place.terms.length === 0 && place.near === null) return "#feed";
  const parts = place.terms.flatMap((term) => [
    `${term.negated === true ? "-" : ""}${term.operator}`,
    encodeOperand(term, nameOf),
  ]);
  if (place.near !== null) parts.push("near", String(place.near));
  else if (place.with !== undefined) parts.push("with", String(place.with));
  return `#narrow/${parts.join("/")}`;
}

/** Other names that the server has for operators. */
const synonyms = new Map([
  ["stream", "channel"],
  ["streams", "channels"],
  ["subject", "topic"],
  ["from", "sender"],
  ["pm-with", "dm"],
]);

export function operatorNamed(given: string): string {
  const name = given.replaceAll("_", "-");
  return synonyms.get(name) ?? name;
}

/** The server says why it refuses what is no id. */
export const idOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

function decodeTerms(name: string, text: string): readonly Term[] {
  const isNegated = name.startsWith("-");
  const operator = operatorNamed(isNegated ? name.slice(1) : name);
  const value = decode(text);
  const negated = isNegated ? { negated: true } : {};
  if (operator === "channel" && /^\d+(-|$)/.test(value))
    return [{ operator, operand: Number.parseInt(value, 10), ...negated }];
  if (operator === "sender" && /^\d+(-[^@]*)?$/.test(value))
    return [{ operator, operand: Number.parseInt(value, 10), ...negated }];
  if (operator === "id") return [{ operator, operand: idOf(value), ...negated }];
  if (listOperators.has(operator) && /^[\d,]+(-|$)/.test(value)) {
    const ids = (value.split("-")[0] ?? "").split(",").filter(Boolean).map(Number);
    // The server wants one person in a term, except for the people of a conversation.
    if (operator !== "dm") return ids.map((operand) => ({ operator, operand, ...negated }));
    return [{ operator, operand: ids, ...negated }];
  }
  return [{ operator, operand: value, ...negated }];
}

/** @returns null if the page has no such place */
export function placeOf(fragment: string): Place | null {
  const [kind = "", ...parts] = fragment.replace(/^#/, "").split("/");
  const pageName = pageNames.find((name) => name === kind);
  if (pageName !== undefined) return { kind: pageName };
  const panel = panelNames.find((name) => name === kind);
  if (panel !== undefined) return { kind: panel, section: parts.map(decode).join("/") };
  if (kind === "feed" || kind === "all_messages") return feed;
  if (kind !== "narrow") return null;
  // Links to the empty topic leave out its name: `topic/with/7`.
  const at = parts.findIndex((part, index) => part === "topic" && /^(?:with|near)$/.test(parts[index + 1] ?? ""));
  if (parts.length % 2 === 1 && at >= 0) parts.splice(at + 1, 0, "");
  const terms: Term[] = [];
  let near: number | null = null;
  let member: number | undefined;
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [name = "", value = ""] = parts.slice(index, index + 2);
    if (name === "near" || name === "with") {
      const id = Number.parseInt(value, 10);
      if (name === "near" && Number.isSafeInteger(id)) near = id;
      if (name === "with" && Number.isSafeInteger(id)) member = id;
    } else terms.push(...decodeTerms(name, value));
  }
  return withMessage({ kind: "narrow", terms, near }, member);
}

/** Names a narrow: equal texts have equal messages. */
export function narrowKey(terms: readonly Term[]): string {
  const asText = ({ operator, operand, negated }: Term) => {
    const value = typeof operand === "string" ? operand.toLowerCase() : operand;
    return JSON.stringify([operator, value, negated === true]);
  };
  return terms.map(asText).sort().join();
}

function operandOf(terms: readonly Term[], operator: string): Term["operand"] | undefined {
  return terms.find((term) => term.operator === operator && term.negated !== true)?.operand;
}

export function channelOf(terms: readonly Term[]): number | null {
  const operand = operandOf(terms, "channel");
  return typeof operand === "number" ? operand : null;
}

export function topicOf(terms: readonly Term[]): string | null {
  const operand = operandOf(terms, "topic");
  return typeof operand === "string" ? operand : null;
}

export function directOf(terms: readonly Term[]): readonly number[] | null {
  const operand = operandOf(terms, "dm");
  if (typeof operand === "number") return [operand];
  return operand === undefined || typeof operand === "string" ? null : operand;
}

/** Whether the narrow is one conversation: a topic or a direct conversation and nothing else. */
export function isConversation(terms: readonly Term[]): boolean {
  if (terms.some(({ negated }) => negated === true)) return false;
  if (terms.length === 1) return directOf(terms) !== null;
  return terms.length === 2 && channelOf(terms) !== null && topicOf(terms) !== null;
}

/** All that a matcher reads, so that one can be asked about a message of which no more is known. */
type Matched = Pick<Message, "id" | "sender_id" | "type" | "stream_id" | "subject" | "display_recipient" | "flags">;
export type Matcher = (message: Matched) => boolean;

/** The person whose page it is. */
export interface Reader {
  readonly userId: number;
  isChannelMuted(channelId: number): boolean;
  isTopicMuted(channelId: number, topic: string): boolean;
}

/** Recent conversations, without and with muted ones. */
export const home: readonly Term[] = [{ operator: "in", operand: "home" }];
export const everything: readonly Term[] = [{ operator: "in", operand: "all" }];

/** Whether the list has several conversations and is no search: the combined feed, and that of a channel. */
function isFeed(terms: readonly Term[]): boolean {
  return terms.length === 0 || (terms.length === 1 && channelOf(terms) !== null);
}

/** Whether what is muted decides which messages are in a list. */
export function dependsOnMuting(terms: readonly Term[]): boolean {
  return isFeed(terms) || terms.some(({ operator }) => operator === "in");
}

/** Feeds leave out muted conversations. In its own list a muted channel is whole. */
function hidesMuted(terms: readonly Term[], reader: Reader): boolean {
  const channelId = channelOf(terms);
  return isFeed(terms) && (channelId === null || !reader.isChannelMuted(channelId));
}

function isUnmuted({ stream_id: channelId, subject }: Matched, reader: Reader): boolean {
  return channelId === undefined || !reader.isTopicMuted(channelId, subject);
}

/** The narrow as the server is asked for it. */
export function requestedTerms(terms: readonly Term[], reader: Reader): readonly Term[] {
  return hidesMuted(terms, reader) ? [...terms, ...home] : terms;
}

/** Whether somebody who looks at the list reads it: a search finds messages outside their conversations. */
export function marksRead(terms: readonly Term[]): boolean {
  const [term] = terms;
  if (term === undefined || isConversation(terms)) return true;
  if (terms.length > 1 || term.negated === true) return false;
  return (
    term.operator === "channel" ||
    term.operator === "in" ||
    (term.operator === "is" && readStates.has(String(term.operand)))
  );
}

const readStates: ReadonlySet<string> = new Set(["dm", "private", "mentioned"]);

function matcherOf({ operator, operand }: Term, reader: Reader): Matcher | null {
  switch (operator) {
    case "channel":
      return typeof operand === "number" ? (message) => message.stream_id === operand : null;
    case "topic": {
      const topic = String(operand).toLowerCase();
      return (message) => message.stream_id !== undefined && message.subject.toLowerCase() === topic;
    }
    case "dm": {
      if (typeof operand === "string") return null;
      const ids = typeof operand === "number" ? [operand] : operand;
      const wanted = [...new Set([...ids, reader.userId])].sort((a, b) => a - b).join();
      return ({ display_recipient: people }) => {
        if (typeof people === "string") return false;
        return (
          people
            .map(({ id }) => id)
            .sort((a, b) => a - b)
            .join() === wanted
        );
      };
    }
    case "sender":
      return typeof operand === "number" ? (message) => message.sender_id === operand : null;
    case "in":
      return operand === "all" ? () => true : operand === "home" ? (message) => isUnmuted(message, reader) : null;
    case "id":
      return (message) => message.id === Number(operand);
    case "is":
      if (operand === "dm" || operand === "private") return (message) => message.type === "private";
      if (operand === "starred") return ({ flags }) => flags.includes("starred");
      if (operand === "mentioned") {
        return ({ flags }) => flags.some((flag) => flag === "mentioned" || flag.endsWith("wildcard_mentioned"));
      }
      return null;
    default:
      return null;
  }
}

/** @returns null if only the server can tell */
export function matcherFor(terms: readonly Term[], reader: Reader): Matcher | null {
  const matchers: Matcher[] = [];
  if (hidesMuted(terms, reader)) matchers.push((message) => isUnmuted(message, reader));
  for (const term of terms) {
    const matcher = matcherOf(term, reader);
    if (matcher === null) return null;
    matchers.push(term.negated === true ? (message) => !matcher(message) : matcher);
  }
  return (message) => matchers.every((matches) => matches(message));
}

/** Whether events say all about which messages a list has. Lists by flags change without an event that brings a message. */
export function followsEvents(terms: readonly Term[], reader: Reader): boolean {
  const byFlag = ({ operator, operand }: Term) => operator === "is" && operand !== "dm" && operand !== "private";
  return matcherFor(terms, reader) !== null && !terms.some(byFlag);
}
