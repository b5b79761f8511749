// What the parent asks of a generator process and what it gets back: plain data, because it travels as JSON over IPC.

import type { DialectName } from "./dialect.ts";
import type { Address } from "./http-connection.ts";
import type { Usage, Watch } from "./probe.ts";
import type { LatencySummary, Point } from "./recorder.ts";

/** Time and pace of one run. */
export interface Pace {
  readonly warmupMs: number;
  readonly durationMs: number;
  /** Arrivals per second (open loop), or null: everybody sends again as soon as the last answer is there (closed loop). */
  readonly ratePerSecond: number | null;
}

/**
 * The requests that one connection sends in turn, as text. A marker in them gets a fresh number each time the cycle begins,
 * so that all requests of one turn (typing start, typing stop) share it.
 */
export type Cycle = readonly string[];

interface CommonJob {
  readonly address: Address;
  readonly watch: Watch | null;
}

/** HTTP requests over keep-alive connections; connection i sends `cycles[i % cycles.length]`. */
export interface HttpLoadJob extends CommonJob {
  readonly kind: "http-load";
  readonly connections: number;
  readonly cycles: readonly Cycle[];
  readonly pace: Pace;
  /** Where the posts go over sockets, not over HTTP. */
  readonly postSockets?: PostSockets;
}

/** Sockets that post; socket i logs in with `authorizations[i % length]`. */
export interface PostSockets {
  readonly dialect: DialectName;
  readonly path: string;
  readonly authorizations: readonly string[];
}

/** Sockets that connect, authenticate and register. */
export interface Receivers {
  /** `json` when left out. */
  readonly dialect?: DialectName;
  readonly path: string;
  /** Socket i authenticates with `authorizations[i % length]`. */
  readonly authorizations: readonly string[];
  readonly count: number;
  /** The register frame (JSON text), with the `ref` REGISTER_REF. */
  readonly register: string;
  /** Socket i leaves from address i % length; empty: the kernel chooses. */
  readonly localAddresses: readonly string[];
}

export const REGISTER_REF = "register";

/** Posts over HTTP whose events every receiver must see; see bench/generator/deliveries.ts. */
export interface DeliveriesJob extends CommonJob {
  readonly kind: "deliveries";
  readonly receivers: Receivers;
  /** Where the posts go over sockets, not over HTTP. */
  readonly postSockets?: PostSockets;
  readonly cycles: readonly Cycle[];
  /** Posting connections; in closed loop also the number of posts that are under way at once. */
  readonly connections: number;
  readonly pace: Pace;
  /** The first marker of this run: an event that an earlier run left behind must not be taken for one of this run. */
  readonly firstMarker: number;
  /** `scan` finds the marker in the bytes of a frame; `typing` parses the frame and needs its `op`, too. */
  readonly decoder: "scan" | "typing";
}

/** Kinds of requests of the mix, without the polls for events that answer them. */
export const MIXED_KINDS = ["presence", "upload", "page", "flag", "typing", "post"] as const;
export type MixedKind = (typeof MIXED_KINDS)[number];

/** Requests of several kinds in fixed shares, and long polls that wait for what the posts among them cause. */
export interface MixedJob extends CommonJob {
  readonly kind: "mixed";
  readonly connections: number;
  /** Person i sends on connections i, i + length, ...: for each kind what is sent in turn, with a marker in posts. */
  readonly people: readonly Readonly<Record<MixedKind, readonly string[]>>[];
  /** How many of each kind a connection sends in one round, evenly mixed. */
  readonly shares: Readonly<Record<MixedKind, number>>;
  /** Queues whose owners see every post; each is polled by one connection. */
  readonly queues: readonly { readonly id: string; readonly lastEventId: number; readonly authorization: string }[];
  readonly firstMarker: number;
  readonly pace: Pace;
}

/** Sockets that are all dropped at once, come back and resume, while posts go on; see bench/generator/reconnect.ts. */
export interface ReconnectJob extends CommonJob {
  readonly kind: "reconnect";
  readonly receivers: Receivers;
  /** Posts, at the fixed rate of `pace`; they are dropped when the warm-up is over. */
  readonly cycles: readonly Cycle[];
  readonly firstMarker: number;
  readonly pace: Pace & { readonly ratePerSecond: number };
}

/** Sockets that connect, register and then do nothing. */
export interface IdleSocketsJob extends CommonJob {
  readonly kind: "idle-sockets";
  readonly receivers: Receivers;
  /** Numbers of open sockets at which memory is read, rising. */
  readonly steps: readonly number[];
  /** How long to let the server come to rest before memory is read. */
  readonly settleMs: number;
}

/** Permission checks in memory, without a server; see bench/generator/permissions.ts. */
export interface PermissionsJob {
  readonly kind: "permissions";
  readonly side: "ours" | "floor";
  readonly people: number;
  readonly groups: number;
  /** How many groups are within each other. */
  readonly depth: number;
  readonly seed: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

export type Job = HttpLoadJob | DeliveriesJob | MixedJob | ReconnectJob | IdleSocketsJob | PermissionsJob;

export interface HttpLoadResult {
  /** Answers with status 200 inside the window. */
  readonly completed: number;
  readonly perSecond: number;
  readonly latency: LatencySummary;
  readonly throughput: readonly Point[];
  /** Of the bodies of the completed answers. */
  readonly bodyBytes: number;
  readonly failures: Failures;
  readonly usage: Usage;
}

/** What went wrong; all zero in a good run. */
export interface Failures {
  /** Answers by status other than 200, e.g. {"429": 3}. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The beginning of the first such answer. */
  readonly firstBody: string;
  /** Connections that broke with a request in flight, and why the first one did. */
  readonly brokenConnections: number;
  readonly firstBreak: string;
  /** Open loop: arrivals that had no answer when the drain ended. */
  readonly unanswered: number;
}

export interface DeliveriesResult {
  readonly posts: number;
  readonly postsPerSecond: number;
  readonly deliveries: number;
  readonly deliveriesPerSecond: number;
  /** From the moment the post was due to each receiver's read. */
  readonly latency: LatencySummary;
  /** From the moment the post was due to the last receiver's read. */
  readonly lastReceiver: LatencySummary;
  readonly throughput: readonly Point[];
  /** Posts that some receiver had not seen in time, events seen twice, receivers that lost their socket. */
  readonly incomplete: number;
  readonly duplicates: number;
  readonly closedReceivers: number;
  readonly firstClose: string;
  /** Frames that were read, and the first event frame of each request of a cycle (for a floor that sends the same bytes). */
  readonly frames: number;
  readonly sampleFrames: readonly string[];
  readonly failures: Failures;
  readonly usage: Usage;
}

export interface MixedResult {
  /** Everything that was answered with 200, polls included; and the polls alone. */
  readonly perSecond: number;
  readonly pollsPerSecond: number;
  readonly throughput: readonly Point[];
  /** From the time a request was due to its answer; of events, to the poll that brought the post. */
  readonly latency: Readonly<Record<MixedKind | "events", LatencySummary>>;
  /** Posts that some queue had not told of in time, events told twice, event ids that did not rise. */
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
  /** From the beginning of a socket's connection to the reply to its resume. */
  readonly resume: LatencySummary;
  /** Posts that some receiver had not seen in time, events seen twice, sockets lost beside the drop. */
  readonly incomplete: number;
  readonly duplicates: number;
  readonly closedReceivers: number;
  readonly firstClose: string;
  readonly failures: Failures;
  /** From the drop until all were live. */
  readonly usage: Usage;
}

export interface IdleSocketsResult {
  /** Memory at each step: sockets open and server PSS in bytes (null when it cannot be seen). */
  readonly steps: readonly {
    readonly sockets: number;
    readonly pssBytes: number | null;
    readonly kernelBytes: number | null;
  }[];
  readonly opened: number;
  readonly openSeconds: number;
  /** Sockets that the server closed while they stood idle. */
  readonly lost: number;
  readonly firstClose: string;
  readonly usage: Usage;
}

export interface PermissionsResult {
  /** Checks, over the window. */
  readonly perSecond: number;
  readonly throughput: readonly Point[];
  /** Of the fixed round of questions, those that were answered with yes. */
  readonly allowedOfRound: number;
  /** Bytes of heap for each person, and for each person's memberships. */
  readonly usersBytes: number;
  readonly membersBytes: number;
  /** Microseconds; null: the floor knows no changes. */
  readonly changeUs: number | null;
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

/** What a generator process sends back, exactly once. */
export type Reply =
  | { readonly kind: "done"; readonly result: ResultOf[keyof ResultOf] }
  | { readonly kind: "failed"; readonly message: string };
