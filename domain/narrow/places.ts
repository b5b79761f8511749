/** Narrow terms about a message's location: channels, topics, direct conversations (behaviour 5.3). */

import type { ChannelRecord } from "../../schemas/channels.ts";
import { refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { ownProperty } from "../own-property.ts";
import { hasContentAccess } from "../permissions.ts";
import { isTopicMuted, topicFor } from "../topics.ts";
import type { View } from "../view.ts";
import { findPerson, never, type OperatorReader, type Reading, type Term } from "./reading.ts";

/**
 * By id, then by name, because a channel's name may be a number. Unknown channels and those that the reader may not
 * read are treated alike, even if they were readable once: a user who left must not learn a private channel's new name
 * (S1, D24).
 */
function findChannel({ view, reader }: Reading, operand: Term["operand"]): ChannelRecord | undefined {
  const byId = /^\d{1,15}$/.test(String(operand)) ? view.channels.get(Number(operand)) : undefined;
  const channel = byId ?? (typeof operand === "string" ? view.channels.byName(operand) : undefined);
  if (channel === undefined) return undefined;
  return hasContentAccess(view, reader, channel) ? channel : undefined;
}

const channel: OperatorReader = (reading, term) => {
  const found = findChannel(reading, term.operand);
  if (found === undefined) return refuse.badNarrow(`unknown channel ${term.operand}`);
  if (!term.negated) {
    if (reading.channelId !== null && reading.channelId !== found.id) reading.isImpossible = true;
    reading.channelId = found.id;
  }
  return ({ conversation }) => conversation.channelId === found.id;
};

const channelKinds: Readonly<Record<string, (channel: ChannelRecord) => boolean>> = {
  public: ({ isPrivate, isHistoryPublic }) => !isPrivate && isHistoryPublic,
  "web-public": ({ isWebPublic }) => isWebPublic,
  archived: ({ isArchived }) => isArchived,
};

const channels: OperatorReader = (reading, term) => {
  const isOfKind = ownProperty(channelKinds, String(term.operand));
  if (isOfKind === undefined) return refuse.badNarrow(`unknown channels operand ${term.operand}`);
  if (!term.negated && (term.operand === "public" || term.operand === "web-public")) {
    // Both kinds together: web-public channels are also public.
    reading.openChannels = reading.openChannels === "web-public" ? "web-public" : term.operand;
  }
  return ({ conversation }) => {
    const found = reading.view.channels.get(conversation.channelId ?? 0);
    return found !== undefined && isOfKind(found);
  };
};

const topic: OperatorReader = (reading, term) => {
  const meant = topicFor(reading.view, String(term.operand));
  const wanted = fold(meant);
  if (!term.negated) {
    if (reading.topic !== null && fold(reading.topic) !== wanted) reading.isImpossible = true;
    reading.topic = meant;
  }
  return ({ conversation }) =>
    conversation.userIds === null && (conversation.topic === meant || foldedTopic(conversation) === wanted);
};

const foldedTopics = new WeakMap<ConversationRecord, string>();

/** Many queues compare the topic of the same post. */
function foldedTopic(conversation: ConversationRecord): string {
  const known = foldedTopics.get(conversation);
  if (known !== undefined) return known;
  const folded = fold(conversation.topic);
  foldedTopics.set(conversation, folded);
  return folded;
}

const direct: OperatorReader = (reading, term) => {
  const operands: (string | number)[] =
    typeof term.operand === "string" ? term.operand.split(",").map((part) => part.trim()) : [term.operand].flat();
  const named = operands.filter((operand) => operand !== "");
  const ids = new Set<number>([reading.reader.id]);
  for (const operand of named) {
    const person = findPerson(reading, operand);
    if (person === undefined) return refuse.badNarrow(`unknown user in ${term.operand}`);
    ids.add(person.id);
  }
  if (named.length === 0) {
    if (!term.negated) reading.isImpossible = true;
    return never;
  }
  const wanted = [...ids].sort((a, b) => a - b);
  const name = wanted.join(",");
  if (!term.negated) {
    if (reading.directIds !== null && reading.directIds.join(",") !== name) reading.isImpossible = true;
    reading.directIds = wanted;
  }
  return ({ conversation }) => conversation.userIds?.join(",") === name;
};

const directIncluding: OperatorReader = (reading, term) => {
  const person = findPerson(reading, term.operand);
  if (person === undefined) return refuse.badNarrow(`unknown user ${term.operand}`);
  if (!term.negated) reading.directsWith = { userId: person.id };
  return ({ conversation }) => conversation.userIds?.includes(person.id) === true;
};

/** The legacy form: only conversations of more than two users. */
const groupIncluding: OperatorReader = (reading, term) => {
  const predicate = directIncluding(reading, term);
  if (typeof predicate !== "function") return predicate;
  return (candidate) => (candidate.conversation.userIds?.length ?? 0) > 2 && predicate(candidate);
};

/** Direct messages are never muted. */
export function isMutedFor(view: View, reader: UserRecord, { channelId, topic }: ConversationRecord): boolean {
  return channelId !== null && isTopicMuted(view, reader.id, channelId, topic);
}

const inOperator: OperatorReader = ({ view, reader }, { operand }) => {
  if (operand === "all" || operand === "-all") return null;
  if (operand !== "home") return refuse.badNarrow(`unknown 'in' operand ${operand}`);
  return ({ conversation }) => !isMutedFor(view, reader, conversation);
};

export const placeOperators: Readonly<Record<string, OperatorReader>> = {
  channel,
  stream: channel,
  channels,
  streams: channels,
  topic,
  subject: topic,
  dm: direct,
  "pm-with": direct,
  "dm-including": directIncluding,
  "group-pm-with": groupIncluding,
  // Clients from when servers treated an underscore like a dash still send these (zulip-term 0.7.0 opens direct
  // conversations with it).
  pm_with: direct,
  group_pm_with: groupIncluding,
  in: inOperator,
};
