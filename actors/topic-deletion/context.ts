/** The context of the actor that deletes a topic, and its states. */

export interface Waiter {
  readonly ticket: number;
  readonly deadline: number;
}

export interface TopicDeletionContext {
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
  readonly hasMore: boolean;
  /** Whether the topic's messages are being moved: the ones that leave it survive. */
  readonly awaitsMove: boolean;
}

export const initialTopicDeletion: TopicDeletionContext = {
  conversationId: null,
  highWaterId: 0,
  reachedId: 0,
  newestId: 0,
  actingUserId: 0,
  waiters: [],
  boot: 0,
  hasMore: false,
  awaitsMove: false,
};

interface Seen {
  readonly context: TopicDeletionContext;
}

const isAwaited = ({ hasMore, waiters }: TopicDeletionContext) => hasMore && waiters.length > 0;

export const isDeleting = ({ context }: Seen) => isAwaited(context) && !context.awaitsMove;
export const isWaitingForMove = ({ context }: Seen) => isAwaited(context) && context.awaitsMove;
export const isParked = ({ context }: Seen) => context.hasMore && context.waiters.length === 0;
export const isIdle = ({ context }: Seen) => !context.hasMore;
