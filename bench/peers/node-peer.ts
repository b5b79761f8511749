// Peers that are a Node program with PostgreSQL: `server.mjs` in the peer's own folder, with its own packages. The kit
// starts the database, then the program, which creates its tables, the accounts and the channel, and reports its port
// over IPC.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../lib/child.ts";
import { socketIoPost } from "../lib/dialects.ts";
import { buildRequest } from "../lib/http-request.ts";
import { REGISTER_REF } from "../lib/job.ts";
import type { PeerName } from "../lib/target.ts";
import { texts } from "../lib/texts.ts";
import { PROJECT_ROOT } from "../lib/workspace.ts";
import type { Peer, PeerKind, PeerOptions } from "./peer.ts";
import { type Database, postgresPrograms, startDatabase } from "./postgres.ts";

const HOST = "127.0.0.1";

/** The program's message when it listens; bench/peers/shared/program.mjs sends it. */
interface Ready {
  readonly port: number;
  readonly channelId: number;
  /** API keys of the accounts, in order. */
  readonly keys: readonly string[];
}

/** Builds the requests of one peer. */
type PeerRequests = (ready: Ready, seed: number) => Pick<Peer, "posts" | "receivers">;

const requests = { fastify: fastifyRequests, socketio: socketIoRequests } as const satisfies Record<
  string,
  PeerRequests
>;

/** The entry of the table for the program in `bench/peers/<name>/` of the checkout at `root`. */
export function nodePeer(name: PeerName & keyof typeof requests, root: string = PROJECT_ROOT): PeerKind {
  const folder = join("bench", "peers", name);
  return {
    name,
    missing: () => {
      const steps = [
        existsSync(join(root, folder, "node_modules")) ? [] : [`npm ci --prefix ${folder}`],
        postgresPrograms() === null ? ["apt-get install postgresql"] : [],
      ].flat();
      return steps.length === 0 ? null : steps.join("; ");
    },
    start: (options) => start(name, join(root, folder), options),
  };
}

async function start(name: PeerName & keyof typeof requests, folder: string, options: PeerOptions): Promise<Peer> {
  const { workspace, accounts, seed } = options;
  const startedAt = performance.now();
  const database = await startDatabase(workspace);
  const files = workspace.makeFolder("peer");
  const metricsFile = join(files, "metrics.json");
  const child = new Child({
    arguments: [join(folder, "server.mjs")],
    folder: files,
    channel: true,
    environment: {
      ...database.environment,
      NODE_ENV: "production",
      PEER_ACCOUNTS: String(accounts),
      METRICS_FILE: metricsFile,
    },
  });
  const ready = await readReady(name, child).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return {
    label: name,
    about: aboutOf(folder, database),
    address: { host: HOST, port: ready.port },
    watch: { pid: child.pid, metricsFile, trees: [database.pid] },
    startMs: performance.now() - startedAt,
    death: () => child.death ?? database.death(),
    stop: async () => {
      const exit = await child.stop();
      const databaseExit = await database.stop();
      rmSync(files, { recursive: true, force: true, maxRetries: 3 });
      return exit.code === 0 ? databaseExit : exit;
    },
    newestContent: () => newestContent(ready),
    ...requests[name](ready, seed),
  };
}

function readReady(name: string, child: Child): Promise<Ready> {
  return new Promise((resolve, reject) => {
    child.process.once("message", (ready: Ready) => resolve(ready));
    child.exited.then(() => reject(new Error(`the peer ${name} exited while it started: ${child.output}`)), reject);
  });
}

/** The folder's packages with their versions, and the database. */
function aboutOf(folder: string, database: Database): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const packages = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  return [...packages, `PostgreSQL ${database.version} (fsync and synchronous_commit on)`].join(", ");
}

/** Posts over HTTP, events over `ws`. */
function fastifyRequests(ready: Ready, seed: number): Pick<Peer, "posts" | "receivers"> {
  const bearers = ready.keys.map((key) => `Bearer ${key}`);
  return {
    posts: () => ({
      cycles: texts(seed).map((message) => [
        buildRequest({
          method: "POST",
          path: `/channels/${ready.channelId}/messages`,
          authorization: bearers[0] ?? null,
          json: message,
          host: `${HOST}:${ready.port}`,
        }),
      ]),
    }),
    receivers: (count) => ({
      path: "/events",
      authorizations: bearers,
      count,
      register: JSON.stringify({ type: "subscribe", ref: REGISTER_REF, channelId: ready.channelId }),
      localAddresses: [],
    }),
  };
}

/** Posts are events with an acknowledgement, as usual with Socket.IO. */
function socketIoRequests(ready: Ready, seed: number): Pick<Peer, "posts" | "receivers"> {
  const path = "/socket.io/?EIO=4&transport=websocket";
  const dialect = "socket.io";
  return {
    posts: () => ({
      cycles: texts(seed).map((message) => [socketIoPost("post", { channelId: ready.channelId, ...message })]),
      // Senders must not receive events, because each post would then cost one more per sender. They use an account in
      // no room.
      postSockets: { dialect, path: `${path}&listen=false`, authorizations: ready.keys.slice(0, 1) },
    }),
    receivers: (count) => ({ dialect, path, authorizations: ready.keys, count, register: "", localAddresses: [] }),
  };
}

async function newestContent({ port, channelId, keys }: Ready): Promise<string> {
  const response = await fetch(`http://${HOST}:${port}/channels/${channelId}/messages?limit=1`, {
    headers: { authorization: `Bearer ${keys[0] ?? ""}` },
  });
  const { messages = [] } = (await response.json()) as { readonly messages?: readonly { readonly content: string }[] };
  return messages[0]?.content ?? `${response.status}`;
}
