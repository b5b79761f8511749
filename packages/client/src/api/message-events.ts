/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { MessageBody } from "./type-message-body.ts";
import type { Attachment, TopicLink } from "./types.ts";
export interface MessageEvents {
  message: {
    readonly type: "message";
    readonly id: number;
    readonly message: MessageBody;
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
    readonly local_message_id?: string;
  };
  update_message: {
    readonly type: "update_message";
    readonly id: number;
    readonly user_id: number;
    readonly rendering_only: boolean;
    readonly message_id: number;
    readonly message_ids: readonly number[];
    readonly edit_timestamp: number;
    readonly orig_content?: string;
    readonly orig_rendered_content?: string;
    readonly content?: string;
    readonly rendered_content?: string;
    readonly is_me_message?: boolean;
    readonly stream_id?: number;
    readonly propagate_mode?: "change_one" | "change_later" | "change_all";
    readonly orig_subject?: string;
    readonly new_stream_id?: number;
    readonly subject?: string;
    readonly stream_name?: string;
    readonly topic_links?: readonly TopicLink[];
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
  };
  delete_message:
    | {
        readonly type: "delete_message";
        readonly id: number;
        readonly message_type: "private";
        readonly message_ids: readonly number[];
      }
    | {
        readonly type: "delete_message";
        readonly id: number;
        readonly message_type: "private";
        readonly message_id: number;
      }
    | {
        readonly type: "delete_message";
        readonly id: number;
        readonly message_type: "stream";
        readonly stream_id: number;
        readonly topic: string;
        readonly message_ids: readonly number[];
      }
    | {
        readonly type: "delete_message";
        readonly id: number;
        readonly message_type: "stream";
        readonly stream_id: number;
        readonly topic: string;
        readonly message_id: number;
      };
  update_message_flags:
    | {
        readonly type: "update_message_flags";
        readonly id: number;
        readonly op: "add";
        readonly operation: "add" | "remove";
        readonly flag: "read" | "starred" | "collapsed";
        readonly messages: readonly number[];
        readonly all: boolean;
      }
    | {
        readonly type: "update_message_flags";
        readonly id: number;
        readonly op: "remove";
        readonly operation: "add" | "remove";
        readonly flag: "read" | "starred" | "collapsed";
        readonly messages: readonly number[];
        readonly all: boolean;
        readonly message_details?: Readonly<
          Record<
            string,
            {
              readonly type?: "private" | "stream";
              readonly user_ids?: readonly number[];
              readonly stream_id?: number | null;
              readonly topic?: string;
              readonly mentioned?: boolean;
            }
          >
        >;
      };
  reaction:
    | {
        readonly type: "reaction";
        readonly id: number;
        readonly op: "add";
        readonly user_id: number;
        readonly message_id: number;
        readonly emoji_name: string;
        readonly emoji_code: string;
        readonly reaction_type: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
        readonly user: { readonly email: string; readonly full_name: string; readonly user_id: number };
      }
    | {
        readonly type: "reaction";
        readonly id: number;
        readonly op: "remove";
        readonly user_id: number;
        readonly message_id: number;
        readonly emoji_name: string;
        readonly emoji_code: string;
        readonly reaction_type: "unicode_emoji" | "realm_emoji" | "service_extra_emoji" | "zulip_extra_emoji";
        readonly user: { readonly email: string; readonly full_name: string; readonly user_id: number };
      };
  submessage: {
    readonly type: "submessage";
    readonly id: number;
    readonly msg_type: string;
    readonly message_id: number;
    readonly submessage_id: number;
    readonly sender_id: number;
    readonly content: string;
  };
  typing:
    | {
        readonly type: "typing";
        readonly id: number;
        readonly op: "start";
        readonly message_type: "direct";
        readonly sender: { readonly user_id: number; readonly email: string };
        readonly recipients: readonly { readonly user_id: number; readonly email: string }[];
      }
    | {
        readonly type: "typing";
        readonly id: number;
        readonly op: "start";
        readonly message_type: "stream";
        readonly sender: { readonly user_id: number; readonly email: string };
        readonly stream_id: number;
        readonly topic: string;
      }
    | {
        readonly type: "typing";
        readonly id: number;
        readonly op: "stop";
        readonly message_type: "direct";
        readonly sender: { readonly user_id: number; readonly email: string };
        readonly recipients: readonly { readonly user_id: number; readonly email: string }[];
      }
    | {
        readonly type: "typing";
        readonly id: number;
        readonly op: "stop";
        readonly message_type: "stream";
        readonly sender: { readonly user_id: number; readonly email: string };
        readonly stream_id: number;
        readonly topic: string;
      };
  typing_edit_message:
    | {
        readonly type: "typing_edit_message";
        readonly id: number;
        readonly op: "start";
        readonly sender_id: number;
        readonly message_id: number;
        readonly recipient:
          | { readonly type: "direct"; readonly user_ids: readonly number[] }
          | { readonly type: "channel"; readonly channel_id: number; readonly topic: string };
      }
    | {
        readonly type: "typing_edit_message";
        readonly id: number;
        readonly op: "stop";
        readonly sender_id: number;
        readonly message_id: number;
        readonly recipient:
          | { readonly type: "direct"; readonly user_ids: readonly number[] }
          | { readonly type: "channel"; readonly channel_id: number; readonly topic: string };
      };
  attachment:
    | {
        readonly type: "attachment";
        readonly id: number;
        readonly op: "add";
        readonly attachment: Attachment;
        readonly upload_space_used: number;
      }
    | {
        readonly type: "attachment";
        readonly id: number;
        readonly op: "update";
        readonly attachment: Attachment;
        readonly upload_space_used: number;
      }
    | {
        readonly type: "attachment";
        readonly id: number;
        readonly op: "remove";
        readonly attachment: { readonly id: number };
        readonly upload_space_used: number;
      };
}
