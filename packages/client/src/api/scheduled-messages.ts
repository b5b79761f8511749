/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { ScheduledMessage } from "./types.ts";
export interface ScheduledMessagesOperations {
  /** Returns the caller's undelivered scheduled messages, next due first. */
  "GET /scheduled_messages": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly scheduled_messages: readonly ScheduledMessage[] };
  };
  /** Schedules a message. It is checked as if it were sent now, and again when it is due. */
  "POST /scheduled_messages": {
    readonly params: {
      readonly type: "direct" | "channel" | "stream" | "private";
      readonly to: number | readonly number[];
      readonly content: string;
      readonly topic?: string;
      readonly scheduled_delivery_timestamp: number;
      readonly read_by_sender?: boolean;
    };
    readonly result: { readonly scheduled_message_id: number };
  };
  /** Changes a scheduled message; a failed one needs a new time. */
  "PATCH /scheduled_messages/{scheduled_message_id}": {
    readonly params: {
      readonly scheduled_message_id: number;
      readonly type?: "direct" | "channel" | "stream" | "private";
      readonly to?: number | readonly number[];
      readonly content?: string;
      readonly topic?: string;
      readonly scheduled_delivery_timestamp?: number;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deletes a scheduled message before it is sent. */
  "DELETE /scheduled_messages/{scheduled_message_id}": {
    readonly params: { readonly scheduled_message_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface ScheduledMessagesEvents {
  scheduled_messages:
    | {
        readonly type: "scheduled_messages";
        readonly id: number;
        readonly op: "add";
        readonly scheduled_messages: readonly ScheduledMessage[];
      }
    | {
        readonly type: "scheduled_messages";
        readonly id: number;
        readonly op: "update";
        readonly scheduled_message: ScheduledMessage;
      }
    | {
        readonly type: "scheduled_messages";
        readonly id: number;
        readonly op: "remove";
        readonly scheduled_message_id: number;
      };
}

export interface ScheduledMessagesState {
  readonly scheduled_messages?: readonly ScheduledMessage[];
}
