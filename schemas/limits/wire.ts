/** Bounds of memory that connections take: what others have not read yet, and what they have not finished sending (S3). */
export const wireLimits = {
  /** Answers and events that clients have not taken yet, over the whole process. */
  unsent_bytes_max: 256 * 1024 * 1024,
  /** The same for one person or address; a first answer may be larger. */
  unsent_bytes_per_person_max: 64 * 1024 * 1024,
  /** While the sum is full, a reader is closed once it has had this long. */
  unsent_kept_ms_min: 10_000,
  /** A reader that takes less than `unsent_progress_bytes_min` in so long is closed. */
  unsent_stall_ms_max: 60_000,
  unsent_progress_bytes_min: 64 * 1024,
  /** An answer of this size is sent in any case; a larger one is refused where there is no room for it. */
  answer_small_bytes_max: 64 * 1024,
  /** A long answer is sent in pieces of at least so many, and of at most so many in one pass of the loop. */
  answer_piece_bytes_min: 64 * 1024,
  answer_bytes_per_pass_max: 1024 * 1024,
  /** When a client that was refused for lack of room should come back. */
  overloaded_retry_s: 1,
  /** Large answers on a socket go out in fragments of this size. */
  socket_fragment_bytes: 64 * 1024,

  /** Bodies and frames whose requests are not answered yet, over the whole process. */
  requests_in_flight_bytes_max: 256 * 1024 * 1024,
  /** The same from one address, or on the sockets of one person. */
  requests_in_flight_bytes_per_sender_max: 64 * 1024 * 1024,
  /** A body or frame of this size that comes in one piece is not counted: it is gone before the next one is read. */
  request_small_bytes_max: 16 * 1024,

  /** Before a socket has said whose it is. */
  ws_first_frame_bytes_max: 4 * 1024,
  /** Sockets that have not said yet whose they are: what they send is in memory before it can be looked at. */
  sockets_unauthenticated_max: 100,
  sockets_unauthenticated_per_address_max: 50,
  /** While others wait, such a socket has this long for its first frame. */
  socket_unauthenticated_kept_ms_min: 1000,

  /** Of the log, for a reader of its pipe that is slow; what is more is dropped and counted. */
  log_waiting_bytes_max: 1024 * 1024,
} as const;
