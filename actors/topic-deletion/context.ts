/** The context of the actor that deletes a topic. */

export interface Waiter {
  readonly ticket: number;
  readonly deadline: number;
}

export interface TopicDeletionContext {
  /** null: nothing is to be deleted. */
  readonly conversationId: number | null;
  /** Messages up to this id are deleted; a later post keeps the topic (D29). */
  readonly highWaterId: number;
  /** The next batch starts here, so that it does not search where everything has been deleted. */
  readonly reachedId: number;
  /**
   * The newest message that is deleted: users who received it have seen the topic. 0: unknown, from a snapshot of
   * version 1.
   */
  readonly newestId: number;
  readonly actingUserId: number;
  /** Waiting requests, valid only during this `boot` of the realm. */
  readonly waiters: readonly Waiter[];
  readonly boot: number;
}

export const initialTopicDeletion: TopicDeletionContext = {
  conversationId: null,
  highWaterId: 0,
  reachedId: 0,
  newestId: 0,
  actingUserId: 0,
  waiters: [],
  boot: 0,
};
