/**
 * Who has to be told of a message, and who must not be (E2, S1): worked out from the rows as they were when it was posted, by
 * nothing but subscriptions and participants.
 */
import type { EventRecord, MessageRecord, RowOf, SubscriptionRecord } from "../../schemas/records.ts";
import { decodeRow } from "../../src/store/codec.ts";
import type { Replica, Write } from "./replica.ts";

export interface Posted {
  readonly position: number;
  readonly messageId: number;
  readonly conversationId: number;
  readonly channelId: number | null;
  readonly userIds: ReadonlySet<number>;
  /** Of them, who is there still when it is on disk: who leaves in the same turn may see it no more. */
  readonly owedTo: ReadonlySet<number>;
}

interface Committed {
  readonly position: number;
  readonly type: string;
  /** People who were ever in the private channel that it is about; null: it is about none. */
  readonly insiders: ReadonlySet<number> | null;
}

export class Audience {
  readonly #replica: Replica;
  readonly #members = new Map<number, Set<number>>();
  readonly #everMembers = new Map<number, Set<number>>();
  readonly #posted = new Map<number, Posted>();
  /** The same by message, where nobody came or went in its turn, and it stayed where it was posted. */
  readonly #postedAs = new Map<number, Posted>();
  /** Durable events, by position. */
  readonly #committed: Committed[] = [];

  constructor(replica: Replica) {
    this.#replica = replica;
    for (const row of replica.rows("subscriptions")) this.#follow(row.channelId, row.userId, row);
  }

  #follow(channelId: number, userId: number, row: SubscriptionRecord | null): void {
    const members = this.#members.get(channelId) ?? new Set();
    this.#members.set(channelId, members);
    // Whoever is deactivated keeps the subscription, and is not there.
    if (row?.isActive !== true || row.stays.at(-1)?.leftAtId !== null) members.delete(userId);
    else {
      members.add(userId);
      this.#everMembers.set(channelId, (this.#everMembers.get(channelId) ?? new Set()).add(userId));
    }
  }

  /** A transaction is on disk; its rows are not in the replica yet. @returns the messages that were posted in it */
  committed(writes: readonly Write[]): Posted[] {
    const posted: Posted[] = [];
    for (const { table, key, bytes } of writes) {
      if (table === "subscriptions") {
        const [channelId, userId] = key as [number, number];
        this.#follow(channelId, userId, bytes === null ? null : decodeRow("subscriptions", key, bytes));
      }
      if (table !== "events" || bytes === null) continue;
      const event = decodeRow("events", key, bytes);
      this.#committed.push({ position: event.position, type: event.type, insiders: this.#insiders(event, writes) });
      const message = event.type === "message" ? this.#posting(event, writes) : null;
      if (message === null) continue;
      this.#posted.set(event.position, message);
      if (message.owedTo === message.userIds && !changesMembers(message, writes))
        this.#postedAs.set(message.messageId, message);
      posted.push(message);
    }
    return posted.map((message) => ({ ...message, owedTo: this.#still(message) }));
  }

  #still({ channelId, userIds, owedTo }: Posted): ReadonlySet<number> {
    const members = channelId === null ? userIds : this.#members.get(channelId);
    return new Set([...owedTo].filter((id) => members?.has(id) === true));
  }

  #insiders({ type, audience }: EventRecord, writes: readonly Write[]): ReadonlySet<number> | null {
    if (audience.to !== "channel" || (type !== "update_message" && type !== "message")) return null;
    const channel = this.#row("channels", audience.id, writes);
    return channel?.isPrivate === true
      ? new Set([...(this.#everMembers.get(audience.id) ?? []), ...audience.also])
      : null;
  }

  #posting(event: EventRecord, writes: readonly Write[]): Posted | null {
    const messageId = event.body["message_id"] as number;
    // Posted and deleted in one turn: nobody has to see it.
    const message: MessageRecord | undefined = this.#row("messages", messageId, writes);
    if (message === undefined) return null;
    const conversation = this.#row("conversations", message.conversationId, writes);
    if (conversation === undefined) return null;
    const { id: conversationId, channelId } = conversation;
    const former = this.#formerChannel(messageId, conversationId, writes);
    const here = channelId === null ? conversation.userIds : this.#members.get(channelId);
    const there = former === undefined ? [] : (this.#members.get(former ?? 0) ?? []);
    const people = new Set([...(here ?? []), ...there, ...this.#calledBots(message, channelId, writes)]);
    // Posted and moved in one turn: who was told of it by either place is told right, and nobody has to be.
    const owedTo = former === undefined ? people : new Set<number>();
    return { position: event.position, messageId, conversationId, channelId, userIds: people, owedTo };
  }

  /** Generic bots that are mentioned by name in a public channel get the message without a subscription. */
  #calledBots({ id, rendered }: MessageRecord, channelId: number | null, writes: readonly Write[]): number[] {
    const channel = channelId === null ? undefined : this.#row("channels", channelId, writes);
    if (channel === undefined || channel.isPrivate) return [];
    const named = this.#row("messageAttention", id, writes)?.calledBotIds ?? [];
    return named.filter((userId) => {
      const isGenericBot = this.#row("users", userId, writes)?.botType === 1;
      return isGenericBot && rendered.includes(`data-user-id="${userId}"`);
    });
  }

  /** Where it was posted, when it was moved in the same transaction. */
  #formerChannel(messageId: number, conversationId: number, writes: readonly Write[]): number | null | undefined {
    const first = writes.find((write) => write.table === "messages" && write.key === messageId && write.bytes !== null);
    const posted = first?.bytes ? decodeRow("messages", messageId, first.bytes).conversationId : conversationId;
    return posted === conversationId ? undefined : (this.#row("conversations", posted, writes)?.channelId ?? null);
  }

  /** As a transaction leaves it, or, where it removes it, as it was before or in it. */
  #row<T extends "messages" | "conversations" | "channels" | "messageAttention" | "users">(
    table: T,
    key: number,
    writes: readonly Write[],
  ): RowOf<T> | undefined {
    const last = writes.filter((write) => write.table === table && write.key === key && write.bytes !== null).at(-1);
    return last?.bytes ? decodeRow(table, key, last.bytes) : this.#replica.get(table, key);
  }

  posting(position: number): Posted | undefined {
    return this.#posted.get(position);
  }

  postedAs(messageId: number): Posted | undefined {
    return this.#postedAs.get(messageId);
  }

  /** The durable event of which an id is a piece, or null: there is none on disk. */
  eventOf(id: number): Committed | null {
    let low = 0;
    let high = this.#committed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#committed[middle] as Committed).position < id) low = middle + 1;
      else high = middle;
    }
    return this.#committed[low] ?? null;
  }
}

/** Rows say in what order people came and messages were posted; of one transaction, nobody but they knows. */
function changesMembers({ channelId }: Posted, writes: readonly Write[]): boolean {
  return writes.some(({ table, key }) => table === "subscriptions" && (key as [number, number])[0] === channelId);
}
