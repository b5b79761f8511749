/**
 * Limits on the memory used by connections: data that clients have not read yet, and requests they have not finished
 * sending (S3).
 */
export const wireLimits = {
  /** Lines of the log that name a request which was answered with 500; the others are counted. */
  failed_requests_named_per_second_max: 10,
  /**
   * A client that is sending a request, or is idle between two, must send this much within this time. uWebSockets.js
   * has the same limits built in.
   */
  receive_ms_max: 10_000,
  receive_bytes_min: 160 * 1024,
  /** Requests on one connection that wait for the response to an earlier one (Node's transport only). */
  requests_pipelined_max: 100,

  sockets_per_user_max: 100,
  sockets_max: 200_000,
  /** Consecutive rate-limited frames after which a connection is closed. */
  socket_refused_frames_max: 100,
  socket_authentication_ms_max: 5000,
  /** Distinct texts shared by sockets (client, site, network address); deduplicated when a socket opens. */
  socket_texts_shared_max: 1000,
  socket_heartbeat_s: 30,
  socket_heartbeat_s_min: 4,
  socket_heartbeat_s_max: 600,
  socket_buffer_bytes_soft_max: 1024 * 1024,
  socket_buffer_bytes_hard_max: 2 * 1024 * 1024,
  /** Events ready at the same time share frames of this size; a longer event gets its own frame. */
  socket_events_frame_bytes_max: 64 * 1024,
  socket_calls_pending_max: 64,
  ws_frame_bytes_max: 1024 * 1024,
  ws_frame_bytes_hard_max: 2 * 1024 * 1024,
  ws_ref_code_points_max: 64,
  /** Responses and events that clients have not read yet, for the whole process. */
  unsent_bytes_max: 256 * 1024 * 1024,
  /** The same per user or address; the first response may be larger. */
  unsent_bytes_per_user_max: 64 * 1024 * 1024,
  /** When the total is reached, the connections that have had this much time are closed. */
  unsent_kept_ms_min: 10_000,
  /** A connection is closed if its client reads less than `unsent_progress_bytes_min` in this time. */
  unsent_stall_ms_max: 60_000,
  unsent_progress_bytes_min: 64 * 1024,
  /** A response of up to this size is always sent; a larger one is rejected if there is no room for it. */
  answer_small_bytes_max: 64 * 1024,
  /**
   * A long response is sent in pieces of at least `answer_piece_bytes_min`, and at most `answer_bytes_per_pass_max` per
   * pass of the event loop.
   */
  answer_piece_bytes_min: 64 * 1024,
  answer_bytes_per_pass_max: 1024 * 1024,
  /** The state of POST /register: characters of JSON that one pass of the event loop encodes, and that one step does. */
  state_characters_per_pass_max: 250_000,
  state_step_characters: 40_000,
  /** Items of a list that one step encodes. */
  state_items_per_step_max: 250,
  /** A shorter answer is never compressed: clients nearby ask often for pages of messages. Bytes, or characters of a text. */
  compressed_length_min: 1024 * 1024,
  /** Answers that are compressed at a time, half of the threads of the pool, and their bytes. Others leave as they are. */
  compressions_max: 2,
  compression_bytes_max: 32 * 1024 * 1024,
  /** How much of an answer is given to the encoder at a time. */
  compression_block_bytes: 1024 * 1024,
  compressed_piece_bytes: 64 * 1024,
  /** Retry-After for a client rejected for lack of room. */
  overloaded_retry_s: 1,
  /** Fragment size of large responses on a WebSocket. */
  socket_fragment_bytes: 64 * 1024,
  /** Bodies and frames of unanswered requests, for the whole process. */
  requests_in_flight_bytes_max: 256 * 1024 * 1024,
  /** The same per address, or per user for WebSockets. */
  requests_in_flight_bytes_per_sender_max: 64 * 1024 * 1024,
  /**
   * A body or frame of up to this size that arrives in one piece is not counted: it is processed before the next one is
   * read.
   */
  request_small_bytes_max: 16 * 1024,
  /** Before a WebSocket is authenticated. */
  ws_first_frame_bytes_max: 4 * 1024,
  /** WebSockets not yet authenticated: their frames are in memory before they can be checked. */
  sockets_unauthenticated_max: 100,
  sockets_unauthenticated_per_address_max: 50,
  /** When others are waiting, such a socket has this long for its first frame. */
  socket_unauthenticated_kept_ms_min: 1000,
  /** Log lines waiting for a slow reader of the log pipe; further ones are dropped and counted. */
  log_waiting_bytes_max: 1024 * 1024,
} as const;
