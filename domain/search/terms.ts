/**
 * The search index terms of a message: the words of its content and their stems, its sender, whom it mentions, what it
 * contains. They depend only on the message's row: topic names are indexed separately, once per topic, so that a rename
 * changes one row.
 */
import type { GroupId, UserId } from "../../schemas/ids.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { SearchLanguage } from "../../schemas/search.ts";
import { stemOf } from "./stems.ts";
import { foldText, indexTermsOf, textOf } from "./words.ts";

/** Terms that are not words start with a character that no word contains. */
export const terms = {
  sender: (userId: UserId) => `:f${userId}`,
  mention: (userId: UserId) => `:m${userId}`,
  groupMention: (groupId: GroupId) => `:g${groupId}`,
  everybody: ":w",
  hasLink: ":l",
  hasImage: ":i",
  hasAttachment: ":a",
  /** Contains an alert word of a user, or mentions the participants of its topic. */
  hasAlerts: ":c",
} as const;

/** Every message is indexed by its sender, so it has exactly one term in this range. */
export const senderTerms: readonly [from: string, to: string] = [":f", ":g"];

export function messageTerms(message: MessageRecord, language: SearchLanguage): Set<string> {
  const found = wordTerms(textOf(message.rendered), language);
  found.add(terms.sender(message.senderId));
  for (const userId of message.mentionedUserIds) found.add(terms.mention(userId));
  for (const groupId of message.mentionedGroupIds) found.add(terms.groupMention(groupId));
  const isToEverybody = hasTrait(message.traits, "mentionsChannel") || hasTrait(message.traits, "mentionsTopic");
  if (isToEverybody) found.add(terms.everybody);
  if (hasTrait(message.traits, "hasLink")) found.add(terms.hasLink);
  if (hasTrait(message.traits, "hasImage")) found.add(terms.hasImage);
  if (hasTrait(message.traits, "hasAttachment")) found.add(terms.hasAttachment);
  if (hasTrait(message.traits, "hasAlerts")) found.add(terms.hasAlerts);
  return found;
}

export function topicTerms(topic: string, language: SearchLanguage): Set<string> {
  return wordTerms(topic, language);
}

function wordTerms(text: string, language: SearchLanguage): Set<string> {
  return new Set(indexTermsOf(foldText(text), (word) => stemOf(language, word)));
}
