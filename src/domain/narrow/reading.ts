/** What the readers of narrow terms share: a term, what is known so far, and what one term comes to. */
import type { Refusal } from "../../../schemas/errors.ts";
import type { ConversationRecord, MessageRecord, UserRecord } from "../../../schemas/records.ts";
import { personByAddress } from "../people.ts";
import type { SearchTerm } from "../search/text-search.ts";
import type { View } from "../view.ts";

/** One term as the handlers see it. */
export interface Term {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated: boolean;
}

export interface Candidate {
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
}

export type Predicate = (candidate: Candidate) => boolean;

/** Collects what positive terms say about the place of every match. */
export interface Reading {
  readonly view: View;
  readonly reader: UserRecord;
  channelId: number | null;
  /** Channels of a kind, whose whole history the reader may see. */
  openChannels: "public" | "web-public" | null;
  topic: string | null;
  /** Participants, ascending. */
  directIds: readonly number[] | null;
  /** Direct messages only; with somebody, or (null) with anybody. */
  directsWith: { readonly userId: number | null } | null;
  messageId: number | null;
  isFollowedOnly: boolean;
  isStarredOnly: boolean;
  isUnreadOnly: boolean;
  isImpossible: boolean;
  /** Negated ones, too: all of them look at a text together. */
  readonly searches: SearchTerm[];
  /** Every match stands in the search index under one term of each list. */
  readonly filed: (readonly string[])[];
}

/** `null`: the term filters nothing. Terms that are negated say nothing to `reading`. */
export type OperatorReader = (reading: Reading, term: Term) => Predicate | Refusal | null;

export const never: Predicate = () => false;

/** A person by id or address; `me` is the reader. */
export function findPerson({ view, reader }: Reading, operand: Term["operand"]): UserRecord | undefined {
  if (operand === "me") return view.users.get(reader.id);
  if (typeof operand === "number") return view.users.get(operand);
  if (typeof operand !== "string") return undefined;
  return /^\d{1,15}$/.test(operand) ? view.users.get(Number(operand)) : personByAddress(view, reader, operand.trim());
}

/** An integer operand, bare or as digits; null: it is none. */
export function integerOf(operand: Term["operand"]): number | null {
  const value = /^\d{1,16}$/.test(String(operand)) ? Number(operand) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}
