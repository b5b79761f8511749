/** Generated from schemas/ by `npm run client:api`; do not edit. */

import type { Channel } from "./type-channel.ts";
import type { Subscription } from "./type-subscription.ts";
import type { GroupValue } from "./types.ts";
export interface ChannelEvents {
  stream:
    | { readonly type: "stream"; readonly id: number; readonly op: "create"; readonly streams: readonly Channel[] }
    | {
        readonly type: "stream";
        readonly id: number;
        readonly op: "update";
        readonly stream_id: number;
        readonly name: string;
        readonly property: string;
        readonly value: string | boolean | number | null | GroupValue;
        readonly rendered_description?: string;
        readonly history_public_to_subscribers?: boolean;
        readonly is_web_public?: boolean;
      }
    | {
        readonly type: "stream";
        readonly id: number;
        readonly op: "delete";
        readonly streams: readonly { readonly stream_id: number }[];
        readonly stream_ids: readonly number[];
      };
  subscription:
    | {
        readonly type: "subscription";
        readonly id: number;
        readonly op: "add";
        readonly subscriptions: readonly Subscription[];
      }
    | {
        readonly type: "subscription";
        readonly id: number;
        readonly op: "remove";
        readonly subscriptions: readonly { readonly name: string; readonly stream_id: number }[];
      }
    | {
        readonly type: "subscription";
        readonly id: number;
        readonly op: "update";
        readonly stream_id: number;
        readonly property: string;
        readonly value: boolean | number | string | null;
      }
    | {
        readonly type: "subscription";
        readonly id: number;
        readonly op: "peer_add";
        readonly stream_ids: readonly number[];
        readonly user_ids: readonly number[];
      }
    | {
        readonly type: "subscription";
        readonly id: number;
        readonly op: "peer_remove";
        readonly stream_ids: readonly number[];
        readonly user_ids: readonly number[];
      };
  default_streams: {
    readonly type: "default_streams";
    readonly id: number;
    readonly default_streams: readonly number[];
  };
  muted_topics: {
    readonly type: "muted_topics";
    readonly id: number;
    readonly muted_topics: readonly (readonly (string | number)[])[];
  };
  user_topic: {
    readonly type: "user_topic";
    readonly id: number;
    readonly stream_id: number;
    readonly topic_name: string;
    readonly last_updated: number;
    readonly visibility_policy: 0 | 1 | 2 | 3;
  };
}
