/**
 * Checks a realm's tables for half-applied commands: rows that describe the same fact must agree (M2). It checks more
 * than `cli check`, which compares only messages with their indexes.
 */

import type { Command } from "../../actors/protocol/decision.ts";
import { fold } from "../../schemas/fold.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { rowsOf } from "./runtime.ts";

/** @returns one line per contradiction */
export function auditRealm(lmdb: Lmdb): string[] {
  const problems: string[] = [];
  auditMessages(lmdb, problems);
  auditConversations(lmdb, problems);
  auditChannels(lmdb, problems);
  auditCounters(lmdb, problems);
  auditFlags(lmdb, problems);
  auditAnnouncements(lmdb, problems);
  return problems;
}

function auditMessages(lmdb: Lmdb, problems: string[]): void {
  lmdb.each("conversationMessages", (_row, [conversationId, messageId]) => {
    const message = lmdb.get("messages", messageId);
    if (message?.conversationId !== conversationId) problems.push(`conversation ${conversationId} lists ${messageId}`);
  });
  lmdb.each("channelMessages", (row, [channelId, messageId]) => {
    const message = lmdb.get("messages", messageId);
    const isRight =
      message?.conversationId === row.conversationId &&
      lmdb.get("conversations", row.conversationId)?.channelId === channelId;
    if (!isRight) problems.push(`channel ${channelId} lists ${messageId}`);
  });
  const events = new Set<number>();
  lmdb.each("events", (event) => {
    if (event.type !== "message") return;
    const id = event.body["message_id"] as number;
    if (events.has(id)) problems.push(`message ${id} has two events`);
    events.add(id);
  });
  lmdb.each("messages", (message) => {
    const conversation = lmdb.get("conversations", message.conversationId);
    if (conversation === undefined) problems.push(`message ${message.id} has no conversation`);
    if (!lmdb.has("conversationMessages", [message.conversationId, message.id])) {
      problems.push(`message ${message.id} is not in its conversation`);
    }
    const { channelId } = conversation ?? { channelId: null };
    if (channelId !== null && !lmdb.has("channelMessages", [channelId, message.id])) {
      problems.push(`message ${message.id} is not in its channel`);
    }
    if (!events.has(message.id)) problems.push(`message ${message.id} has no event`);
  });
}

function auditConversations(lmdb: Lmdb, problems: string[]): void {
  lmdb.each("conversations", (conversation) => {
    const { id, channelId, userIds } = conversation;
    const [last] = lmdb.keys("conversationMessages", { start: [id + 1], end: [id], reverse: true, limit: 1 });
    // After a deletion a command looks up the conversation's last message: it may still be in the mailbox.
    if (last?.[1] !== conversation.lastMessageId && lmdb.count("mailbox") === 0) {
      problems.push(`conversation ${id} ends at ${last?.[1]}, but its row says ${conversation.lastMessageId}`);
    }
    const name =
      channelId === null
        ? lmdb.get("directNames", (userIds ?? []).join(","))
        : lmdb.get("topicNames", [channelId, fold(conversation.topic)]);
    if (name?.id !== id) problems.push(`conversation ${id} is not found by its name`);
    for (const userId of userIds ?? []) {
      if (!lmdb.has("directConversations", [userId, id])) problems.push(`user ${userId} lacks conversation ${id}`);
    }
  });
  lmdb.each("topicNames", ({ id }, key) => {
    if (!lmdb.has("conversations", id)) problems.push(`topic ${key.join("/")} names no conversation`);
  });
}

/** A flag has two rows, and is removed with its message. */
function auditFlags(lmdb: Lmdb, problems: string[]): void {
  lmdb.each("messageFlags", (_row, [userId, flag, messageId]) => {
    if (!lmdb.has("flagHolders", [messageId, userId, flag])) problems.push(`flag ${flag} of ${userId} on ${messageId}`);
  });
  lmdb.each("flagHolders", (_row, [messageId, userId, flag]) => {
    const isHeld = lmdb.has("messageFlags", [userId, flag, messageId]);
    if (!isHeld || !lmdb.has("messages", messageId)) problems.push(`message ${messageId} is held by ${userId}`);
  });
}

/**
 * A pending announcement has a row as long as its command waits, and a departure has a row until every user has been
 * notified of it.
 */
function auditAnnouncements(lmdb: Lmdb, problems: string[]): void {
  const waiting = new Set<string>();
  const note = ({ command }: { readonly command: unknown }) => {
    const { type, to, params } = command as Command<"read-state.announce">;
    if (type === "read-state.announce")
      waiting.add([params.place.channelId, (to as { id: number }).id, params.at].join("/"));
  };
  lmdb.each("mailbox", note);
  lmdb.each("timers", note);
  const channelIds = new Set<number>();
  lmdb.each("readAnnouncements", (_row, key) => {
    channelIds.add(key[0]);
    if (!waiting.delete(key.join("/"))) problems.push(`announcement ${key.join("/")} has no command`);
  });
  for (const name of waiting) problems.push(`announcement ${name} has no row`);
  lmdb.each("readDepartures", (_row, [channelId, messageId]) => {
    if (!channelIds.has(channelId)) problems.push(`departure of ${messageId} from ${channelId} has no recipient`);
  });
}

/** Only valid while no command is pending: the post sends `find-first-message`. */
function auditChannels(lmdb: Lmdb, problems: string[]): void {
  if (lmdb.count("mailbox") > 0) return;
  lmdb.each("channels", (channel) => {
    const [first] = lmdb.keys("channelMessages", { start: [channel.id], end: [channel.id + 1], limit: 1 });
    const firstId = first === undefined ? null : first[1];
    if (channel.firstMessageId !== firstId) {
      problems.push(`channel ${channel.id} starts at ${firstId}, but its row says ${channel.firstMessageId}`);
    }
  });
}

interface RealmCountersRow {
  readonly counters: Readonly<Record<string, number>>;
  readonly positionCeiling: number;
}

function auditCounters(lmdb: Lmdb, problems: string[]): void {
  const realmCounters = lmdb.get("meta", "counters")?.value as RealmCountersRow | undefined;
  const highest = {
    message: highestOf(rowsOf(lmdb, "messages"), ({ id }) => id),
    user: highestOf(rowsOf(lmdb, "users"), ({ id }) => id),
    channel: highestOf(rowsOf(lmdb, "channels"), ({ id }) => id),
    recipient: highestOf(rowsOf(lmdb, "conversations"), ({ id }) => id),
    sequence: highestOf(rowsOf(lmdb, "mailbox"), ({ sequence }) => sequence),
  };
  for (const [name, id] of Object.entries(highest)) {
    if ((realmCounters?.counters[name] ?? 0) < id) problems.push(`counter ${name} is below ${id}`);
  }
  const position = highestOf(rowsOf(lmdb, "events"), (event) => event.position);
  if ((realmCounters?.positionCeiling ?? 0) <= position) problems.push(`event ${position} is not below the ceiling`);
}

// A spread of a hundred thousand rows would overflow the stack.
function highestOf<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((highest, row) => Math.max(highest, numberOf(row)), 0);
}

/** Stored responses of posts name existing messages; only valid if nothing was deleted. */
export function auditKeptAnswers(lmdb: Lmdb): string[] {
  const problems: string[] = [];
  lmdb.each("idempotency", (row) => {
    const result = JSON.parse(row.body) as { kind: string; answer?: { id?: number } };
    const id = result.answer?.id;
    if (result.kind === "ok" && id !== undefined && !lmdb.has("messages", id)) {
      problems.push(`a stored response names message ${id}, which does not exist`);
    }
  });
  return problems;
}
