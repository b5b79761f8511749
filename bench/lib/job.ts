// The jobs of a generator process and their results: plain data, because they are sent as JSON over IPC.

import type { DialectName } from "./dialect.ts";
import type { Address } from "./http-connection.ts";
import type { Usage, Watch } from "./probe.ts";
import type { LatencySummary, Point } from "./recorder.ts";

/** Duration and rate of one run. */
export interface Pace {
  readonly warmupMs: number;
  readonly durationMs: number;
  /** Arrivals per second (open loop), or null: each connection sends again when it has its response (closed loop). */
  readonly ratePerSecond: number | null;
}

/**
 * The requests that one connection sends in turn, as text. A marker in them gets a new number with each round, which
 * all requests of the round share (typing start, typing stop).
 */
export type Cycle = readonly string[];

interface CommonJob {
  readonly address: Address;
  readonly watch: Watch | null;
}

/** An installed wrk, and the script that makes its requests (bench/native/load.lua). */
export interface Wrk {
  readonly version: string;
  readonly script: string;
}

/** Name of the kit's own generator, which runs in Node. */
export const KIT_SENDER = "the kit's generator (Node)";

/** HTTP requests over keep-alive connections; connection i sends `cycles[i % cycles.length]`. */
export interface HttpLoadJob extends CommonJob {
  readonly kind: "http-load";
  readonly connections: number;
  readonly cycles: readonly Cycle[];
  readonly pace: Pace;
  /** Set if the posts are sent over sockets instead of HTTP. */
  readonly postSockets?: PostSockets;
  /** Set if wrk sends the requests, instead of the kit. Its connections take the cycles in turn. */
  readonly wrk?: Wrk;
}

/** Sockets that post; socket i authenticates with `authorizations[i % length]`. */
export interface PostSockets {
  readonly dialect: DialectName;
  readonly path: string;
  readonly authorizations: readonly string[];
}

/** Sockets that connect, authenticate and register. */
export interface Receivers {
  /** `json` by default. */
  readonly dialect?: DialectName;
  readonly path: string;
  /** Socket i authenticates with `authorizations[i % length]`. */
  readonly authorizations: readonly string[];
  readonly count: number;
  /** The number i of the first of them (default 0), if programs share the sockets of a run. */
  readonly firstSocket?: number;
  /** The register frame (JSON text), with the `ref` REGISTER_REF. */
  readonly register: string;
  /** Socket i connects from source address i % length; empty: the kernel chooses. */
  readonly localAddresses: readonly string[];
  /** Socket i connects to port i % length of the job's host; absent: to that of the job. */
  readonly ports?: readonly number[];
}

export const REGISTER_REF = "register";

/** Posts over HTTP whose events every receiver must see; see bench/generator/deliveries.ts. */
export interface DeliveriesJob extends CommonJob {
  readonly kind: "deliveries";
  readonly receivers: Receivers;
  /** Set if the posts are sent over sockets instead of HTTP. */
  readonly postSockets?: PostSockets;
  readonly cycles: readonly Cycle[];
  /** Posting connections; in closed loop also the number of concurrent posts. */
  readonly connections: number;
  readonly pace: Pace;
  /** The first marker of this run, so that events of an earlier run are not counted. */
  readonly firstMarker: number;
  /** `scan` finds the marker in the bytes of a frame; `typing` also needs the `op` of the notice that holds it. */
  readonly decoder: "scan" | "typing";
  /** The compiled bench/native/receiver.c, if it reads the events; by default several programs in Node do. */
  readonly receiverProgram?: string;
  /** Set if wrk sends the posts, which then does not wait for their events. */
  readonly wrk?: Wrk;
}

/** Kinds of requests in the mix, without the polls for events. */
export const MIXED_KINDS = ["presence", "upload", "page", "flag", "typing", "post"] as const;
export type MixedKind = (typeof MIXED_KINDS)[number];

/** Requests of several kinds in fixed shares, and long polls that wait for the events of the posts among them. */
export interface MixedJob extends CommonJob {
  readonly kind: "mixed";
  readonly connections: number;
  /**
   * User i sends on connections i, i + length, ...: the requests of each kind, sent in turn. Posts contain a marker.
   */
  readonly people: readonly Readonly<Record<MixedKind, readonly string[]>>[];
  /** Number of requests of each kind per round of a connection, evenly mixed. */
  readonly shares: Readonly<Record<MixedKind, number>>;
  /** Queues whose owners receive every post; each is polled by one connection. */
  readonly queues: readonly { readonly id: string; readonly lastEventId: number; readonly authorization: string }[];
  readonly firstMarker: number;
  readonly pace: Pace;
}

/** Sockets that are all dropped at once and resume while posts continue; see bench/generator/reconnect.ts. */
export interface ReconnectJob extends CommonJob {
  readonly kind: "reconnect";
  readonly receivers: Receivers;
  /** Posts, at the fixed rate of `pace`; the sockets are dropped when the warm-up is over. */
  readonly cycles: readonly Cycle[];
  readonly firstMarker: number;
  readonly pace: Pace & { readonly ratePerSecond: number };
}

/** Sockets that connect, register and then do nothing. */
export interface IdleSocketsJob extends CommonJob {
  readonly kind: "idle-sockets";
  readonly receivers: Receivers;
  /** Numbers of open sockets at which memory is read, increasing. */
  readonly steps: readonly number[];
  /** How long the server may settle before memory is read. */
  readonly settleMs: number;
}

/** Permission checks in memory, without a server; see bench/generator/permissions.ts. */
export interface PermissionsJob {
  readonly kind: "permissions";
  readonly side: "ours" | "baseline";
  readonly people: number;
  readonly groups: number;
  /** Depth of the nested groups. */
  readonly depth: number;
  readonly seed: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

export type Job = HttpLoadJob | DeliveriesJob | MixedJob | ReconnectJob | IdleSocketsJob | PermissionsJob;

export interface HttpLoadResult {
  /** The program that sent the requests, for the report. */
  readonly sender: string;
  /** Responses with status 200 inside the window. */
  readonly completed: number;
  readonly perSecond: number;
  readonly latency: LatencySummary;
  readonly throughput: readonly Point[];
  /** Total bytes of the bodies of completed responses. */
  readonly bodyBytes: number;
  readonly failures: Failures;
  readonly usage: Usage;
}

/** Failures of a run; all zero in a valid run. */
export interface Failures {
  /** Responses by status other than 200, e.g. {"429": 3}. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The start of the first such response. */
  readonly firstBody: string;
  /** Connections that broke with a request in flight, and the first reason. */
  readonly brokenConnections: number;
  readonly firstBreak: string;
  /** Open loop: arrivals without a response when the drain ended. */
  readonly unanswered: number;
}

export interface DeliveriesResult {
  /** The programs that sent the posts and that read the events, for the report. */
  readonly sender: string;
  readonly receiver: string;
  readonly posts: number;
  readonly postsPerSecond: number;
  readonly deliveries: number;
  readonly deliveriesPerSecond: number;
  /** From the due time of the post to each receiver's read. */
  readonly latency: LatencySummary;
  /** From the due time of the post to the last receiver's read. */
  readonly lastReceiver: LatencySummary;
  readonly throughput: readonly Point[];
  /** Posts that a receiver had not seen in time, duplicate events, receivers that lost their socket. */
  readonly incomplete: number;
  readonly duplicates: number;
  readonly closedReceivers: number;
  readonly firstClose: string;
  /**
   * Number of frames read, and the first event frame of each request of a cycle (for a baseline that sends the same
   * bytes; null if the program that reads them keeps none).
   */
  readonly frames: number;
  readonly sampleFrames: readonly (string | null)[];
  readonly failures: Failures;
  readonly usage: Usage;
}

export interface MixedResult {
  readonly sender: string;
  /** Rate of responses with 200, including polls; and of polls alone. */
  readonly perSecond: number;
  readonly pollsPerSecond: number;
  readonly throughput: readonly Point[];
  /** From the due time of a request to its response; for events, to the poll that returned the post. */
  readonly latency: Readonly<Record<MixedKind | "events", LatencySummary>>;
  /** Posts that a queue did not deliver in time, duplicate events, event ids that did not increase. */
  readonly incomplete: number;
  readonly duplicates: number;
  readonly disordered: number;
  readonly failures: Failures;
  readonly usage: Usage;
}

export interface ReconnectResult {
  readonly posts: number;
  /** From the drop until the last socket had its reply. */
  readonly allLiveMs: number;
  /** From the start of a socket's connection to the reply to its resume. */
  readonly resume: LatencySummary;
  /** Posts that a receiver had not seen in time, duplicate events, sockets lost for other reasons than the drop. */
  readonly incomplete: number;
  readonly duplicates: number;
  readonly closedReceivers: number;
  readonly firstClose: string;
  readonly failures: Failures;
  /** From the drop until all sockets were live. */
  readonly usage: Usage;
}

export interface IdleSocketsResult {
  /** Memory at each step: open sockets and the server's memory in bytes (null if it cannot be read). */
  readonly steps: readonly {
    readonly sockets: number;
    readonly pssBytes: number | null;
    readonly anonBytes: number | null;
    readonly kernelBytes: number | null;
  }[];
  readonly opened: number;
  readonly openSeconds: number;
  /** Sockets that the server closed while they were idle. */
  readonly lost: number;
  readonly firstClose: string;
  readonly usage: Usage;
}

export interface PermissionsResult {
  /** Checks per second, over the window. */
  readonly perSecond: number;
  readonly throughput: readonly Point[];
  /** Number of yes answers in the fixed round of questions. */
  readonly allowedOfRound: number;
  /** Heap bytes per user, and per user's memberships. */
  readonly usersBytes: number;
  readonly membersBytes: number;
  /** Microseconds; null: the baseline does not support changes. */
  readonly changeMicroseconds: number | null;
}

/** Result type of each kind of job. */
export interface ResultOf {
  readonly "http-load": HttpLoadResult;
  readonly deliveries: DeliveriesResult;
  readonly mixed: MixedResult;
  readonly reconnect: ReconnectResult;
  readonly "idle-sockets": IdleSocketsResult;
  readonly permissions: PermissionsResult;
}

/** The reply of a generator process, sent exactly once. */
export type Reply =
  | { readonly kind: "done"; readonly result: ResultOf[keyof ResultOf] }
  | { readonly kind: "failed"; readonly message: string };
