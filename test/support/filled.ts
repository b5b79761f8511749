/** Conversations written directly as rows, for bounds that would need many thousands of requests (S3). */

import type { View } from "../../domain/view.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { fill, rowsFor } from "./rows.ts";
import { generalId } from "./runtime.ts";

/** The author has no account, so no user has read the messages by sending them. */
const unknownUserId = 999_999;

export function messageRow(id: number, conversationId: number, more: Partial<MessageRecord> = {}): MessageRecord {
  return {
    id,
    conversationId,
    senderId: unknownUserId,
    sentAt: 1_700_000_000_000 + id,
    content: "text",
    rendered: "<p>text</p>",
    client: "test",
    traits: 0,
    mentionedUserIds: [],
    mentionedGroupIds: [],
    editedAt: null,
    moves: [],
    ...more,
  };
}

export function conversationRow(id: number, more: Partial<ConversationRecord> = {}): ConversationRecord {
  return {
    id,
    state: "open",
    version: 1,
    channelId: generalId,
    topic: `topic ${id}`,
    userIds: null,
    lastMessageId: 0,
    renames: 0,
    movingId: null,
    ...more,
  };
}

/** Topics of the channel `general` without messages. */
export function fillTopics(realm: Realm, count: number, first = 1): void {
  fill(
    realm,
    "conversations",
    rowsFor<"conversations">(count, (id) => [id, conversationRow(id)], first),
  );
  fill(
    realm,
    "topicNames",
    rowsFor<"topicNames">(count, (id) => [[generalId, `topic ${id}`], { id }], first),
  );
}

/**
 * Entries of messages of a topic of `general` in its indexes; messages that a test opens have rows of their own, too.
 */
export function fillIndexes(realm: Realm, conversationId: number, count: number, first = 1): void {
  const index = { senderId: unknownUserId, traits: 0 };
  const inTopic = rowsFor<"conversationMessages">(count, (id) => [[conversationId, id], index], first);
  fill(realm, "conversationMessages", inTopic);
  const inChannel = rowsFor<"channelMessages">(count, (id) => [[generalId, id], { conversationId, ...index }], first);
  fill(realm, "channelMessages", inChannel);
  const row = realm.view.row("conversations", conversationId) ?? conversationRow(conversationId);
  fill(realm, "conversations", [[conversationId, { ...row, lastMessageId: first + count - 1 }]]);
}

export function fillMessages(realm: Realm, conversationId: number, count: number, first = 1): void {
  fillIndexes(realm, conversationId, count, first);
  fill(
    realm,
    "messages",
    rowsFor<"messages">(count, (id) => [id, messageRow(id, conversationId)], first),
  );
}

/** Reads stop at this message. */
export function setNewestMessage({ dispatcher }: Realm, id: number): void {
  dispatcher.realmCounters.turn.counters.message = id;
}

/** The same view with counters: the reads of each table, and the rows returned. */
export function counted(view: View): { readonly view: View; readonly looks: Map<string, number> } {
  const looks = new Map<string, number>();
  const note = (name: string, count: number) => looks.set(name, (looks.get(name) ?? 0) + count);
  const proxy = new Proxy(view, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (table: unknown, ...rest: unknown[]) => {
        const found = value.call(target, table, ...rest);
        if (name === "row") note(`row ${table}`, 1);
        else if (name === "rows" || name === "keys") note(`${name} ${table}`, found.length);
        else if (name === "channelIndex") note("channelIndex", found.length);
        return found;
      };
    },
  });
  return { view: proxy, looks };
}
