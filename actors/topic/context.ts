/** Finds conversations and builds their actors' context. A conversation without messages has no row. */

import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import type { ConversationRecord } from "../../schemas/messages.ts";
import type { Address } from "../protocol/commands.ts";

/** Key of a set of participants in `directNames`: ascending ids. */
export function directName(userIds: readonly UserId[]): string {
  return userIds.join(",");
}

export function conversationIdOf(address: Address, view: View): number | null {
  switch (address.actor) {
    case "conversation":
      return address.id;
    case "message":
      return view.row("messages", address.id)?.conversationId ?? null;
    case "topic":
      return view.row("topicNames", [address.channelId, fold(address.topic)])?.id ?? null;
    case "direct":
      return view.row("directNames", directName(address.userIds))?.id ?? null;
    default:
      throw new Error(`${address.actor} is no conversation`);
  }
}

export function contextOf(row: ConversationRecord): TopicContext {
  const { id, channelId, topic, userIds, lastMessageId, renames, movingId } = row;
  return { id, channelId, topic, userIds, lastMessageId, renames, movingId };
}

/**
 * The row of a conversation with an id. Fields are listed one by one because a spread is slow to copy and every post
 * would pay for it.
 */
export function rowOf(id: number, state: string, version: number, context: TopicContext): ConversationRecord {
  const { channelId, topic, userIds, lastMessageId, renames, movingId } = context;
  return { id, state, version, channelId, topic, userIds, lastMessageId, renames, movingId };
}

export function emptyContext(address: Address): TopicContext {
  return {
    id: null,
    channelId: address.actor === "topic" ? address.channelId : null,
    topic: address.actor === "topic" ? address.topic : "",
    userIds: address.actor === "direct" ? address.userIds : null,
    lastMessageId: 0,
    renames: 0,
    movingId: null,
  };
}

/** The context of the actor at an address, to preview its decisions. */
export function contextAt(address: Address, view: View): TopicContext {
  const id = conversationIdOf(address, view);
  const row = id === null ? undefined : view.row("conversations", id);
  return row === undefined ? emptyContext(address) : contextOf(row);
}

export interface TopicContext {
  /** null until the first message. */
  readonly id: ConversationId | null;
  readonly channelId: ChannelId | null;
  readonly topic: string;
  readonly userIds: readonly UserId[] | null;
  /** 0: there is none. */
  readonly lastMessageId: MessageId;
  readonly renames: number;
  readonly movingId: number | null;
}

export const emptyTopic: TopicContext = {
  id: null,
  channelId: null,
  topic: "",
  userIds: null,
  lastMessageId: 0,
  renames: 0,
  movingId: null,
};
