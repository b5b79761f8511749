/** What commands carry about what is to be sent later (actors/commands.ts). Plain data: it is stored (M3). */
import type { ParsedContent } from "../../src/domain/markdown/render.ts";

export type ScheduledType = "channel" | "direct";

/** A text and what it was parsed to before the turn. */
export interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedContent;
}

/** How the writer's client calls itself and this server. */
interface Origin {
  readonly client: string;
  readonly siteUrl: string;
}

/** Public API, create-scheduled-message. */
export interface ScheduledMessageDraft extends Origin {
  readonly type: ScheduledType;
  readonly to: number | readonly number[];
  readonly topic: string | null;
  readonly content: ParsedText;
  readonly dueAt: number;
  /** null: not said. */
  readonly isReadBySender: boolean | null;
  /** People read in the client what they write. */
  readonly isReadingClient: boolean;
}

/** Public API, update-scheduled-message; null: not passed, so it stays. */
export interface ScheduledMessageUpdate extends Origin {
  readonly id: number;
  readonly type: ScheduledType | null;
  readonly to: number | readonly number[] | null;
  readonly topic: string | null;
  readonly content: ParsedText | null;
  readonly dueAt: number | null;
}

export interface ReminderDraft {
  readonly messageId: number;
  readonly dueAt: number;
  /** "" for none. */
  readonly note: string;
}

export interface ScheduledCommandParams {
  "scheduled-messages.add": ScheduledMessageDraft;
  "scheduled-messages.update": ScheduledMessageUpdate;
  "scheduled-messages.remove": { readonly id: number };
  /** Its timer rings; `timer` is the one that was set, so that one of before an edit does nothing. */
  "scheduled-messages.due": { readonly userId: number; readonly id: number; readonly timer: number };
  /** Posting it threw each time (M6). */
  "scheduled-messages.give-up": { readonly id: number; readonly timer: number };
  "reminders.add": ReminderDraft;
  "reminders.remove": { readonly id: number };
  "reminders.due": { readonly userId: number; readonly id: number };
  "reminders.give-up": { readonly id: number };
}
