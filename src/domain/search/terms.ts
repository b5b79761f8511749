/**
 * What a message is filed under in the search index: the words of its content, who sent it, whom it mentions, what it contains.
 * Only what its own row says: a topic's name is filed apart, once for the topic, so that a rename stays one row.
 */
import { hasTrait } from "../../../schemas/message-traits.ts";
import type { MessageRecord } from "../../../schemas/records.ts";
import { foldText, indexed, textOf, wordsOf } from "./words.ts";

/** Terms that are no words begin with a character that no word holds. */
export const terms = {
  sender: (userId: number) => `:f${userId}`,
  mention: (userId: number) => `:m${userId}`,
  groupMention: (groupId: number) => `:g${groupId}`,
  everybody: ":w",
  hasLink: ":l",
  hasImage: ":i",
  hasAttachment: ":a",
  /** Of somebody for whom an alert word stands in it, or who had written in its topic. */
  callsAttention: ":c",
} as const;

/** Every message stands under its sender, and so under one term in this range. */
export const senderTerms: readonly [from: string, to: string] = [":f", ":g"];

export function messageTerms(message: MessageRecord): Set<string> {
  const found = new Set(wordsOf(foldText(textOf(message.rendered))).map(indexed));
  found.add(terms.sender(message.senderId));
  for (const userId of message.mentionedUserIds) found.add(terms.mention(userId));
  for (const groupId of message.mentionedGroupIds) found.add(terms.groupMention(groupId));
  const isToEverybody = hasTrait(message.traits, "mentionsChannel") || hasTrait(message.traits, "mentionsTopic");
  if (isToEverybody) found.add(terms.everybody);
  if (hasTrait(message.traits, "hasLink")) found.add(terms.hasLink);
  if (hasTrait(message.traits, "hasImage")) found.add(terms.hasImage);
  if (hasTrait(message.traits, "hasAttachment")) found.add(terms.hasAttachment);
  if (hasTrait(message.traits, "callsAttention")) found.add(terms.callsAttention);
  return found;
}

export function topicTerms(topic: string): Set<string> {
  return new Set(wordsOf(foldText(topic)).map(indexed));
}
