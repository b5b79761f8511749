/**
 * Narrow terms about a message itself and its state for the reader: sender, is, has, id, near, search (behaviour 5.3).
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { systemGroupNames } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { isAlerted, isMentioned, isStarred, isWildcardMentioned } from "../message-flags.ts";
import { ownProperty } from "../own-property.ts";
import { isInSystemGroup } from "../permissions.ts";
import { isReceived, ReadState } from "../read-state.ts";
import { realmSetting } from "../realm-settings.ts";
import { readSearch, sizeOf } from "../search/query.ts";
import { terms } from "../search/terms.ts";
import { codePoints } from "../text.ts";
import { visibilityPolicy } from "../topics.ts";
import type { View } from "../view.ts";
import { isMutedFor } from "./places.ts";
import { findPerson, integerOf, type OperatorReader, type Predicate, type Reading } from "./reading.ts";

const sender: OperatorReader = (reading, { operand, negated }) => {
  const person = findPerson(reading, operand);
  if (person === undefined) return refuse.badNarrow(`unknown user ${operand}`);
  if (!negated) reading.filed.push([terms.sender(person.id)]);
  return ({ message }) => message.senderId === person.id;
};

/** Whether the reader has read a message; watermarks are looked up again only after an event. */
function readTest({ view, reader }: Reading): Predicate {
  let position = -1;
  let state: ReadState | null = null;
  return ({ message, conversation }) => {
    if (state === null || view.untracked.position !== position) {
      position = view.untracked.position;
      state = new ReadState(view, reader.id);
    }
    return state.isRead(message, conversation);
  };
}

function isMention(view: View, reader: UserRecord, message: MessageRecord): boolean {
  return isMentioned(view, reader, message) || isWildcardMentioned(view, reader, message);
}

/** @returns null if there are too many groups to check or to merge: then every message must be examined */
function mentionTerms({ view, reader }: Reading): string[] | null {
  const groupIds = ownGroups(view, reader);
  if (groupIds === null || groupIds.length > limits.mention_groups_merged_max) return null;
  return [terms.mention(reader.id), terms.everybody, ...groupIds.map((id) => terms.groupMention(id))];
}

/**
 * The named groups that contain the reader at any depth. Climbs from the groups that name the reader, because the
 * scopes of groups that are nested in a row are as large as the square of their number.
 * @returns null if there are too many groups and subgroups to look at
 */
function ownGroups(view: View, reader: UserRecord): number[] | null {
  const containers = new Map<number, number[]>();
  let looks = 0;
  for (const { id, isSystem, subgroupIds } of view.groups.allNamed()) {
    looks += 1 + subgroupIds.length;
    if (looks > limits.mention_group_looks_max) return null;
    // Roles decide who is in a system group.
    if (isSystem) continue;
    for (const subgroupId of subgroupIds) {
      const known = containers.get(subgroupId);
      if (known === undefined) containers.set(subgroupId, [id]);
      else known.push(id);
    }
  }
  const byRole = systemGroupNames.filter((name) => isInSystemGroup(view, reader, name));
  const own = new Set([
    ...view.groups.ofMember(reader.id),
    ...byRole.flatMap((name) => view.groups.system(name)?.id ?? []),
  ]);
  for (const id of own) for (const containerId of containers.get(id) ?? []) own.add(containerId);
  return [...own];
}

function isFollowed(view: View, reader: UserRecord, { channelId, topic }: ConversationRecord): boolean {
  return channelId !== null && visibilityPolicy(view, reader.id, channelId, topic) === topicPolicies.followed;
}

interface State {
  readonly predicate: (reading: Reading) => Predicate;
  /** Notes the location that a positive term requires of every match. */
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
    note: (reading) => {
      const filed = mentionTerms(reading);
      if (filed !== null) reading.filed.push(filed);
    },
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
    note: (reading) => reading.filed.push([terms.hasAlerts]),
  },
};

const is: OperatorReader = (reading, { operand, negated }) => {
  const state = ownProperty(states, String(operand));
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
  const content = ownProperty(contents, String(operand));
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

/** `near` only says where to start: it filters nothing. */
const near: OperatorReader = (_reading, { operand }) =>
  integerOf(operand) === null ? refuse.badNarrow("Invalid message ID") : null;

/** Only collected here: a text is folded once for all terms (search/text-search.ts). */
const search: OperatorReader = (reading, { operand, negated }) => {
  const text = String(operand);
  if (text.trim() === "") return refuse.badNarrow("search operand cannot be blank");
  const max = limits.search_operand_code_points_max;
  if (codePoints(text) > max) return refuse.badNarrow(`search operand is too long (limit: ${max} characters)`);
  reading.searches.push({
    query: readSearch(text, realmSetting(reading.view, "search_language")),
    operand: text,
    negated,
  });
  return searchProblem(reading.searches);
};

/** The bounds of all terms together. */
function searchProblem(searches: Reading["searches"]): Refusal | null {
  const { search_operands_code_points_max: charactersMax, search_words_max: wordsMax } = limits;
  const characters = searches.reduce((sum, { operand }) => sum + codePoints(operand), 0);
  if (characters > charactersMax) {
    return refuse.badNarrow(`search operands are too long together (limit: ${charactersMax} characters)`);
  }
  const words = searches.reduce((sum, { query }) => sum + sizeOf(query), 0);
  return words > wordsMax ? refuse.badNarrow(`too many words to search for (limit: ${wordsMax})`) : null;
}

export const stateOperators: Readonly<Record<string, OperatorReader>> = {
  sender,
  from: sender,
  is,
  has,
  id,
  near,
  search,
};
