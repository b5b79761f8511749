// The kit's own bounds, in one place (S3: every queue, list, loop and wait has a bound with a name and a unit).
// The server's bounds live in schemas/limits.ts; these belong to the load generator and never reach the server.

/** A server that must first be built may take this long until `GET /server_settings` answers 200. */
export const START_WAIT_MS = 120_000;
/** Between two probes of a starting server: the resolution of the `start` scenario. */
export const START_PROBE_MS = 2;
/** The start-up contract says 5 s from SIGTERM to exit; after this the process is killed and the run says so. */
export const STOP_WAIT_MS = 10_000;
/** A database of a peer must take connections by then. */
export const DATABASE_START_WAIT_MS = 30_000;
/** Path of a unix socket (Linux has 108 with the zero at its end). */
export const UNIX_PATH_BYTES_MAX = 107;
/** What is kept of a child's output for an error message. */
export const CHILD_OUTPUT_BYTES_MAX = 8_192;

/** Open loop: arrivals that wait for a free connection before a run counts as overloaded and stops. */
export const BACKLOG_ARRIVALS_MAX = 200_000;
/** Open loop: how long answers that were asked for in time may still come in. */
export const DRAIN_MS = 5_000;
/** A post that not every receiver has seen after this time counts as incomplete and frees its place; also the drain of deliveries. */
export const DELIVERY_WAIT_MS = 2_000;
/** Connections that a server closed while they were idle and that were opened again, per run. */
export const RECONNECTS_MAX = 10_000;
/** Posts of one delivery run: the ledger keeps one bit per post and receiver. */
export const POSTS_PER_RUN_MAX = 2_000_000;
/** Numbers that a marker can hold; each run of a command takes the next POSTS_PER_RUN_MAX of them, and begins again after the last. */
export const MARKERS_MAX = 100_000_000;
/** Bits of that ledger over all receivers (64 MB). */
export const LEDGER_BITS_MAX = 512 * 1024 * 1024;
/** Response head, and body of a response that is kept because it failed. */
export const RESPONSE_HEAD_BYTES_MAX = 65_536;
export const FAILURE_BODY_BYTES_MAX = 500;
/** Stores with as many messages are kept for the next run, and so many of them. */
export const FILLED_MESSAGES_KEPT_MIN = 100_000;
export const FILLED_FOLDERS_MAX = 4;
/** Frame that a receiver accepts; the server's own frames are far below. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** Sockets of one user: half of what the server grants (100), so that a second run may overlap the first one's end. */
export const SOCKETS_PER_USER = 50;
/** Handshakes in flight at once while a crowd of sockets connects. */
export const HANDSHAKES_AT_ONCE = 64;
/** The same while all come back: below the 512 that wait in the kernel for a server, or some would come a second late. */
export const RETURNS_AT_ONCE = 256;
/** A handshake or registration without an answer fails the run after this time. */
export const HANDSHAKE_WAIT_MS = 15_000;
/** A job ends this long after its planned time at the latest, whatever happens. */
export const JOB_GRACE_MS = 60_000;
/** Points of one plotted line. */
export const PLOT_POINTS_MAX = 120;
/** Wait for the answer to SIGUSR2 (the metrics file). */
export const METRICS_WAIT_MS = 2_000;
/** Everything the command line can ask for. */
export const CONNECTIONS_MAX = 60_000;
export const RATE_PER_SECOND_MAX = 1_000_000;
export const DURATION_SECONDS_MAX = 3_600;
export const RUNS_MAX = 100;
