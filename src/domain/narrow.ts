/**
 * Narrows (behaviour 5.3): from the terms that a client sends to one place to walk and a predicate. Unknown operators and
 * operands are refused with BAD_NARROW; a narrow that can match nothing is `nothing`.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { lookUp } from "./look-up.ts";
import { personByAddress } from "./people.ts";
import { hasContentAccess, isMember } from "./permissions.ts";
import { meantTopic } from "./topics.ts";
import type { View } from "./view.ts";

/** One term as the handlers see it. */
export interface Term {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated: boolean;
}

/** Where candidates come from. `everything` is what the reader received. */
export type Source =
  | { readonly kind: "everything" }
  | { readonly kind: "channel"; readonly channelId: number }
  | { readonly kind: "conversation"; readonly conversationId: number }
  | { readonly kind: "nothing" };

export interface Candidate {
  readonly message: MessageRecord;
  readonly conversation: ConversationRecord;
}

export interface Narrowed {
  readonly source: Source;
  /** Public history that the reader did not receive is included (behaviour 5.3, last rule). */
  readonly includesHistory: boolean;
  matches(candidate: Candidate): boolean;
}

type Predicate = (candidate: Candidate) => boolean;

interface Reading {
  readonly view: View;
  readonly reader: UserRecord;
  channelId: number | null;
  topic: string | null;
  directIds: readonly number[] | null;
  isImpossible: boolean;
}

type OperatorReader = (reading: Reading, term: Term) => Predicate | Refusal | null;

/** Reads terms in either form; both mean the same. */
export function termsOf(narrow: readonly unknown[]): Term[] {
  return narrow.map((term) => {
    if (Array.isArray(term)) return { operator: String(term[0]), operand: String(term[1]), negated: false };
    const given = term as { operator: string; operand: Term["operand"]; negated?: boolean };
    return { operator: given.operator, operand: given.operand, negated: given.negated === true };
  });
}

export function readNarrow(view: View, reader: UserRecord, terms: readonly Term[]): Narrowed | Refusal {
  const reading: Reading = { view, reader, channelId: null, topic: null, directIds: null, isImpossible: false };
  const predicates: Predicate[] = [];
  for (const term of terms) {
    const read = lookUp(operators, term.operator);
    if (read === undefined) return refuse.badNarrow(`unknown operator ${term.operator}`);
    const result = read(reading, term);
    if (result === null) continue;
    if (typeof result !== "function") return result;
    predicates.push(term.negated ? (candidate) => !result(candidate) : result);
  }
  const hasChannelTerm = reading.channelId !== null || reading.topic !== null;
  if (hasChannelTerm && reading.directIds !== null) {
    return refuse.badNarrow("No message can be both a channel message and direct message");
  }
  const source = sourceOf(reading);
  return {
    source,
    includesHistory: includesHistory(reading, terms),
    matches: (candidate) => predicates.every((predicate) => predicate(candidate)),
  };
}

function includesHistory(reading: Reading, terms: readonly Term[]): boolean {
  if (reading.channelId === null || terms.some((term) => term.operator === "is")) return false;
  const channel = reading.view.channels.get(reading.channelId);
  return channel !== undefined && hasContentAccess(reading.view, reading.reader, channel);
}

/** The narrowest place that holds every match. */
function sourceOf(reading: Reading): Source {
  const { view, channelId, topic, directIds } = reading;
  if (reading.isImpossible) return { kind: "nothing" };
  if (directIds !== null) {
    const named = view.row("directNames", directIds.join(","));
    return named === undefined ? { kind: "nothing" } : { kind: "conversation", conversationId: named.id };
  }
  if (channelId === null) return { kind: "everything" };
  if (topic === null) return { kind: "channel", channelId };
  const named = view.row("topicNames", [channelId, fold(topic)]);
  return named === undefined ? { kind: "nothing" } : { kind: "conversation", conversationId: named.id };
}

const readChannel: OperatorReader = ({ view, reader, ...rest }, term) => {
  void rest;
  const { operand } = term;
  const byId = typeof operand === "number" || /^\d+$/.test(String(operand));
  const channel =
    (byId ? view.channels.get(Number(operand)) : undefined) ??
    (typeof operand === "string" ? view.channels.byName(operand) : undefined);
  const isKnown =
    channel !== undefined &&
    (hasContentAccess(view, reader, channel) || view.subscriptions.get(reader.id, channel.id) !== undefined);
  if (!isKnown) return refuse.badNarrow(`unknown channel ${operand}`);
  return ({ conversation }) => conversation.channelId === channel.id;
};

/** A positive channel term also says where to look. */
const channelOperator: OperatorReader = (reading, term) => {
  const predicate = readChannel(reading, term);
  if (typeof predicate !== "function" || term.negated) return predicate;
  const { view } = reading;
  const named = typeof term.operand === "string" ? view.channels.byName(term.operand) : undefined;
  const id = /^\d+$/.test(String(term.operand)) ? Number(term.operand) : null;
  const channelId = id !== null && view.channels.get(id) !== undefined ? id : (named?.id ?? null);
  if (reading.channelId !== null && reading.channelId !== channelId) reading.isImpossible = true;
  reading.channelId = channelId;
  return predicate;
};

const topicOperator: OperatorReader = (reading, term) => {
  const topic = meantTopic(reading.view, String(term.operand));
  if (!term.negated) reading.topic = topic;
  const wanted = fold(topic);
  return ({ conversation }) => conversation.userIds === null && fold(conversation.topic) === wanted;
};

function findPerson(view: View, reader: UserRecord, operand: Term["operand"]): UserRecord | undefined {
  if (typeof operand === "number") return view.users.get(operand);
  return typeof operand === "string" ? personByAddress(view, reader, operand) : undefined;
}

const senderOperator: OperatorReader = ({ view, reader }, term) => {
  const person = findPerson(view, reader, term.operand);
  if (person === undefined) return refuse.badNarrow(`unknown user ${term.operand}`);
  return ({ message }) => message.senderId === person.id;
};

const directOperator: OperatorReader = (reading, term) => {
  const { view, reader } = reading;
  const operands: (string | number)[] =
    typeof term.operand === "string" ? term.operand.split(",").map((part) => part.trim()) : [term.operand].flat();
  const ids = new Set<number>([reader.id]);
  for (const operand of operands) {
    if (operand === "") continue;
    const person = findPerson(view, reader, operand);
    if (person === undefined) return refuse.badNarrow(`unknown user in ${term.operand}`);
    ids.add(person.id);
  }
  const wanted = [...ids].sort((a, b) => a - b);
  if (!term.negated) reading.directIds = wanted;
  const name = wanted.join(",");
  return ({ conversation }) => conversation.userIds?.join(",") === name;
};

const directIncludingOperator: OperatorReader = ({ view, reader }, term) => {
  const person = findPerson(view, reader, term.operand);
  if (person === undefined) return refuse.badNarrow(`unknown user ${term.operand}`);
  return ({ conversation }) => conversation.userIds?.includes(person.id) === true;
};

function isMention(view: View, reader: UserRecord, message: MessageRecord): boolean {
  return (
    message.mentionedUserIds.includes(reader.id) ||
    hasTrait(message.traits, "mentionsChannel") ||
    message.mentionedGroupIds.some((groupId) => isMember(view, reader, groupId))
  );
}

const never: Predicate = () => false;

/** States that no operation can bring about yet match nothing, which is the truth; one's own messages are read by rule. */
const states: Readonly<Record<string, (reading: Reading) => Predicate>> = {
  alerted: () => never,
  followed: () => never,
  muted: () => never,
  starred: () => never,
  unread:
    ({ reader }) =>
    ({ message }) =>
      message.senderId !== reader.id,
  dm:
    () =>
    ({ conversation }) =>
      conversation.userIds !== null,
  private:
    () =>
    ({ conversation }) =>
      conversation.userIds !== null,
  mentioned:
    ({ view, reader }) =>
    ({ message }) =>
      isMention(view, reader, message),
  resolved:
    () =>
    ({ conversation }) =>
      conversation.userIds === null && conversation.topic.startsWith("✔ "),
};

const isOperator: OperatorReader = (reading, term) => {
  const state = lookUp(states, String(term.operand));
  return state === undefined ? refuse.badNarrow(`unknown 'is' operand ${term.operand}`) : state(reading);
};

const contents: Readonly<Record<string, Predicate>> = {
  link: ({ message }) => hasTrait(message.traits, "hasLink"),
  image: ({ message }) => hasTrait(message.traits, "hasImage"),
  attachment: ({ message }) => hasTrait(message.traits, "hasAttachment"),
  reaction: never,
};

const hasOperator: OperatorReader = (_reading, term) =>
  lookUp(contents, String(term.operand)) ?? refuse.badNarrow(`unknown 'has' operand ${term.operand}`);

const idOperator: OperatorReader = (_reading, term) => {
  const id = /^\d{1,16}$/.test(String(term.operand)) ? Number(term.operand) : Number.NaN;
  if (!Number.isSafeInteger(id)) return refuse.badNarrow("Invalid message ID");
  return ({ message }) => message.id === id;
};

const nearOperator: OperatorReader = () => null;

const operators: Readonly<Record<string, OperatorReader>> = {
  channel: channelOperator,
  stream: channelOperator,
  topic: topicOperator,
  subject: topicOperator,
  sender: senderOperator,
  from: senderOperator,
  dm: directOperator,
  "pm-with": directOperator,
  "dm-including": directIncludingOperator,
  is: isOperator,
  has: hasOperator,
  id: idOperator,
  near: nearOperator,
};
