/**
 * Computes the users who must and who must not receive a message (E2, S1) from the rows at the time of the post, by
 * subscriptions and participants alone.
 */

import type { MessageRecord } from "../../schemas/messages.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import type { SubscriptionRecord } from "../../schemas/subscriptions.ts";
import { decodeRow } from "../../src/store/codec.ts";
import type { Replica, Write } from "./replica.ts";

export interface Posted {
  readonly position: number;
  readonly messageId: number;
  readonly conversationId: number;
  readonly channelId: number | null;
  readonly userIds: ReadonlySet<number>;
  /**
   * Those of them who are still subscribed when it is committed: a user who leaves in the same turn may no longer see
   * it.
   */
  readonly mustReceive: ReadonlySet<number>;
}

interface Committed {
  readonly position: number;
  readonly type: string;
  /** Users who were ever subscribed to the private channel that the event concerns; null: it concerns none. */
  readonly insiders: ReadonlySet<number> | null;
}

export class Audience {
  readonly #replica: Replica;
  readonly #members = new Map<number, Set<number>>();
  readonly #everMembers = new Map<number, Set<number>>();
  readonly #posted = new Map<number, Posted>();
  /** The same by message, for messages whose turn changed no membership and which stayed where they were posted. */
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
    // A deactivated user keeps the subscription, but does not count as subscribed.
    if (row?.isActive !== true || row.periods.at(-1)?.leftAtId !== null) members.delete(userId);
    else {
      members.add(userId);
      this.#everMembers.set(channelId, (this.#everMembers.get(channelId) ?? new Set()).add(userId));
    }
  }

  /** A transaction was committed; its rows are not in the replica yet. @returns the messages posted in it */
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
      if (message.mustReceive === message.userIds && !changesMembers(message, writes))
        this.#postedAs.set(message.messageId, message);
      posted.push(message);
    }
    return posted.map((message) => ({ ...message, mustReceive: this.#still(message) }));
  }

  #still({ channelId, userIds, mustReceive }: Posted): ReadonlySet<number> {
    const members = channelId === null ? userIds : this.#members.get(channelId);
    return new Set([...mustReceive].filter((id) => members?.has(id) === true));
  }

  #insiders({ type, audience }: EventRecord, writes: readonly Write[]): ReadonlySet<number> | null {
    if (audience.to !== "channel" || (type !== "update_message" && type !== "message")) return null;
    const channel = this.#row("channels", audience.id, writes);
    return channel?.isPrivate === true
      ? new Set([...(this.#everMembers.get(audience.id) ?? []), ...audience.also])
      : null;
  }

  #posting(event: EventRecord, writes: readonly Write[]): Posted | null {
    if (event.type !== "message") return null;
    const messageId = event.body.message_id;
    // Posted and deleted in one turn: no user has to receive it.
    const message: MessageRecord | undefined = this.#row("messages", messageId, writes);
    if (message === undefined) return null;
    const conversation = this.#row("conversations", message.conversationId, writes);
    if (conversation === undefined) return null;
    const { id: conversationId, channelId } = conversation;
    const former = this.#formerChannel(messageId, conversationId, writes);
    const here = channelId === null ? conversation.userIds : this.#members.get(channelId);
    const there = former === undefined ? [] : (this.#members.get(former ?? 0) ?? []);
    const people = new Set([...(here ?? []), ...there, ...this.#calledBots(message, channelId, writes)]);
    // Posted and moved in one turn: users of either place may receive it, and none has to.
    const mustReceive = former === undefined ? people : new Set<number>();
    return { position: event.position, messageId, conversationId, channelId, userIds: people, mustReceive };
  }

  /** Generic bots mentioned by name in a public channel receive the message without a subscription. */
  #calledBots({ id, rendered }: MessageRecord, channelId: number | null, writes: readonly Write[]): number[] {
    const channel = channelId === null ? undefined : this.#row("channels", channelId, writes);
    if (channel === undefined || channel.isPrivate) return [];
    const named = this.#row("messageAlerts", id, writes)?.mentionedBotIds ?? [];
    return named.filter((userId) => {
      const isGenericBot = this.#row("users", userId, writes)?.botType === 1;
      return isGenericBot && rendered.includes(`data-user-id="${userId}"`);
    });
  }

  /** Where it was posted, if the same transaction moved it. */
  #formerChannel(messageId: number, conversationId: number, writes: readonly Write[]): number | null | undefined {
    const first = writes.find((write) => write.table === "messages" && write.key === messageId && write.bytes !== null);
    const posted = first?.bytes ? decodeRow("messages", messageId, first.bytes).conversationId : conversationId;
    return posted === conversationId ? undefined : (this.#row("conversations", posted, writes)?.channelId ?? null);
  }

  /** The row after the transaction or, if the transaction removes it, its last value before that. */
  #row<T extends "messages" | "conversations" | "channels" | "messageAlerts" | "users">(
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

  /** The durable event to which an id belongs, or null if none is on disk. */
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

/** Rows determine the order of subscriptions and messages. Within one transaction they do not. */
function changesMembers({ channelId }: Posted, writes: readonly Write[]): boolean {
  return writes.some(({ table, key }) => table === "subscriptions" && (key as [number, number])[0] === channelId);
}
