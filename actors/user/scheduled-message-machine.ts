/**
 * A scheduled message. Its conversation posts it when it is due (actors/topic/scheduled-delivery.ts) and deletes the row,
 * or marks it as failed if the post is rejected.
 *
 *    pending --scheduled-messages.give-up: every attempt threw (M6)--> failed
 *    failed --scheduled-messages.update with a new time--> pending
 */
import { decide, ignore, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import type { RecordMachine } from "../protocol/record-machines.ts";
import {
  giveUp,
  remove,
  type ScheduledMessageContext,
  updateFailed,
  updatePending,
} from "./scheduled-message-changes.ts";

const scheduledMessageMachine = setupMachine<ScheduledMessageContext>().createMachine({
  id: "scheduled-message",
  context: ({ input }) => input,
  initial: "pending",
  meta: {
    elsewhere: [
      { from: "pending", to: "failed", commands: ["scheduled-messages.due"], by: "the conversation" },
      { from: "pending", to: "[*]", commands: ["scheduled-messages.due"], by: "the conversation" },
      { from: "pending", to: "[*]", commands: ["scheduled-messages.remove"] },
      { from: "failed", to: "[*]", commands: ["scheduled-messages.remove"] },
    ],
  },
  states: {
    pending: {
      on: lead(
        decide<ScheduledMessageContext>({
          "scheduled-messages.update": updatePending,
          "scheduled-messages.remove": remove,
          "scheduled-messages.give-up": giveUp,
        }),
        { "scheduled-messages.give-up": { failed: "no edit has set another timer" } },
      ),
    },
    failed: {
      on: {
        ...lead(
          decide<ScheduledMessageContext>({
            "scheduled-messages.update": updateFailed,
            "scheduled-messages.remove": remove,
          }),
          { "scheduled-messages.update": { pending: "with a new time" } },
        ),
        ...ignore(["scheduled-messages.give-up"]),
      },
    },
  },
  on: rejectUnhandled,
});

export const scheduledMessages: RecordMachine<ScheduledMessageContext> = {
  machine: scheduledMessageMachine,
  stateOf: ({ timer }) => (timer === null ? "failed" : "pending"),
};
