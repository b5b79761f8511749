/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { NarrowTerm } from "./types.ts";
export interface MessageFlagsOperations {
  /** Adds a flag to messages, or removes it. */
  "POST /messages/flags": {
    readonly params: { readonly flag: string; readonly op: string; readonly messages: readonly number[] };
    readonly result: {
      readonly messages: readonly number[];
      readonly ignored_because_not_subscribed_channels?: readonly number[];
    };
  };
  /** Adds a flag to messages around an anchor that match a narrow, or removes it. */
  "POST /messages/flags/narrow": {
    readonly params: {
      readonly flag: string;
      readonly op: string;
      readonly anchor: string;
      readonly include_anchor?: boolean;
      readonly narrow: readonly NarrowTerm[] | null;
      readonly num_after: number;
      readonly num_before: number;
    };
    readonly result: {
      readonly processed_count: number;
      readonly updated_count: number;
      readonly first_processed_id: number | null;
      readonly last_processed_id: number | null;
      readonly found_oldest: boolean;
      readonly found_newest: boolean;
      readonly ignored_because_not_subscribed_channels?: readonly number[];
    };
  };
  /** Marks all messages as read. */
  "POST /mark_all_as_read": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly complete: boolean };
  };
  /** Marks a channel as read. */
  "POST /mark_stream_as_read": {
    readonly params: { readonly stream_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Marks a topic as read (spec 4.16). */
  "POST /mark_topic_as_read": {
    readonly params: { readonly stream_id: number; readonly topic_name: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the users who have read a message. */
  "GET /messages/{message_id}/read_receipts": {
    readonly params: { readonly message_id: number };
    readonly result: { readonly user_ids: readonly number[] };
  };
}

export interface MessageFlagsState {
  readonly starred_messages?: readonly number[];
}
