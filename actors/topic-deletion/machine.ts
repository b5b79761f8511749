/**
 * Deleting a topic in batches, newest first (spec 4.13, section 3 Topic).
 *
 *   idle --request--> deleting --continue, nothing left--> idle          answers complete: true
 *                     deleting --continue, deadline passed--> parked     answers complete: false
 *                     deleting --continue after a restart--> parked      nobody waits any more
 *                     deleting --abandon, a batch cannot be done--> parked   answers complete: false
 *                     parked --request--> deleting
 *
 * Between batches it tells itself `continue`, which goes to the back of the realm's line: other commands are not delayed.
 * Each batch is one command, written whole or not at all, so a crash finds the topic at a batch boundary.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { abandonDeletion, continueDeletion, requestDeletion } from "./batches.ts";

export interface Waiter {
  readonly ticket: number;
  readonly deadline: number;
}

export interface TopicDeletionContext {
  readonly conversationId: number | null;
  /** Messages up to this id go; a later post keeps the topic (D29). */
  readonly highWaterId: number;
  /** The newest message that went, or will: who received it knew the topic. 0: nobody knows, from snapshots of version 1. */
  readonly newestId: number;
  readonly actingUserId: number;
  /** Requests that wait, valid in this `boot` of the realm only. */
  readonly waiters: readonly Waiter[];
  readonly boot: number;
  readonly hasMore: boolean;
}

export const topicDeletionMachineVersion = 2;

export const initialTopicDeletion: TopicDeletionContext = {
  conversationId: null,
  highWaterId: 0,
  newestId: 0,
  actingUserId: 0,
  waiters: [],
  boot: 0,
  hasMore: false,
};

const isDeleting = ({ context }: { context: TopicDeletionContext }) => context.hasMore && context.waiters.length > 0;
const isParked = ({ context }: { context: TopicDeletionContext }) => context.hasMore && context.waiters.length === 0;
const isIdle = ({ context }: { context: TopicDeletionContext }) => !context.hasMore;

const { decide, notUnderstood } = hosting<TopicDeletionContext>();

export const topicDeletionMachine = setup({
  types: { context: {} as TopicDeletionContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "topic-deletion",
  context: initialTopicDeletion,
  initial: "idle",
  on: {
    "topic-deletion.request": { actions: decide(requestDeletion) },
    "topic-deletion.abandon": { actions: decide(abandonDeletion) },
    "*": { actions: notUnderstood },
  },
  states: {
    idle: {
      on: { "topic-deletion.continue": { actions: decide(continueDeletion) } },
      always: [
        { guard: isDeleting, target: "deleting" },
        { guard: isParked, target: "parked" },
      ],
    },
    deleting: {
      on: { "topic-deletion.continue": { actions: decide(continueDeletion) } },
      always: [
        { guard: isIdle, target: "idle" },
        { guard: isParked, target: "parked" },
      ],
    },
    parked: {
      on: { "topic-deletion.continue": { actions: decide(continueDeletion) } },
      always: [
        { guard: isIdle, target: "idle" },
        { guard: isDeleting, target: "deleting" },
      ],
    },
  },
});
