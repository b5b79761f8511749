/**
 * Sizes of tests that play random rounds: `npm test` plays few, from fixed seeds (test/support/seed.ts), and `npm run
 * test:deep` many, from new seeds. A file that is run by itself uses its own default. docs/testing-tiers.md is the same table for readers.
 */

/** If `quick` is null, only the deep tier runs the file. Variables of the caller's environment take precedence. */
export const tiers = [
  { file: "test/crash/power.test.ts", quick: { CUTS: 3 }, deep: { CUTS: 100 } },
  { file: "test/crash/kill.test.ts", quick: { KILLS: 3 }, deep: { KILLS: 30 } },
  { file: "test/crash/client.test.ts", quick: null, deep: { KILLS: 30 } },
  // After a kill, clients wait longer each time until the server is back.
  { file: "test/clients/example-bots.test.ts", quick: { KILLS: 0 }, deep: { KILLS: 1 } },
  // Waits for clients to come back after a restart, in a browser.
  { file: "test/web/client-bundle.test.ts", quick: null, deep: {} },
  // Two servers, under load.
  { file: "test/startup/upgrade.test.ts", quick: {}, deep: {} },
  { file: "test/journal/power.test.ts", quick: null, deep: { CUTS: 400 } },
  { file: "test/archive/kills.test.ts", quick: { KILLS: 1 }, deep: { KILLS: 10 } },
  // Each starts the program and kills it again and again: `kill`, `power` and `flush-order` stand for them in `npm test`.
  ...[
    "archive/bases",
    "archive/faults",
    "archive/restore",
    "crash/copies",
    "crash/full-disk-backlog",
    "crash/full-disk-race",
    "crash/mail",
    "crash/realm-creation",
    "crash/realm-erasure",
    "crash/replaced-folder",
    "crash/restore",
    "crash/scheduled",
    "crash/slow-stop",
    "crash/two-owners",
    "startup/lost-root",
  ].map((name) => ({ file: `test/${name}.test.ts`, quick: null, deep: {} })),
  // Copies the program, compiles it, and runs tests in the copy.
  { file: "test/tidy/worked-example.test.ts", quick: null, deep: {} },
  // Runs the server from its sources, and counts the files that a message passes.
  { file: "test/tidy/message-path.test.ts", quick: null, deep: {} },
  // Twenty broken programs, each in simulated days.
  { file: "test/sim/positive-control.test.ts", quick: null, deep: {} },
  // Thousands of requests by a program in Python.
  { file: "test/clients/schemathesis.test.ts", quick: null, deep: {} },
  // Other servers, and worktrees of other revisions.
  { file: "test/bench/peers.test.ts", quick: null, deep: {} },
  { file: "test/bench/compare.test.ts", quick: null, deep: {} },
  // Judges processor time.
  { file: "test/domain/cost.test.ts", quick: null, deep: {} },
  { file: "test/crash/damage.test.ts", quick: null, deep: { COPIES: 18 } },
  { file: "test/store/backup-running-server.test.ts", quick: { BACKUPS: 1 }, deep: { BACKUPS: 6 } },
  { file: "test/store/lmdb-check.test.ts", quick: { ROUNDS: 40 }, deep: { ROUNDS: 600 } },
  { file: "test/schemas/differential.test.ts", quick: { RUNS: 100 }, deep: { RUNS: 300 } },
  { file: "test/journal/recovery.test.ts", quick: { RUNS: 100 }, deep: { RUNS: 400 } },
  { file: "test/realtime/many-sockets.test.ts", quick: { SOCKETS: 400 }, deep: { SOCKETS: 2000 } },
  { file: "test/model/conversations.test.ts", quick: { RUNS: 5 }, deep: { RUNS: 25 } },
  { file: "test/fuzz/http.test.ts", quick: { INPUTS: 1000 }, deep: { INPUTS: 20_000 } },
  { file: "test/fuzz/bytes.test.ts", quick: { INPUTS: 1000 }, deep: { INPUTS: 20_000 } },
  { file: "test/web/talk.test.ts", quick: { KILLS: 1 }, deep: { KILLS: 5 } },
  { file: "test/web/budgets.test.ts", quick: null, deep: { TOPICS: 10_000 } },
  { file: "test/web/scrolling.test.ts", quick: null, deep: { MESSAGES: 10_000 } },
  // In a browser each action takes a tenth of a second or more. docs/testing-tiers.md names what covers their subjects.
  ...[
    "accessibility",
    "administration",
    "back",
    "calls",
    "double-clicks",
    "input-methods",
    "keyboard",
    "late-answers",
    "live",
    "lost-network",
    "many-people",
    "problems",
    "screens",
    "text",
    "typed-words",
    "wrong-clock",
  ].map((name) => ({ file: `test/web/${name}.test.ts`, quick: null, deep: {} })),
  { file: "test/sim/known-events.test.ts", quick: null, deep: { EVENTS: 100_000 } },
  { file: "test/sim/simulation.test.ts", quick: { RUNS: 2 }, deep: { RUNS: 24 } },
  // Waits for NATS to elect leaders, up to 9 seconds each time.
  { file: "test/cluster/stream-faults.test.ts", quick: null, deep: {} },
  // Starts a dozen servers and three NATS clusters.
  { file: "test/cluster/membership.test.ts", quick: null, deep: {} },
  // Start two servers or more, and NATS.
  { file: "test/cluster/failover.test.ts", quick: {}, deep: {} },
  { file: "test/cluster/forwarding.test.ts", quick: null, deep: {} },
  // Starts two servers, and the command line a dozen times.
  { file: "test/cluster/placement.test.ts", quick: null, deep: {} },
  // The quick tier plays behind proxies, the deep one in network namespaces where they are allowed.
  { file: "test/cluster/nemesis.test.ts", quick: { ROUNDS: 1, NETWORK: "proxies" }, deep: { ROUNDS: 20 } },
  { file: "test/cluster/namespaces.test.ts", quick: null, deep: {} },
  // A cluster of a broken program.
  { file: "test/cluster/nemesis-controls.test.ts", quick: null, deep: {} },
  // Start several nodes, one after the other.
  { file: "test/cluster/snapshot.test.ts", quick: null, deep: {} },
  { file: "test/cluster/files.test.ts", quick: null, deep: {} },
  { file: "test/cluster/erasure.test.ts", quick: null, deep: {} },
  { file: "test/cluster/moves.test.ts", quick: null, deep: { MOVES: 4 } },
  { file: "test/cluster/security.test.ts", quick: null, deep: {} },
  { file: "test/cluster/many-realms.test.ts", quick: null, deep: { REALMS: 200 } },
  { file: "test/cluster/many-organizations.test.ts", quick: null, deep: {} },
  { file: "test/cluster/example.test.ts", quick: null, deep: {} },
  // Packs and installs.
  { file: "test/deploy/package.test.ts", quick: null, deep: {} },
  // Each starts servers and generators of load, and the scenarios a dozen processes.
  ...["command", "dialects", "load", "native"].map((name) => ({
    file: `test/bench/${name}.test.ts`,
    quick: null,
    deep: {},
  })),
  { file: "test/bench/scenarios-changes.test.ts", quick: null, deep: {} },
  { file: "test/bench/scenarios-clients.test.ts", quick: null, deep: {} },
  { file: "test/bench/scenarios-posts.test.ts", quick: null, deep: {} },
  { file: "test/bench/scenarios-push.test.ts", quick: null, deep: {} },
  { file: "test/bench/scenarios-reads.test.ts", quick: null, deep: {} },
  { file: "test/bench/scenarios-stored.test.ts", quick: null, deep: {} },
  { file: "test/bench/cluster.test.ts", quick: null, deep: {} },
];

/** Tests that depend on the transport: what requests, connections and sockets may do. */
const quickOnNode = [
  "test/api/file-uploads.test.ts",
  "test/api/framing.test.ts",
  "test/api/http-bodies.test.ts",
  "test/api/slow-readers.test.ts",
  "test/realtime/draining.test.ts",
  "test/realtime/protocol.test.ts",
  "test/realtime/slow-reader.test.ts",
  "test/realtime/socket.test.ts",
  "test/startup/request-line.test.ts",
  "test/startup/tls.test.ts",
];

/**
 * @returns whether a tier runs a file once more with TRANSPORT=node, so that both transports are tested where both load
 */
export function runsOnNode(tier, file) {
  return tier === "quick" ? quickOnNode.includes(file) : /^test\/(?:api|realtime|startup)\//.test(file);
}

/**
 * The behaviour of a socket and its events, in few files: a link is between both ends. Handshakes and half-closed
 * connections end at the edge.
 */
const deepThroughEdge = [
  "test/realtime/draining.test.ts",
  "test/realtime/message-changes.test.ts",
  "test/realtime/resume.test.ts",
  "test/realtime/slow-reader.test.ts",
  "test/realtime/socket.test.ts",
  "test/realtime/socket-calls.test.ts",
  "test/realtime/socket-packed.test.ts",
];

/** @returns whether a tier runs a file once more with its clients at an edge of a cluster */
export function runsThroughEdge(tier, file) {
  return tier === "deep" && deepThroughEdge.includes(file);
}

/** @returns the environment of a file in a tier; null if the tier does not run it */
export function environmentIn(tier, file) {
  const tiered = tiers.find((entry) => entry.file === file);
  if (tiered === undefined) return tier === "quick" ? {} : null;
  return tiered[tier];
}
