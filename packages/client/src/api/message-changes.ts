/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Attachment } from "./types.ts";
export interface MessageChangesOperations {
  /** Changes a message's content, or moves it and possibly others to another topic or channel. */
  "PATCH /messages/{message_id}": {
    readonly params: {
      readonly message_id: number;
      readonly content?: string;
      readonly prev_content_sha256?: string;
      readonly propagate_mode?: "change_one" | "change_later" | "change_all";
      readonly send_notification_to_new_thread?: boolean;
      readonly send_notification_to_old_thread?: boolean;
      readonly stream_id?: number;
      readonly topic?: string;
    };
    readonly result: { readonly detached_uploads: readonly Attachment[] };
  };
  /** Permanently deletes a message. */
  "DELETE /messages/{message_id}": {
    readonly params: { readonly message_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the message after each of its changes, oldest first. */
  "GET /messages/{message_id}/history": {
    readonly params: { readonly message_id: number; readonly allow_empty_topic_name?: boolean };
    readonly result: {
      readonly message_history: readonly {
        readonly user_id: number;
        readonly timestamp: number;
        readonly topic: string;
        readonly content: string;
        readonly rendered_content: string;
        readonly content_html_diff?: string;
        readonly prev_content?: string;
        readonly prev_rendered_content?: string;
        readonly prev_topic?: string;
        readonly prev_stream?: number;
        readonly stream?: number;
      }[];
    };
  };
}
