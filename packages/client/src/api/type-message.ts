/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { EditHistoryEntry, Reaction, Submessage, TopicLink } from "./types.ts";
export type Message = {
  readonly id: number;
  readonly sender_id: number;
  readonly content: string;
  readonly content_type: "text/html" | "text/x-markdown";
  readonly timestamp: number;
  readonly client: string;
  readonly is_me_message: boolean;
  readonly reactions: readonly Reaction[];
  readonly submessages: readonly Submessage[];
  readonly sender_full_name: string;
  readonly sender_email: string;
  readonly sender_realm_str: string;
  readonly avatar_url: string | null;
  readonly type: "stream" | "private";
  readonly stream_id?: number;
  readonly display_recipient:
    | string
    | readonly {
        readonly id: number;
        readonly email: string;
        readonly full_name: string;
        readonly is_mirror_dummy: boolean;
      }[];
  readonly recipient_id: number;
  readonly subject: string;
  readonly topic_links: readonly TopicLink[];
  readonly last_edit_timestamp?: number;
  readonly last_moved_timestamp?: number;
  readonly edit_history?: readonly EditHistoryEntry[];
  readonly flags: readonly (
    | "read"
    | "starred"
    | "collapsed"
    | "mentioned"
    | "stream_wildcard_mentioned"
    | "topic_wildcard_mentioned"
    | "has_alert_word"
    | "historical"
    | "wildcard_mentioned"
  )[];
  readonly match_content?: string;
  readonly match_subject?: string;
};
