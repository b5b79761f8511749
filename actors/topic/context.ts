/** How a conversation is found, and what its actor knows of it: one that nobody has written in yet has no row. */
import { fold } from "../../schemas/fold.ts";
import type { ConversationRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import type { Address } from "../commands.ts";
import type { TopicContext } from "./machine.ts";

/** How a set of participants is named in `directNames`: ascending ids. */
export function directName(userIds: readonly number[]): string {
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

/** The row of a conversation that has an id. Written out: a spread is copied slowly, and each post would pay for it. */
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

/** What the actor at an address would know now, for whoever asks what it would decide. */
export function contextAt(address: Address, view: View): TopicContext {
  const id = conversationIdOf(address, view);
  const row = id === null ? undefined : view.row("conversations", id);
  return row === undefined ? emptyContext(address) : contextOf(row);
}
