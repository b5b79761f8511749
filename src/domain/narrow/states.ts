/** Narrow terms about a message itself and what it is to the reader: sender, is, has, id, near, search (behaviour 5.3). */
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { hasTrait } from "../../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord, UserRecord } from "../../../schemas/records.ts";
import { lookUp } from "../look-up.ts";
import { isAlerted, isMentioned, isStarred, isWildcardMentioned } from "../message-flags.ts";
import { isMember } from "../permissions.ts";
import { isReceived, ReadState } from "../read-state.ts";
import { matchesSearch, readSearch } from "../search/query.ts";
import { terms } from "../search/terms.ts";
import { codePoints } from "../text.ts";
import { renderedFor } from "../unknown-people.ts";
import { topicPolicies, visibilityPolicy } from "../user-topics.ts";
import type { View } from "../view.ts";
import { isMutedFor } from "./places.ts";
import { findPerson, integerOf, type OperatorReader, type Predicate, type Reading } from "./reading.ts";

const sender: OperatorReader = (reading, { operand, negated }) => {
  const person = findPerson(reading, operand);
  if (person === undefined) return refuse.badNarrow(`unknown user ${operand}`);
  if (!negated) reading.filed.push([terms.sender(person.id)]);
  return ({ message }) => message.senderId === person.id;
};

/** Whether the reader has read a message; floors are looked up once for as long as nothing happens. */
function readTest({ view, reader }: Reading): Predicate {
  let position = -1;
  let state: ReadState | null = null;
  return ({ message, conversation }) => {
    if (state === null || view.position !== position) {
      position = view.position;
      state = new ReadState(view, reader.id);
    }
    return state.isRead(message, conversation);
  };
}

function isMention(view: View, reader: UserRecord, message: MessageRecord): boolean {
  return isMentioned(view, reader, message) || isWildcardMentioned(view, reader, message);
}

function mentionTerms({ view, reader }: Reading): string[] {
  const groups = [...view.groups.all()].filter((group) => group.name !== null && isMember(view, reader, group.id));
  return [terms.mention(reader.id), terms.everybody, ...groups.map((group) => terms.groupMention(group.id))];
}

function isFollowed(view: View, reader: UserRecord, { channelId, topic }: ConversationRecord): boolean {
  return channelId !== null && visibilityPolicy(view, reader.id, channelId, topic) === topicPolicies.followed;
}

interface State {
  readonly predicate: (reading: Reading) => Predicate;
  /** What a positive term says about the place of every match. */
  readonly note?: (reading: Reading) => void;
}

const directMessage: State = {
  predicate:
    () =>
    ({ conversation }) =>
      conversation.userIds !== null,
  note: (reading) => {
    reading.directsWith ??= { userId: null };
  },
};

const states: Readonly<Record<string, State>> = {
  dm: directMessage,
  private: directMessage,
  mentioned: {
    predicate:
      ({ view, reader }) =>
      ({ message }) =>
        isMention(view, reader, message),
    note: (reading) => reading.filed.push(mentionTerms(reading)),
  },
  resolved: {
    predicate:
      () =>
      ({ conversation }) =>
        conversation.userIds === null && conversation.topic.startsWith("✔ "),
  },
  followed: {
    predicate:
      ({ view, reader }) =>
      ({ conversation }) =>
        isFollowed(view, reader, conversation),
    note: (reading) => {
      reading.isFollowedOnly = true;
    },
  },
  muted: {
    predicate:
      ({ view, reader }) =>
      ({ conversation }) =>
        isMutedFor(view, reader, conversation),
  },
  unread: {
    predicate: (reading) => {
      const isRead = readTest(reading);
      return (candidate) => !isRead(candidate);
    },
    note: (reading) => {
      reading.isUnreadOnly = true;
    },
  },
  read: { predicate: readTest },
  starred: {
    predicate:
      ({ view, reader }) =>
      ({ message }) =>
        isStarred(view, reader.id, message.id),
    note: (reading) => {
      reading.isStarredOnly = true;
    },
  },
  alerted: {
    predicate:
      ({ view, reader }) =>
      ({ message }) =>
        isAlerted(view, reader.id, message) && isReceived(view, reader, message),
    note: (reading) => reading.filed.push([terms.callsAttention]),
  },
};

const is: OperatorReader = (reading, { operand, negated }) => {
  const state = lookUp(states, String(operand));
  if (state === undefined) return refuse.badNarrow(`unknown 'is' operand ${operand}`);
  if (!negated) state.note?.(reading);
  return state.predicate(reading);
};

interface Content {
  readonly predicate: (reading: Reading) => Predicate;
  readonly term?: string;
}

const contents: Readonly<Record<string, Content>> = {
  link: {
    predicate:
      () =>
      ({ message }) =>
        hasTrait(message.traits, "hasLink"),
    term: terms.hasLink,
  },
  image: {
    predicate:
      () =>
      ({ message }) =>
        hasTrait(message.traits, "hasImage"),
    term: terms.hasImage,
  },
  attachment: {
    predicate:
      () =>
      ({ message }) =>
        hasTrait(message.traits, "hasAttachment"),
    term: terms.hasAttachment,
  },
  reaction: {
    predicate:
      () =>
      ({ message }) =>
        hasTrait(message.traits, "hasReactions"),
  },
};

const has: OperatorReader = (reading, { operand, negated }) => {
  const content = lookUp(contents, String(operand));
  if (content === undefined) return refuse.badNarrow(`unknown 'has' operand ${operand}`);
  if (!negated && content.term !== undefined) reading.filed.push([content.term]);
  return content.predicate(reading);
};

const id: OperatorReader = (reading, { operand, negated }) => {
  const wanted = integerOf(operand);
  if (wanted === null) return refuse.badNarrow("Invalid message ID");
  if (!negated) {
    if (reading.messageId !== null && reading.messageId !== wanted) reading.isImpossible = true;
    reading.messageId = wanted;
  }
  return ({ message }) => message.id === wanted;
};

/** Says where to begin, and filters nothing. */
const near: OperatorReader = (_reading, { operand }) =>
  integerOf(operand) === null ? refuse.badNarrow("Invalid message ID") : null;

const search: OperatorReader = (reading, { operand, negated }) => {
  const { view, reader } = reading;
  const text = String(operand);
  if (text.trim() === "") return refuse.badNarrow("search operand cannot be blank");
  const max = limits.search_operand_code_points_max;
  if (codePoints(text) > max) return refuse.badNarrow(`search operand is too long (limit: ${max} characters)`);
  const query = readSearch(text);
  if (!negated) reading.searches.push(query);
  return ({ message, conversation }) =>
    matchesSearch(query, renderedFor(view, reader, message.rendered), conversation.topic);
};

export const stateOperators: Readonly<Record<string, OperatorReader>> = {
  sender,
  from: sender,
  is,
  has,
  id,
  near,
  search,
};
