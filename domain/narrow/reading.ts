/**
 * Types shared by the readers of narrow terms: a term, the information collected so far, and the result of one term.
 */

import type { Refusal } from "../../schemas/errors.ts";
import type { ChannelId, MessageId, UserId } from "../../schemas/ids.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { personByAddress } from "../people.ts";
import type { SearchTerm } from "../search/text-search.ts";
import type { View } from "../view.ts";

/** One term as operators see it. */
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

/** Collects what positive terms say about the location of every match. */
export interface Reading {
  readonly view: View;
  readonly reader: UserRecord;
  channelId: ChannelId | null;
  /** Channels of this kind, whose whole history the reader may see. */
  openChannels: "public" | "web-public" | null;
  topic: string | null;
  /** Participants, ascending. */
  directIds: readonly number[] | null;
  /** Direct messages only: with this user, or (null) with any user. */
  directsWith: { readonly userId: UserId | null } | null;
  messageId: MessageId | null;
  isFollowedOnly: boolean;
  isStarredOnly: boolean;
  isUnreadOnly: boolean;
  isImpossible: boolean;
  /** Includes negated ones, because all search terms examine a text together. */
  readonly searches: SearchTerm[];
  /** In the search index every match has one term of each list. */
  readonly filed: (readonly string[])[];
}

/** Returns null if the term filters nothing. Negated terms do not change `reading`. */
export type OperatorReader = (reading: Reading, term: Term) => Predicate | Refusal | null;

export const never: Predicate = () => false;

/** A user by id or email address; `me` is the reader. */
export function findPerson({ view, reader }: Reading, operand: Term["operand"]): UserRecord | undefined {
  if (operand === "me") return view.users.get(reader.id);
  if (typeof operand === "number") return view.users.get(operand);
  if (typeof operand !== "string") return undefined;
  return /^\d{1,15}$/.test(operand) ? view.users.get(Number(operand)) : personByAddress(view, reader, operand.trim());
}

/** An integer operand as a number or digits; null if it is neither. */
export function integerOf(operand: Term["operand"]): number | null {
  const value = /^\d{1,16}$/.test(String(operand)) ? Number(operand) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}
