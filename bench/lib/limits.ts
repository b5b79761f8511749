// The kit's own bounds, in one place (S3: every queue, list, loop and wait has a bound with a name and a unit). They
// limit the load generator only; the server's bounds are in schemas/limits.ts.

/** Maximum time until `GET /server_settings` answers 200, including a build of the server. */
export const START_WAIT_MS = 120_000;
/** Maximum time until the NATS servers of a cluster have elected a leader. */
export const NATS_START_WAIT_MS = 60_000;
/** Pause between two questions whether a cluster has got so far. */
export const CLUSTER_PROBE_MS = 50;
/** Leases of nodes that nobody kills: what saturates the machine also keeps them from renewing. */
export const CLUSTER_LEASE_MS = 10_000;
/** `failover`: a post that is repeated for longer fails the run. */
export const FAILOVER_WAIT_MS = 60_000;
/** Pause before a post is repeated. */
export const FAILOVER_RETRY_MS = 20;
/** Pause between two probes of a starting server: the resolution of the `start` scenario. */
export const START_PROBE_MS = 2;
/**
 * The start-up contract allows 5 s from SIGTERM to exit. After this time the process is killed, and the run reports it.
 */
export const STOP_WAIT_MS = 10_000;
/** Maximum time until a peer's database accepts connections. */
export const DATABASE_START_WAIT_MS = 30_000;
/** Maximum path of a unix socket (Linux has 108 bytes including the terminating zero). */
export const UNIX_PATH_BYTES_MAX = 107;
/** The end of a child's output that is kept for error messages. */
export const CHILD_OUTPUT_BYTES_MAX = 8_192;

/** Open loop: arrivals that may wait for a free connection before a run counts as overloaded and stops. */
export const BACKLOG_ARRIVALS_MAX = 200_000;
/** Open loop: how long outstanding responses may still arrive after the window. */
export const DRAIN_MS = 5_000;
/** A post that a receiver has not seen after this time counts as incomplete. Also the drain time of deliveries. */
export const DELIVERY_WAIT_MS = 2_000;
/** Idle connections that the server closed and the run reopened. */
export const RECONNECTS_MAX = 10_000;
/** Posts per delivery run; bench/native/receiver.c has the same bound. */
export const POSTS_PER_RUN_MAX = 2_000_000;
/** Numbers that a marker can hold. Each run takes the next POSTS_PER_RUN_MAX of them, starting again after the last. */
export const MARKERS_MAX = 100_000_000;
/** Total bits of the receipt tracker over all receivers (64 MB). */
export const RECEIPT_BITS_MAX = 512 * 1024 * 1024;
/** Memory of the posts that some receivers of a program have seen, and some have not. */
export const RECEIPT_BYTES_MAX = 512 * 1024 * 1024;
/** Programs in Node that share the sockets. A single one would limit a fan-out more than the server does. */
export const RECEIVER_PROGRAMS = 2;
/** Wait for the report of a program that reads events. */
export const RECEIVER_REPORT_WAIT_MS = 30_000;
/** Size of a response's head, and of the part of a failed response's body that is kept. */
export const RESPONSE_HEAD_BYTES_MAX = 65_536;
export const FAILURE_BODY_BYTES_MAX = 500;
/** Stores with at least this many messages are kept for later runs; the next value is how many stores are kept. */
export const FILLED_MESSAGES_KEPT_MIN = 100_000;
export const FILLED_FOLDERS_MAX = 4;
/** Maximum frame that a receiver accepts; the server's own frames are far smaller. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/**
 * Sockets per user: half of what the server permits (100), so that a second run may overlap the end of the first one.
 */
export const SOCKETS_PER_USER = 50;
/** Concurrent handshakes while a crowd of sockets connects. */
export const HANDSHAKES_AT_ONCE = 64;
/**
 * The same while all sockets reconnect. Below the kernel's listen backlog of 512, otherwise some would connect a second
 * later.
 */
export const RETURNS_AT_ONCE = 256;
/** A handshake or registration without a reply fails the run after this time. */
export const HANDSHAKE_WAIT_MS = 15_000;
/** A job ends at most this long after its planned time. */
export const JOB_GRACE_MS = 60_000;
/** Points of one plotted line. */
export const PLOT_POINTS_MAX = 120;
/** Wait for the metrics file after SIGUSR2. */
export const METRICS_WAIT_MS = 2_000;
/** How often the threads of the generator are read. One that ends is counted up to the last reading before. */
export const THREADS_READ_MS = 50;
/** wrk gives up a request after this time, and counts it as unanswered. */
export const WRK_TIMEOUT_SECONDS = 10;
/** The report of wrk is read up to this length. */
export const WRK_OUTPUT_BYTES_MAX = 65_536;
/** A compiler of C ends within this time. */
export const COMPILE_WAIT_MS = 60_000;
/** Maxima of the command line options. */
export const CONNECTIONS_MAX = 60_000;
export const RATE_PER_SECOND_MAX = 1_000_000;
export const DURATION_SECONDS_MAX = 3_600;
export const RUNS_MAX = 100;
