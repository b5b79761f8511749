/** What happens to those who wait for a command that died after its last attempt (M6): nobody waits for ever. */

import type { MessageMove } from "./commands/messages.ts";
import { type Command, type CommandType, command } from "./commands.ts";
import type { Ticket } from "./effects.ts";

export interface Abandonment {
  /** Requests that are refused now; meaningless in another boot of the realm than `boot`. */
  readonly tickets: readonly Ticket[];
  readonly boot: number;
  /** The actor is told, so that it does not believe that the command is still to come. */
  readonly tell: Command | null;
}

const none: Abandonment = { tickets: [], boot: 0, tell: null };

const abandonments: { readonly [T in CommandType]?: (dead: Command<T>) => Abandonment } = {
  "members.change": ({ params: { waiting } }) =>
    waiting === null ? none : { tickets: [waiting.ticket], boot: waiting.boot, tell: null },
  "group-members.continue": ({ params: { waiting } }) =>
    waiting === null ? none : { tickets: [waiting.ticket], boot: waiting.boot, tell: null },
  "messages.take-in": (dead) => moveAbandonment(dead.params),
  "topic.tell-rename": (dead) => moveAbandonment(dead.params),
  "retention.sweep": ({ to }) => ({ ...none, tell: command(to, "retention.abandon", {}, null) }),
  "message-flags.continue": ({ params: { progress } }) =>
    progress.waiting === null ? none : { tickets: [progress.waiting.ticket], boot: progress.waiting.boot, tell: null },
  "scheduled-messages.due": ({ params: { userId, id, timer } }) => ({
    ...none,
    tell: command({ actor: "user", id: userId }, "scheduled-messages.give-up", { id, timer }, null),
  }),
  "reminders.due": ({ params: { userId, id } }) => ({
    ...none,
    tell: command({ actor: "user", id: userId }, "reminders.give-up", { id }, null),
  }),
  "topic-deletion.continue": ({ to }) => ({ ...none, tell: command(to, "topic-deletion.abandon", {}, null) }),
  "mail.sent": mailAbandonment,
  "mail.failed": mailAbandonment,
  "mail.due": mailAbandonment,
  "webhook.answered": webhookAbandonment,
  "webhook.failed": webhookAbandonment,
  "webhook.due": webhookAbandonment,
};

/** Its row would take a place among what is under way, or wait for a timer that is gone, until the next start. */
function mailAbandonment({ to, type }: Command): Abandonment {
  return { ...none, tell: command(to, "mail.abandon", { isTaken: type === "mail.sent" }, null) };
}

function webhookAbandonment({ to, type }: Command): Abandonment {
  return { ...none, tell: command(to, "webhook.abandon", { isTaken: type === "webhook.answered" }, null) };
}

/** What has gone stays where it is; the rest of the topic can be moved again. */
function moveAbandonment({ moveId, conversationId, waiting }: MessageMove): Abandonment {
  return {
    tickets: waiting === null ? [] : [waiting.ticket],
    boot: waiting?.boot ?? 0,
    tell: command({ actor: "conversation", id: conversationId }, "topic.move-ended", { moveId, waiting: null }, null),
  };
}

export function abandonmentOf(dead: Command): Abandonment {
  const find = abandonments[dead.type] as ((dead: Command) => Abandonment) | undefined;
  return find === undefined ? none : find(dead);
}
