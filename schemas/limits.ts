/**
 * All limits of the server, with their units in the names (S3). Each area declares its own; the others are in limits/.
 * Relations between limits are asserted when this module is loaded, so the server does not start with contradictory
 * limits.
 */
import type { AllOf } from "./area.ts";
import { type Area, areas } from "./areas.ts";
import { archiveLimits } from "./limits/archive.ts";
import { clusterLimits } from "./limits/cluster.ts";
import { adminLimits, commonLimits, pictureLimits } from "./limits/common.ts";
import { wireLimits } from "./limits/wire.ts";

type Limits = AllOf<Area, "limits"> &
  typeof adminLimits &
  typeof archiveLimits &
  typeof clusterLimits &
  typeof commonLimits &
  typeof pictureLimits &
  typeof wireLimits;

export const limits = Object.assign(
  {},
  adminLimits,
  archiveLimits,
  clusterLimits,
  commonLimits,
  pictureLimits,
  wireLimits,
  ...areas.map((area) => ("limits" in area ? area.limits : {})),
) as { readonly [Name in keyof Limits]: Limits[Name] };

function relate(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`limits contradict each other: ${what}`);
}

relate(
  limits.ws_frame_bytes_hard_max >= 2 * limits.ws_frame_bytes_max,
  "a frame over the limit must reach the handler",
);
relate(
  limits.socket_buffer_bytes_hard_max === 2 * limits.socket_buffer_bytes_soft_max,
  "the hard buffer limit is twice the soft one",
);
relate(
  6 * limits.fetch_characters_max <= limits.unsent_bytes_max,
  "the largest answer to GET /messages, in both directions from its anchor, fits into the unsent bytes",
);
relate(
  limits.sockets_unauthenticated_max * limits.ws_frame_bytes_hard_max <= limits.requests_in_flight_bytes_max,
  "frames of unauthenticated sockets use no more memory than requests may",
);
relate(
  limits.store_reserved_bytes > limits.journal_unflushed_bytes_max + limits.journal_segment_bytes,
  "what was accepted before the disk filled up still fits: with the reserved space goes the last room for one turn (M5)",
);
relate(
  5 * limits.visibility_subscribers_max + 50 * limits.visibility_pairs_max < limits.turn_bytes_max,
  "events about newly visible private channels fit into a turn",
);
relate(
  limits.search_unindexed_passes_max * limits.narrow_rows_per_pass_max >=
    2 * limits.search_rows_per_message * (limits.search_tail_messages_max + limits.search_segment_messages),
  "a search finds everything while the indexer is not far behind",
);
relate(limits.presence_hidden_s > limits.presence_offline_threshold_s, "a user who hides appears offline at once");
relate(4 * limits.move_batch_characters <= limits.turn_bytes_max, "the texts of a batch fit into one turn");
relate(limits.move_batch_messages <= limits.event_ids_per_piece_max, "the ids of a batch fit into one event");
relate(
  limits.drain_batches_max * limits.drain_pause_ms < limits.shutdown_ms_max / 2,
  "all sockets are notified within the time of a shutdown",
);
relate(
  limits.path_bytes_max + limits.url_query_bytes_max + 12 * 1024 <= limits.http_head_bytes_max,
  "an oversized request line is rejected with a JSON error, whatever headers a browser sends",
);
relate(
  limits.live_sample_ms % limits.data_folder_check_ms === 0,
  "figures are sampled with the checks of the data folder, which have the timer",
);
relate(limits.heartbeat_ms_min < limits.heartbeat_ms_max, "heartbeat window");
relate(limits.message_code_points_max * 4 < limits.body_bytes_max, "the longest message fits into a body");
relate(
  limits.json_values_max >= 2 * limits.subscribers_per_request_max + limits.channels_per_request_max,
  "a request that subscribes as many people as it may fits into the values of its JSON",
);
relate(
  limits.idempotency_answer_bytes_max <= limits.idempotency_answers_bytes_per_user_max,
  "the longest answer that is stored fits into those of its user",
);
relate(
  3 * limits.navigation_view_fragment_bytes_max + "/api/v1/navigation_views/".length < limits.path_bytes_max,
  "a fragment fits into a path with every byte percent-encoded",
);
relate(
  limits.upload_bytes_in_flight_max >= limits.avatar_bytes_max + limits.upload_margin_bytes,
  "the largest avatar upload fits into the bytes in flight",
);
relate(
  limits.thumbnail_source_bytes_max >= limits.upload_file_mib_default * 1024 * 1024,
  "every image within the default upload limit gets a thumbnail",
);
relate(
  limits.thumbnail_animation_bytes_max < limits.thumbnails_cached_bytes_max,
  "the cache has room for every thumbnail",
);
relate(
  Math.log2(limits.journal_ring_bytes) % 1 === 0,
  "journal_ring_bytes is a power of two, because places in the ring are counted modulo 2^32",
);
relate(
  Math.ceil(limits.journal_record_bytes_max / limits.cluster_part_bytes) < 2 ** 16,
  "the parts of the largest record can be counted in a message's header",
);
