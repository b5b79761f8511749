/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Reminder } from "./types.ts";
export interface RemindersOperations {
  /** Returns the caller's undelivered reminders, next due first. */
  "GET /reminders": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly reminders: readonly Reminder[] };
  };
  /** Creates a reminder about a message. */
  "POST /reminders": {
    readonly params: {
      readonly message_id: number;
      readonly scheduled_delivery_timestamp: number;
      readonly note?: string;
    };
    readonly result: { readonly reminder_id: number };
  };
  /** Deletes a reminder before it is delivered. */
  "DELETE /reminders/{reminder_id}": {
    readonly params: { readonly reminder_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface RemindersEvents {
  reminders:
    | { readonly type: "reminders"; readonly id: number; readonly op: "add"; readonly reminders: readonly Reminder[] }
    | { readonly type: "reminders"; readonly id: number; readonly op: "remove"; readonly reminder_id: number };
}

export interface RemindersState {
  readonly reminders?: readonly Reminder[];
}
