/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { Message } from "./type-message.ts";
import type { MatchFields, NarrowTerm } from "./types.ts";
export interface MessagesOperations {
  /** Sends a message to a topic of a channel, or directly to users. */
  "POST /messages": {
    readonly params: {
      readonly type: "direct" | "channel" | "stream" | "private";
      readonly to?: number | string | readonly (number | string)[];
      readonly content: string;
      readonly topic?: string;
      readonly queue_id?: string;
      readonly local_id?: string;
      readonly read_by_sender?: boolean;
    };
    readonly result: { readonly id: number; readonly automatic_new_visibility_policy?: 2 | 3 };
  };
  /** Returns messages around an anchor that match a narrow. Without credentials, only those in web-public channels. */
  "GET /messages": {
    readonly params: {
      readonly anchor?: string;
      readonly anchor_date?: string;
      readonly include_anchor?: boolean;
      readonly num_before?: number;
      readonly num_after?: number;
      readonly narrow?: readonly NarrowTerm[] | null;
      readonly client_gravatar?: boolean;
      readonly apply_markdown?: boolean;
      readonly use_first_unread_anchor?: boolean;
      readonly message_ids?: readonly number[];
      readonly allow_empty_topic_name?: boolean;
    };
    readonly result: {
      readonly messages: readonly Message[];
      readonly anchor?: number;
      readonly found_anchor: boolean;
      readonly found_oldest: boolean;
      readonly found_newest: boolean;
      readonly history_limited: boolean;
    };
  };
  /** Returns one message (spec 4.10). Without credentials, only from a web-public channel. */
  "GET /messages/{message_id}": {
    readonly params: {
      readonly message_id: number;
      readonly apply_markdown?: boolean;
      readonly allow_empty_topic_name?: boolean;
    };
    readonly result: { readonly message: Message; readonly raw_content: string };
  };
  /** Renders a text as a message of the caller, without sending it. */
  "POST /messages/render": {
    readonly params: { readonly content: string };
    readonly result: { readonly rendered: string };
  };
  /** Returns those of the given messages that match a narrow, with search matches highlighted (spec 4.9). */
  "GET /messages/matches_narrow": {
    readonly params: { readonly msg_ids: readonly number[]; readonly narrow: readonly NarrowTerm[] };
    readonly result: { readonly messages: Readonly<Record<string, MatchFields>> };
  };
  /** Returns the topics of a channel that the caller can read, newest message first. */
  "GET /users/me/{stream_id}/topics": {
    readonly params: { readonly stream_id: number; readonly allow_empty_topic_name?: boolean };
    readonly result: { readonly topics: readonly { readonly name: string; readonly max_id: number }[] };
  };
}

export interface MessagesState {
  readonly max_message_id?: number;
  readonly recent_private_conversations?: readonly {
    readonly max_message_id: number;
    readonly user_ids: readonly number[];
  }[];
}
