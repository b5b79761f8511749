/**
 * One conversation: a channel topic or a direct-message group.
 *
 *   empty --message.post, messages.take-in--> open --topic.recount, nothing left--> empty
 *
 * An empty conversation has no row; its first message gives it an id, its last deletion takes the name away again.
 * A topic's name is part of its context, so a rename is one row; what moves to another conversation is taken in there.
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { deleteMessage } from "./message-deletion.ts";
import { editMessage } from "./message-edits.ts";
import { reportMessage } from "./message-reports.ts";
import { postMessage } from "./messages.ts";
import { endMove, takeIn } from "./moves.ts";
import { addReaction, removeReaction } from "./reactions.ts";
import { recount } from "./recount.ts";
import { deliverReminder } from "./reminder-delivery.ts";
import { tellRename } from "./renames.ts";
import { deliverScheduledMessage } from "./scheduled-delivery.ts";
import { addSubmessage } from "./submessages.ts";
import { testWelcome } from "./welcome-tests.ts";

export interface TopicContext {
  /** null until the first message. */
  readonly id: number | null;
  readonly channelId: number | null;
  readonly topic: string;
  readonly userIds: readonly number[] | null;
  /** 0 when there is none. */
  readonly lastMessageId: number;
  readonly renames: number;
  readonly movingId: number | null;
}

const emptyTopic: TopicContext = {
  id: null,
  channelId: null,
  topic: "",
  userIds: null,
  lastMessageId: 0,
  renames: 0,
  movingId: null,
};

export const topicMachineVersion = 1;

const { decide, notUnderstood } = hosting<TopicContext>();

/** Understood in both states: whoever asks for something of an empty conversation is told that it is not there. */
const on = {
  "message.post": { actions: decide(postMessage) },
  "scheduled-messages.due": { actions: decide(deliverScheduledMessage) },
  "reminders.due": { actions: decide(deliverReminder) },
  "message.edit": { actions: decide(editMessage) },
  "message.delete": { actions: decide(deleteMessage) },
  "message.report": { actions: decide(reportMessage) },
  "reaction.add": { actions: decide(addReaction) },
  "reaction.remove": { actions: decide(removeReaction) },
  "submessage.add": { actions: decide(addSubmessage) },
  "welcome.test": { actions: decide(testWelcome) },
  "messages.take-in": { actions: decide(takeIn) },
  "topic.tell-rename": { actions: decide(tellRename) },
  "topic.move-ended": { actions: decide(endMove) },
  "topic.recount": { actions: decide(recount) },
};

export const topicMachine = setup({
  types: {
    context: {} as TopicContext,
    events: {} as CommandEvent,
    emitted: {} as Emitted,
    input: {} as TopicContext | undefined,
  },
}).createMachine({
  id: "topic",
  context: ({ input }) => input ?? emptyTopic,
  initial: "empty",
  states: {
    empty: {
      on,
      always: { guard: ({ context }) => context.lastMessageId > 0, target: "open" },
    },
    open: {
      on,
      always: { guard: ({ context }) => context.lastMessageId === 0, target: "empty" },
    },
  },
  on: { "*": { actions: notUnderstood } },
});
