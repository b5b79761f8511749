/** Limits of a cluster: the journal on NATS JetStream (S3). */
export const clusterLimits = {
  /** Records that wait together for the stream are sent in one message of at most this size. */
  cluster_message_bytes_max: 256 * 1024,
  /** A larger record is sent in parts of this size. NATS accepts messages of 1 MiB by default. */
  cluster_part_bytes: 512 * 1024,
  /** How long a message waits for its acknowledgement until it is sent again under the same id. */
  cluster_acknowledgement_ms_max: 400,
  /** Pauses before a message is sent again. */
  cluster_retry_ms_min: 20,
  cluster_retry_ms_max: 250,
  /** How long a request that reads or administers a stream waits for its answer. */
  cluster_request_ms_max: 2000,
  /** How often such a request is repeated: streams have no leader for up to 9 seconds. */
  cluster_request_attempts_max: 10,
  /**
   * How often a new owner tries because somebody else appended in between, and sends one claim that is not answered.
   */
  cluster_claim_attempts_max: 20,
  /** A silent connection is tested so often, and given up after `cluster_pings_max` tests without an answer. */
  cluster_ping_ms: 500,
  cluster_pings_max: 2,
  cluster_connect_ms_max: 2000,
  cluster_reconnect_ms: 100,
  /** How often a command tries each server again. A node tries for ever. */
  cluster_command_reconnects_max: 100,
  /** How long a node waits for the monitoring page of a NATS server. */
  cluster_monitor_ms_max: 2000,
  cluster_monitor_bytes_max: 1024 * 1024,
  /** The streams that the organizations are spread over; a cluster keeps the number that it was created with. */
  cluster_streams_default: 16,
  cluster_streams_max: 256,
  /** Copies of each stream. */
  cluster_replicas: 3,
  /** The owner renews its lease so often, and stops this long after it sent the last acknowledged renewal. */
  cluster_lease_renewal_ms: 300,
  cluster_lease_ms: 1000,
  /** As long as CLUSTER_LEASE_MS can make it. */
  cluster_lease_ms_max: 60_000,
  /** A standby takes over so long after it received the last one. */
  cluster_takeover_ms: 1200,
  /** How much longer a node is trusted that is opening its organizations. */
  cluster_lease_start_ms: 30_000,
  /** How often a standby looks for new messages. */
  cluster_follow_ms: 200,
  /** Then it asks only for organizations of which a stream has more messages, and so often for all of them. */
  cluster_follow_all_ms: 60_000,
  /** The store of an organization that does not change is closed after so long, and sooner if more are open. */
  cluster_followed_open_ms: 10_000,
  cluster_followed_open_max: 64,
  /** After a change it looks more often for a while. */
  cluster_eager_ms: 200,
  cluster_eager_pause_ms: 10,
  /** Up to so many messages in its stream an owner knows which of its turns each of them has; then in pairs. */
  cluster_release_points_max: 1024,
  /** Rows of a store that joins a cluster are sent in records of this size. */
  cluster_base_record_bytes: 1024 * 1024,
  /** Organizations that a node claims at the same time. */
  cluster_claims_concurrent_max: 16,
  /** Snapshots and files are sent in chunks of this size, one after the other. */
  cluster_object_chunk_bytes: 256 * 1024,
  /** How long a chunk waits for its acknowledgement, and how often an object is sent again from its first one. */
  cluster_object_ms_max: 5000,
  cluster_object_attempts_max: 4,
  /** Files that a node gets from the object store at the same time, for one organization. */
  files_fetched_at_once_max: 8,
  /** A file that no organization claims is kept for so long: a node may be about to claim it. */
  cluster_file_grace_ms: 24 * 60 * 60 * 1000,
  /** How often orphans are looked for. */
  cluster_file_sweep_ms: 24 * 60 * 60 * 1000,
  /** Snapshots of an organization: the stream keeps everything since the older one. */
  cluster_snapshots_kept: 2,
  /** How often a node looks which organizations need a snapshot. */
  cluster_snapshot_look_ms: 60_000,
  /** Bytes of an organization's messages since its last snapshot that make the next one due, and hours that do. */
  snapshot_mib_default: 256,
  snapshot_mib_max: 1024 * 1024,
  snapshot_hours_default: 24,
  snapshot_hours_max: 24 * 365,
  /** Addresses of NATS servers that a node may be given. */
  cluster_addresses_max: 16,
  /** How long a node has to be there before organizations move to it for balance. */
  cluster_settle_ms: 5000,
  /** How long a process has to say that it is there. */
  cluster_report_ms_max: 300,
  /** Scores of nodes for organizations that a node remembers. */
  cluster_scores_max: 30_000,
  /** An organization with a larger store is opened when a node begins to serve it, a smaller one when it has work. */
  cluster_opened_at_once_bytes: 16 * 1024 * 1024,
  /** After so long without an owner an organization is taken by any node, not only by the one it belongs to. */
  cluster_orphan_ms_max: 3000,
  /** How often an operator's command looks whether the cluster has done what it wants. */
  cluster_wish_attempts_max: 60,
  /** How long a request waits for a node that serves its organization. */
  forward_wait_ms_max: 5000,
  /** How often a node is asked again that does not serve yet. */
  forward_pause_ms: 20,
  /** After so long the client may repeat a request that no node could serve. */
  forward_retry_s: 1,
  forward_connect_ms_max: 1000,
  /** Idle connections between nodes are closed before the other side does it. */
  forward_idle_ms_max: 4000,
  forward_connections_idle_max: 256,
  /** Requests that a node forwards at the same time; the others get 503. */
  forward_requests_max: 20_000,
  /** Larger bodies are not kept, so they are sent once. */
  forward_replay_bytes_max: 64 * 1024,
  /** Larger answers are passed on as they arrive. */
  forward_answer_bytes_max: 64 * 1024,
  /** Answers that are kept until they are whole, in sum. Without room one is passed on as it arrives, too. */
  forward_answers_bytes_max: 64 * 1024 * 1024,
  forward_head_bytes_max: 64 * 1024,
  /** The bytes that wait at an edge for the clients of its sockets, in sum. Without room a client has to reconnect. */
  forward_messages_bytes_max: 128 * 1024 * 1024,
  /** Bytes on their way from an owner to an edge over a link, and one message more. */
  forward_link_window_bytes: 512 * 1024,
  /** A longer message leaves in pieces of `socket_fragment_bytes`, for each client anew. */
  forward_link_shared_message_bytes_max: 256 * 1024,
  /** Clients that one message of a link names. */
  forward_link_receivers_max: 500,
  /** Messages for several clients that wait for a link, in sum. Without room the client is closed who would get the next. */
  forward_link_shared_bytes_max: 16 * 1024 * 1024,
  /** Answers and pieces that wait for a link, in sum. Without room the client is closed who has most waiting. */
  forward_link_lines_bytes_max: 32 * 1024 * 1024,
  /** Messages of clients that wait for a link to their owner: of one client, and in sum. Without room it has to reconnect. */
  forward_link_client_bytes_max: 4 * 1024 * 1024,
  forward_link_clients_bytes_max: 32 * 1024 * 1024,
  forward_link_message_bytes_max: 3 * 1024 * 1024,
  /** A link that has more than that in memory is closed. */
  forward_link_carrier_bytes_max: 16 * 1024 * 1024,
  /** Pending handshakes on a link; the others get 503. */
  forward_link_handshakes_max: 10_000,
  /** Links that a node accepts: one from each other node, and those that are about to end. */
  forward_links_max: 64,
  /** Each end of a link says so often that it is there, and gives the other one up after so much silence. */
  forward_link_beat_ms: 1000,
  forward_link_silence_ms_max: 5000,
  /** Clients whose progress one message of a link reports. */
  forward_link_progress_clients_max: 250,
  /** A link without sockets is closed after so long. */
  forward_link_idle_ms_max: 30_000,
  cluster_node_characters_max: 64,
} as const;
