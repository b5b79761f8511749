/**
 * One conversation: a channel topic or a direct-message group.
 *
 *   empty --message.post--> open --topic.recount, nothing left--> empty
 *
 * An empty conversation has no row; its first message gives it an id, its last deletion takes the name away again.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { postMessage } from "./messages.ts";
import { recount } from "./recount.ts";

export interface TopicContext {
  /** null until the first message. */
  readonly id: number | null;
  readonly channelId: number | null;
  readonly topic: string;
  readonly userIds: readonly number[] | null;
  /** 0 when there is none. */
  readonly lastMessageId: number;
}

export const topicMachineVersion = 1;

const { decide, notUnderstood } = hosting<TopicContext>();

export const topicMachine = setup({
  types: {
    context: {} as TopicContext,
    events: {} as CommandEvent,
    emitted: {} as Emitted,
    input: {} as TopicContext | undefined,
  },
}).createMachine({
  id: "topic",
  context: ({ input }) => input ?? { id: null, channelId: null, topic: "", userIds: null, lastMessageId: 0 },
  initial: "empty",
  states: {
    empty: {
      on: { "message.post": { actions: decide(postMessage) }, "topic.recount": { actions: decide(recount) } },
      always: { guard: ({ context }) => context.lastMessageId > 0, target: "open" },
    },
    open: {
      on: { "message.post": { actions: decide(postMessage) }, "topic.recount": { actions: decide(recount) } },
      always: { guard: ({ context }) => context.lastMessageId === 0, target: "empty" },
    },
  },
  on: { "*": { actions: notUnderstood } },
});
