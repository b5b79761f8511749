/** Messages that a user missed, collected for the next email about them (D31). */

import { defineArea, defineCommands, defineTable } from "./area.ts";
import type { MessageId, UserId } from "./ids.ts";

const limits = {
  /** Messages that one user's next missed-message emails may contain; only the newest are kept. */
  missed_messages_per_user_max: 100,
  missed_messages_per_mail_max: 20,
  /** Rendered characters in one email. */
  missed_mail_characters_max: 200_000,
  missed_mail_names_max: 5,
  missed_mails_per_hour_max: 30,
  missed_users_per_command_max: 200,
  /** If the timer of a batch is overdue by more than this, the next message sets a new one. */
  missed_timer_late_ms_max: 60_000,
  /** Pending emails of all kinds. At this number, missed-message emails stay in their batches and are retried later. */
  missed_mails_pending_max: 10_000,
  missed_mails_pause_ms: 10 * 60 * 1000,
} as const;

/** Messages that a user missed while away; sent by email unless they are read first (D31). */
export interface MissedMessagesRecord {
  /** The newest ones, ascending. Empty: the row only counts emails. */
  readonly messageIds: readonly MessageId[];
  /** More messages were missed than are remembered. */
  readonly isCut: boolean;
  /** When the first of them was posted. */
  readonly startedAt: number;
  readonly dueAt: number;
  /** When the current timer fires: at `dueAt`, or earlier to check `dueAt` again. */
  readonly timerDueAt: number;
  /** Start of the hour in which emails are counted, and the number of emails in it. */
  readonly hourStartedAt: number;
  readonly mailsInHour: number;
}

/** Parameters of its commands, by type. */
export interface MissedMessagesCommands {
  /** Continues the search for users who missed the message, with users above `afterUserId`. */
  "missed-messages.collect": { readonly messageId: MessageId; readonly afterUserId: UserId };
  /** `at`: when the timer was due; compared with the row to ignore obsolete timers. */
  "missed-messages.due": { readonly at: number };
}

export const missedMessagesArea = defineArea({
  commands: defineCommands<MissedMessagesCommands>(),
  tables: {
    /** By the user who missed them. */
    missedMessages: defineTable<UserId, MissedMessagesRecord>({
      fields: ["messageIds", "isCut", "startedAt", "dueAt", "timerDueAt", "hourStartedAt", "mailsInHour"],
      dates: ["startedAt", "dueAt", "timerDueAt", "hourStartedAt"],
    }),
  },
  limits,
});
