/** Durable shapes of what is to be sent later. The rules of `schemas/records.ts` hold. */

/** What a row that waits for its time knows of its timer. */
interface Scheduled {
  /** Not before this time. */
  readonly dueAt: number;
  /** Sequence of its timer: with `dueAt` the timer's key. null: it was due and failed. */
  readonly timer: number | null;
}

/** A message that somebody has written and that is posted for them later. Gone in the turn that posts it (M3). */
export interface ScheduledMessageRecord extends Scheduled {
  readonly id: number;
  readonly userId: number;
  /** null: a direct message. */
  readonly channelId: number | null;
  /** "" in a direct message. */
  readonly topic: string;
  /** Participants, ascending, the sender among them; null: a channel's. */
  readonly userIds: readonly number[] | null;
  readonly content: string;
  /** For lists: what is posted is rendered anew. */
  readonly rendered: string;
  /** What the writer's client called this server, for links into it. */
  readonly siteUrl: string;
  readonly client: string;
  readonly isReadBySender: boolean;
}

/** A message that somebody wants to be reminded of. Gone in the turn that does it (M3). */
export interface ReminderRecord extends Scheduled {
  readonly id: number;
  readonly userId: number;
  readonly messageId: number;
  /** "" for none. */
  readonly note: string;
  /** For lists: what it is about, without the message's words. */
  readonly content: string;
  readonly rendered: string;
}
