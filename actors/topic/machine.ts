/**
 * One conversation: a channel topic or a direct-message group. An empty conversation has no row: its first message
 * gives it an id, and deleting its last message frees the name.
 *
 * empty --message.post, messages.import--> open --topic.refreshLastMessage, nothing left--> empty open --message.edit,
 * a move or a rename of many messages--> moving --topic.move-ended--> open
 *
 * `moving` accepts everything but another move or rename. A topic's name is part of its context, so a rename changes
 * one row. The target conversation imports messages that move to it, and stays open.
 *
 * The decisions that each area adds to the conversation actor, by type of command.
 */
import { refuse } from "../../schemas/errors.ts";
import { forUser } from "../protocol/decision.ts";
import { decide, lead, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { emptyTopic, type TopicContext } from "./context.ts";
import { messageDeletionDecisions } from "./message-deletion.ts";
import { editWhileMoving, messageEditsDecisions } from "./message-edits.ts";
import { messageReportsDecisions } from "./message-reports.ts";
import { messagesDecisions } from "./messages.ts";
import { movesDecisions } from "./moves.ts";
import { reactionsDecisions } from "./reactions.ts";
import { renamesDecisions } from "./renames.ts";
import { scheduledDeliveryDecisions } from "./scheduled-delivery.ts";
import { submessagesDecisions } from "./submessages.ts";

const topicAreas = [
  messageDeletionDecisions,
  messageEditsDecisions,
  messageReportsDecisions,
  messagesDecisions,
  movesDecisions,
  reactionsDecisions,
  renamesDecisions,
  scheduledDeliveryDecisions,
  submessagesDecisions,
] as const;

export const topicMachineVersion = 1;

const on = decide<TopicContext>(...topicAreas);

/** A report is decided in every state: whether messages can be reported at all is checked before the message. */
const withoutMessages = reject(refuse.invalidMessage, [
  "message.edit",
  "message.delete",
  "reaction.add",
  "reaction.remove",
  "submessage.add",
]);

const first = { open: "its first message" };
const emptied = { empty: "nothing is left" };

export const topicMachine = setupMachine<TopicContext>().createMachine({
  id: "topic",
  context: emptyTopic,
  initial: "empty",
  states: {
    empty: {
      on: {
        ...lead(on, {
          "message.post": first,
          "welcome.test": first,
          "scheduled-messages.due": first,
          "reminders.due": first,
          "messages.import": first,
        }),
        ...withoutMessages,
      },
    },
    open: {
      on: lead(on, {
        "topic.refreshLastMessage": emptied,
        "message.edit": { moving: "it moves or renames many messages" },
      }),
    },
    moving: {
      on: {
        ...lead(on, { "topic.refreshLastMessage": emptied, "topic.move-ended": { open: "the end of this move" } }),
        ...decide<TopicContext>({ "message.edit": forUser(editWhileMoving) }),
      },
    },
  },
  on: rejectUnhandled,
});
