/**
 * Narrows (behaviour 5.3): turns a client's terms into a source that contains every match, search index terms, and a
 * predicate that decides. Unknown operators and operands are rejected with BAD_NARROW; a narrow that cannot match
 * anything is `nothing`. Terms about locations and about messages are in `narrow/`.
 */

import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, ConversationId, UserId } from "../../schemas/ids.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { ownProperty } from "../own-property.ts";
import { canReadMessage, hasContentAccess, isGuest } from "../permissions.ts";
import { VisibleTexts } from "../redaction.ts";
import { forgivingSearch, type SearchQuery } from "../search/query.ts";
import { type SearchTerm, type SpendCharacters, TextSearch } from "../search/text-search.ts";
import { isTopicMuted, visibilityPolicy } from "../topics.ts";
import type { View } from "../view.ts";
import { placeOperators } from "./places.ts";
import { type Candidate, integerOf, type OperatorReader, type Predicate, type Reading, type Term } from "./reading.ts";
import { stateOperators } from "./states.ts";

export type { Candidate, Term } from "./reading.ts";

/** A source that contains every match. `feed` is what the reader received. */
export type Source =
  | { readonly kind: "feed" }
  | { readonly kind: "open-channels"; readonly which: "public" | "web-public" }
  | { readonly kind: "channel"; readonly channelId: ChannelId }
  | { readonly kind: "conversation"; readonly conversationId: ConversationId }
  /** A topic of this name in any channel of the reader's. */
  | { readonly kind: "topic"; readonly topic: string }
  /** The reader's direct conversations: with somebody, or (null) all. */
  | { readonly kind: "directs"; readonly userId: UserId | null }
  | { readonly kind: "followed" }
  | { readonly kind: "starred" }
  | { readonly kind: "message"; readonly id: number }
  | { readonly kind: "nothing" };

export interface Narrowed {
  readonly source: Source;
  /**
   * Public history that the reader did not receive is included (behaviour 5.3, last rule), and so are messages that
   * they starred or marked as unread.
   */
  readonly includesHistory: boolean;
  /** All search terms combined; null if there are none. */
  readonly search: SearchQuery | null;
  /** In the search index every match has one term of each list (domain/search/terms.ts). */
  readonly filed: readonly (readonly string[])[];
  /** Every match is unread, so nothing up to the reader's watermarks matches. */
  readonly isUnreadOnly: boolean;
  /** The same narrow with the typos of its searches forgiven; null: there is nothing to forgive. */
  readonly forgiving: (() => Narrowed) | null;
  /** @param spend called with the cost of examining texts */
  matches(candidate: Candidate, spend?: SpendCharacters): boolean;
}

/** For a narrow that is no longer valid. */
export const nothingNarrowed: Narrowed = {
  source: { kind: "nothing" },
  includesHistory: false,
  search: null,
  filed: [],
  isUnreadOnly: false,
  forgiving: null,
  matches: () => false,
};

/** Reads terms in either form; both mean the same. */
export function termsOf(narrow: readonly unknown[]): Term[] {
  return narrow.map((term) => {
    if (Array.isArray(term)) return { operator: String(term[0]), operand: String(term[1]), negated: false };
    const given = term as { operator: string; operand: Term["operand"]; negated?: boolean };
    return { operator: given.operator, operand: given.operand, negated: given.negated === true };
  });
}

const operators: Readonly<Record<string, OperatorReader>> = { ...placeOperators, ...stateOperators };

export function readNarrow(view: View, reader: UserRecord, given: readonly Term[]): Narrowed | Refusal {
  const followed = followWith(view, reader, given);
  if (isRefusal(followed)) return followed;
  const terms = eachOnce(followed);
  const reading = newReading(view, reader);
  const predicates: Predicate[] = [];
  for (const term of terms) {
    const read = ownProperty(operators, term.operator);
    if (read === undefined) return refuse.badNarrow(`unknown operator ${term.operator}`);
    const result = read(reading, term);
    if (result === null) continue;
    if (typeof result !== "function") return result;
    predicates.push(term.negated ? (candidate) => !result(candidate) : result);
  }
  const isInChannel = reading.channelId !== null || reading.topic !== null || reading.openChannels !== null;
  if (isInChannel && (reading.directIds !== null || reading.directsWith !== null)) {
    return refuse.badNarrow("No message can be both a channel message and direct message");
  }
  const { searches } = reading;
  const base = {
    source: sourceOf(reading),
    includesHistory: includesHistory(reading, terms),
    filed: reading.filed,
    isUnreadOnly: reading.isUnreadOnly,
  };
  const forgiven = forgivenSearches(searches);
  const narrowed = searching({ view, reader, base, predicates }, searches);
  if (forgiven === null) return narrowed;
  return { ...narrowed, forgiving: () => searching({ view, reader, base, predicates }, forgiven) };
}

/** Negated terms keep to the words as they are. */
function forgivenSearches(searches: readonly SearchTerm[]): readonly SearchTerm[] | null {
  let isAny = false;
  const forgiven = searches.map((term) => {
    const query = term.negated ? null : forgivingSearch(term.query);
    isAny ||= query !== null;
    return query === null ? term : { ...term, query };
  });
  return isAny ? forgiven : null;
}

interface Unsearched {
  readonly view: View;
  readonly reader: UserRecord;
  readonly base: Pick<Narrowed, "source" | "includesHistory" | "filed" | "isUnreadOnly">;
  readonly predicates: readonly Predicate[];
}

function searching({ view, reader, base, predicates }: Unsearched, searches: readonly SearchTerm[]): Narrowed {
  const text = searches.length === 0 ? null : new TextSearch(searches);
  const shown = new VisibleTexts(view, reader);
  return {
    ...base,
    search: text?.required ?? null,
    forgiving: null,
    // Texts are checked last, because they cost most.
    matches: (candidate, spend = forNothing) =>
      predicates.every((predicate) => predicate(candidate)) &&
      (text === null ||
        text.matches(candidate.message.id, shown.html(candidate.message), candidate.conversation.topic, spend)),
  };
}

const forNothing: SpendCharacters = () => undefined;

/** A repeated term adds nothing but cost. */
function eachOnce(terms: readonly Term[]): Term[] {
  const byText = new Map(terms.map((term) => [JSON.stringify([term.operator, term.operand, term.negated]), term]));
  return [...byText.values()];
}

/**
 * Operators that are matched against every message as it is sent, for each queue that uses them (behaviour 4.1). Each
 * costs a comparison of ids or names. All others are allowed only in fetches, above all `search`, which reads the whole
 * text.
 */
const liveOperators: ReadonlySet<string> = new Set([
  "channel",
  "stream",
  "topic",
  "subject",
  "sender",
  "from",
  "is",
  "dm",
  "pm-with",
  "pm_with",
  "dm-including",
  "group-pm-with",
  "group_pm_with",
]);

/** Why a queue cannot have this narrow; null if it can, provided that `readNarrow` accepts it. */
export function liveNarrowProblem(terms: readonly Term[]): Refusal | null {
  const refused = terms.find(({ operator }) => !liveOperators.has(operator));
  return refused === undefined ? null : refuse.badRequest(`Operator ${refused.operator} not supported.`);
}

function newReading(view: View, reader: UserRecord): Reading {
  return {
    view,
    reader,
    channelId: null,
    openChannels: null,
    topic: null,
    directIds: null,
    directsWith: null,
    messageId: null,
    isFollowedOnly: false,
    isStarredOnly: false,
    isUnreadOnly: false,
    isImpossible: false,
    searches: [],
    filed: [],
  };
}

/**
 * The narrow restricted to what `first_unread` looks for: unread messages that are not muted (behaviour 5.4). A reader
 * who opens a muted channel by name wants to see it, so there only mutes of topics count.
 */
export function unreadOf(view: View, reader: UserRecord, narrowed: Narrowed): Narrowed {
  const isInChannel = narrowed.source.kind === "channel" || narrowed.source.kind === "conversation";
  const unread = readNarrow(view, reader, [{ operator: "is", operand: "unread", negated: false }]);
  if (isRefusal(unread)) return nothingNarrowed;
  return {
    ...narrowed,
    includesHistory: true,
    isUnreadOnly: true,
    forgiving: null,
    matches(candidate, spend) {
      return unread.matches(candidate) && !isMuted(candidate.conversation) && narrowed.matches(candidate, spend);
    },
  };

  function isMuted({ channelId, topic }: ConversationRecord): boolean {
    if (channelId === null) return false;
    if (!isInChannel) return isTopicMuted(view, reader.id, channelId, topic);
    return visibilityPolicy(view, reader.id, channelId, topic) === topicPolicies.muted;
  }
}

const conversationOperators: ReadonlySet<string> = new Set([
  "channel",
  "stream",
  "topic",
  "subject",
  "dm",
  "pm-with",
  "pm_with",
]);

/**
 * `with` names a message and selects its current conversation, whatever the other terms say about the location: so a
 * link to a topic survives a rename. If the message is deleted or hidden, the other terms apply unchanged.
 */
function followWith(view: View, reader: UserRecord, terms: readonly Term[]): readonly Term[] | Refusal {
  const withs = terms.filter(({ operator }) => operator === "with");
  const [named] = withs;
  if (named === undefined) return terms;
  const id = integerOf(named.operand);
  if (id === null || named.negated) return refuse.badNarrow("Invalid 'with' operator");
  if (withs.length > 1) return refuse.badNarrow("Duplicate 'with' operators.");
  const others = terms.filter((term) => term !== named);
  const message = view.row("messages", id);
  const isReadable = message !== undefined && canReadMessage(view, reader, message);
  const conversation = isReadable ? view.row("conversations", message.conversationId) : undefined;
  if (conversation === undefined) return others;
  const { channelId, topic, userIds } = conversation;
  const place: Term[] =
    channelId === null
      ? [{ operator: "dm", operand: userIds ?? [], negated: false }]
      : [
          { operator: "channel", operand: channelId, negated: false },
          { operator: "topic", operand: topic, negated: false },
        ];
  return [...others.filter(({ operator, negated }) => negated || !conversationOperators.has(operator)), ...place];
}

function includesHistory(reading: Reading, terms: readonly Term[]): boolean {
  const { view, reader, channelId, openChannels } = reading;
  if (reading.isStarredOnly || reading.isUnreadOnly) return true;
  if (terms.some((term) => term.operator === "is")) return false;
  if (openChannels === "web-public") return true;
  if (openChannels === "public" && !isGuest(reader)) return true;
  const channel = channelId === null ? undefined : view.channels.get(channelId);
  return channel !== undefined && hasContentAccess(view, reader, channel);
}

/** The narrowest source that contains every match. */
function sourceOf(reading: Reading): Source {
  const { view, channelId, topic, directIds, directsWith, messageId, openChannels } = reading;
  if (reading.isImpossible) return { kind: "nothing" };
  if (messageId !== null) return { kind: "message", id: messageId };
  if (directIds !== null) return conversationSource(view.row("directNames", directIds.join(",")));
  if (channelId !== null && topic !== null) {
    return conversationSource(view.row("topicNames", [channelId, fold(topic)]));
  }
  if (reading.isStarredOnly) return { kind: "starred" };
  if (reading.isFollowedOnly) return { kind: "followed" };
  if (directsWith !== null) return { kind: "directs", userId: directsWith.userId };
  if (channelId !== null) return { kind: "channel", channelId };
  if (openChannels !== null) return { kind: "open-channels", which: openChannels };
  return topic === null ? { kind: "feed" } : { kind: "topic", topic };
}

function conversationSource(named: { readonly id: number } | undefined): Source {
  return named === undefined ? { kind: "nothing" } : { kind: "conversation", conversationId: named.id };
}

const spectatorOperators: ReadonlySet<string> = new Set([
  ...["channel", "stream", "channels", "streams", "topic", "subject", "sender", "from"],
  ...["has", "search", "near", "id", "with"],
]);

/** Whether a spectator may use this narrow: only for web-public channels, and nothing personal. */
export function isForSpectators(terms: readonly Term[]): boolean {
  const saysSo = terms.some(
    ({ operator, operand, negated }) =>
      (operator === "channels" || operator === "streams") && operand === "web-public" && !negated,
  );
  return saysSo && terms.every(({ operator }) => spectatorOperators.has(operator));
}
