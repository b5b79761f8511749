/** Event queues (realtime.md; public API: delete-queue). register.ts declares how they are registered and read. */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { EventPosition, UserId } from "./ids.ts";

const limits = {
  queues_per_user_max: 100,
  queue_volatile_events_max: 200,
  queue_narrow_terms_max: 20,
  /** Operators and operands of one queue's narrow together: a user's queues are stored, and held in memory. */
  queue_narrow_code_points_max: 2000,
  event_types_max: 100,
  event_ids_per_piece_max: 1000,
  event_log_bytes_max: 1024 * 1024 * 1024,
  event_log_kept_ms_min: 15 * 60 * 1000,
  event_log_kept_ms_max: 7 * 24 * 60 * 60 * 1000,
  event_log_prune_rows_max: 2000,
  replay_rows_per_pass_max: 2000,
  replay_events_per_answer_max: 1000,
  replay_characters_per_answer_max: 1024 * 1024,
  heartbeat_ms_min: 45_000,
  heartbeat_ms_max: 50_000,
} as const;

/** The capabilities that clients may declare (behaviour 4.3). A queue keeps no other names. */
export const clientCapabilities = [
  "notification_settings_null",
  "bulk_message_deletion",
  "user_avatar_url_field_optional",
  "stream_typing_notifications",
  "user_settings_object",
  "linkifier_url_template",
  "user_list_incomplete",
  "include_deactivated_groups",
  "archived_channels",
  "empty_topic_name",
  "simplified_presence_events",
] as const;
export type ClientCapability = (typeof clientCapabilities)[number];

export const deleteQueue = defineEndpoint({
  operationId: "delete-queue",
  method: "DELETE",
  path: "/events",
  authentication: "user",
  effectiveness: "volatile",
  summary: "Ends a queue.",
  params: { queue_id: Type.String({ maxLength: 200 }) },
  ok: {},
  errors: ["BAD_EVENT_QUEUE_ID"],
});

/** The parameters of POST /register that shape events. Plain data, because it is stored. */
export interface QueueOptions {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  readonly allPublicStreams: boolean;
  readonly includeSubscribers: boolean;
  /** Types that the server has; null means every type. */
  readonly eventTypes: readonly string[] | null;
  readonly narrow: readonly (readonly [string, string])[];
  /** Capabilities that the client declared as true (behaviour 4.3). */
  readonly capabilities: readonly ClientCapability[];
}

export interface QueueRecord {
  readonly id: string;
  readonly userId: UserId;
  readonly createdAt: number;
  readonly createdAtPosition: EventPosition;
  readonly lifespanMs: number;
  readonly client: string;
  readonly options: QueueOptions;
}

export interface QueueRegistration {
  readonly queueId: string;
  readonly lifespanMs: number;
  readonly client: string;
  readonly options: QueueOptions;
  /**
   * The user's other queues when the request arrived: those not polled for longest first, those with a connected reader
   * last.
   */
  readonly others: OtherQueues;
}

/** Queue ids. A queue in neither list was registered after the request arrived. */
export interface OtherQueues {
  readonly unread: readonly string[];
  readonly connected: readonly string[];
}

/** Parameters of its commands, by type. */
export interface QueuesCommands {
  "queue.delete": { readonly queueId: string };
  "queue.register": QueueRegistration;
}

/** Their replies, by type; other commands reply without fields. */
export interface QueuesReplies {
  readonly "queue.register": { readonly queue_id: string };
}

export const queuesArea = defineArea({
  endpoints: [deleteQueue],
  commands: defineCommands<QueuesCommands, QueuesReplies>(),
  tables: {
    queues: defineTable<string, QueueRecord>({
      fields: ["id", "userId", "createdAt", "createdAtPosition", "lifespanMs", "client", "options"],
      dates: ["createdAt"],
    }),
  },
  counters: ["queue"],
  limits,
});
