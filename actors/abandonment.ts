/**
 * Handles commands that become dead letters (M6): requests that wait for the command are rejected, and the actor that
 * waits for it is notified, so that nothing waits forever.
 */

import type { Ticket } from "../schemas/answer.ts";
import type { MessageMove } from "../schemas/message-changes.ts";
import { type Command, type CommandType, command } from "./protocol/decision.ts";

export interface Abandonment {
  /** Deferred replies to reject now. They are only valid while the realm's boot counter equals `boot`. */
  readonly tickets: readonly Ticket[];
  readonly boot: number;
  /** The command that notifies the waiting actor; null: no actor waits. */
  readonly notification: Command | null;
}

const none: Abandonment = { tickets: [], boot: 0, notification: null };

const abandonments: { readonly [T in CommandType]?: (dead: Command<T>) => Abandonment } = {
  "members.change": ({ params: { waiting } }) =>
    waiting === null ? none : { tickets: [waiting.ticket], boot: waiting.boot, notification: null },
  "group-members.continue": ({ params: { waiting } }) =>
    waiting === null ? none : { tickets: [waiting.ticket], boot: waiting.boot, notification: null },
  "messages.import": (dead) => moveAbandonment(dead.params),
  "topic.announce-rename": (dead) => moveAbandonment(dead.params),
  "retention.sweep": ({ to }) => ({ ...none, notification: command(to, "retention.abandon", {}, null) }),
  "message-flags.continue": ({ params: { progress } }) =>
    progress.waiting === null
      ? none
      : { tickets: [progress.waiting.ticket], boot: progress.waiting.boot, notification: null },
  "scheduled-messages.due": ({ params: { userId, id, timer } }) => ({
    ...none,
    notification: command({ actor: "user", id: userId }, "scheduled-messages.give-up", { id, timer }, null),
  }),
  "reminders.due": ({ params: { userId, id } }) => ({
    ...none,
    notification: command({ actor: "user", id: userId }, "reminders.give-up", { id }, null),
  }),
  "topic-deletion.continue": deletionAbandonment,
  "topic-deletion.move-ended": deletionAbandonment,
  "topic-deletion.deadline": deletionAbandonment,
  "mail.sent": mailAbandonment,
  "mail.failed": mailAbandonment,
  "mail.due": mailAbandonment,
  "webhook.answered": webhookAbandonment,
  "webhook.failed": webhookAbandonment,
  "webhook.due": webhookAbandonment,
};

function deletionAbandonment({ to }: Command): Abandonment {
  return { ...none, notification: command(to, "topic-deletion.abandon", {}, null) };
}

/**
 * Without this command the delivery's row would stay pending, or wait for a timer that no longer exists, until the next
 * restart.
 */
function mailAbandonment({ to, type }: Command): Abandonment {
  return { ...none, notification: command(to, "mail.abandon", { wasAccepted: type === "mail.sent" }, null) };
}

function webhookAbandonment({ to, type }: Command): Abandonment {
  return { ...none, notification: command(to, "webhook.abandon", { wasAnswered: type === "webhook.answered" }, null) };
}

/**
 * Messages that have already moved stay in the target. After the move has ended, the rest of the topic can be moved
 * again.
 */
function moveAbandonment({ moveId, conversationId, waiting }: MessageMove): Abandonment {
  return {
    tickets: waiting === null ? [] : [waiting.ticket],
    boot: waiting?.boot ?? 0,
    notification: command(
      { actor: "conversation", id: conversationId },
      "topic.move-ended",
      { moveId, waiting: null },
      null,
    ),
  };
}

export function abandonmentOf(dead: Command): Abandonment {
  const find = abandonments[dead.type] as ((dead: Command) => Abandonment) | undefined;
  return find === undefined ? none : find(dead);
}
