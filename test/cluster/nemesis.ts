/**
 * Rounds of faults at random from a seed, under load with real clients. After each round every part is well again, and
 * what was acknowledged is compared with every node.
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { headOf } from "../../src/durability/cluster/claim.ts";
import type { Nats } from "../../src/durability/cluster/connection.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { findStreams } from "../../src/durability/cluster/streams.ts";
import { ownerKey } from "../../src/store/fence.ts";
import { lmdbOf } from "../../src/store/lmdb.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { realmFolder } from "../../src/store/realm-folders.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import type { Client } from "../support/client.ts";
import { ClusterUnderTest, type NetworkKind, type NodeUnderTest } from "./cluster-under-test.ts";
import { namespacesObstacle } from "./namespaces.ts";
import { type NatsNode, untilHealthy } from "./nats.ts";
import { bounded, NemesisLoad, NemesisReader, settleMsMax } from "./nemesis-load.ts";
import { clientAt } from "./nodes.ts";
import { readAll } from "./read-all.ts";
import type { Weather } from "./tcp-proxy.ts";

const pauseMs = 100;
const longMs = 12_000;

/** In network namespaces where they are allowed, else behind TCP proxies; NETWORK chooses. */
function networkOf(t: Test, wanted: NetworkKind | undefined): NetworkKind {
  const kind = wanted ?? process.env["NETWORK"];
  const obstacle = kind === "proxies" ? "it was chosen" : namespacesObstacle();
  if (kind === "namespaces" && obstacle !== null) throw new Error(obstacle);
  t.comment(obstacle === null ? "in network namespaces" : `on loopback behind TCP proxies: ${obstacle}`);
  return obstacle === null ? "namespaces" : "proxies";
}

interface Scene {
  readonly cluster: ClusterUnderTest;
  readonly node: NodeUnderTest;
  readonly server: NatsNode;
  /** Between half a second and three. */
  readonly ms: number;
}

function weather(kind: Weather) {
  return async ({ node, ms }: Scene) => {
    node.weather = kind;
    await wait(ms);
    node.weather = "good";
  };
}

/** What can happen to a node, which is the owner half of the time, or to a NATS server. */
const faults: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "kills a node": ({ node, ms }) => node.restart("SIGKILL", ms),
  "restarts a node": ({ node }) => node.restart("SIGTERM", 0),
  async "stops a node for a while"({ node, ms }) {
    node.signal("SIGSTOP");
    await wait(ms + 1000);
    node.signal("SIGCONT");
  },
  "cuts a node off": weather("cut"),
  "cuts what a node sends": weather("cut outward"),
  "cuts what a node receives": weather("cut inward"),
  "slows a node down": weather("slow"),
  async "cuts a node off and kills it"({ node, ms }) {
    node.weather = "cut";
    await wait(ms);
    await node.restart("SIGKILL", 0);
    node.weather = "good";
  },
  async "kills a NATS server"({ server, ms }) {
    await server.program.end("SIGKILL");
    await wait(ms);
    server.start();
  },
  async "stops a NATS server for a while"({ server, ms }) {
    server.program.signal("SIGSTOP");
    await wait(ms);
    server.program.signal("SIGCONT");
  },
};

function serverWeather(kind: Weather) {
  return async ({ cluster, server, ms }: Scene) => {
    cluster.setWeather(server, kind);
    await wait(ms);
    cluster.setWeather(server, "good");
  };
}

/** What a network of namespaces can do besides. */
const networkFaults: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "cuts a NATS server off": serverWeather("cut"),
  "cuts what a NATS server sends": serverWeather("cut outward"),
  "cuts what a NATS server receives": serverWeather("cut inward"),
  async "cuts a node and a NATS server off"({ cluster, node, server, ms }) {
    node.weather = "cut";
    cluster.setWeather(server, "cut");
    await wait(ms);
    node.weather = "good";
    cluster.setWeather(server, "good");
  },
  // A node that ends over it is started again while it lasts.
  async "cuts a node off for long"({ node, ms }) {
    node.weather = "cut";
    await wait(ms + longMs);
    node.weather = "good";
  },
  async "cuts a node off, again and again"({ node, ms }) {
    for (let count = 0; count < 4; count++) {
      node.weather = count % 2 === 0 ? "cut" : "cut inward";
      await wait(ms / 4);
      node.weather = "good";
      await wait(ms / 4);
    }
  },
};

export interface NemesisOptions {
  readonly rounds: number;
  readonly seed: number;
  /** By default all. */
  readonly faults?: readonly string[];
  /** Only the owner is hit. */
  readonly hitsOwner?: boolean;
  /** The folder of another program. */
  readonly program?: string;
  readonly network?: NetworkKind;
}

/** @returns what broke a promise; it ends with the first round that did */
export async function playNemesis(t: Test, options: NemesisOptions): Promise<string[]> {
  const random = randomOf(options.seed);
  const violations: string[] = [];
  const network = networkOf(t, options.network);
  const { program } = options;
  const cluster = await ClusterUnderTest.start(t, (what) => violations.push(what), { network, program });
  const played = cluster.cutsServers ? { ...faults, ...networkFaults } : faults;
  const { nodes } = cluster;
  const clients = await Promise.all(nodes.map(({ url }) => clientAt(url, (nodes[0] as NodeUnderTest).dataDir)));
  const params = { subscriptions: [{ name: "kitchen" }] };
  await inTime(async () => {
    const answer = await bounded((clients[0] as Client).post("/users/me/subscriptions", params));
    return answer?.status === 200 ? answer : null;
  });
  const queueOf = (client: Client) =>
    inTime(() => bounded(client.register({ event_types: ["message"], apply_markdown: false })));
  const readers = await Promise.all(
    clients.map(async (client, index) => NemesisReader.start(rotated(clients, index), await queueOf(client))),
  );
  t.teardown(() => {
    for (const reader of readers) reader.stop();
  });
  const load = new NemesisLoad(clients, random);
  const nats = await cluster.nats.connect(t, "nemesis");
  const among = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  for (let round = 1; round <= options.rounds; round++) {
    const name = among(options.faults ?? Object.keys(played));
    const owner = await cluster.owner();
    const isOwner = options.hitsOwner === true || random() < 0.5;
    const node = isOwner ? owner : among(nodes.filter((one) => one !== owner));
    const ms = 500 + Math.floor(random() * 2500);
    const server = among(cluster.nats.nodes);
    const before = load.acknowledged.size;
    load.start();
    await wait(500);
    await played[name]?.({ cluster, node, server, ms });
    await wait(1500);
    await load.stop();
    const target = name.includes("NATS") ? server.name : `${node.name}${isOwner ? ", the owner" : ""}`;
    const posts = load.acknowledged.size - before;
    await Promise.all(cluster.nats.nodes.map((node) => untilHealthy(node)));
    violations.push(...load.violations, ...readers.flatMap((reader) => reader.violations));
    // Otherwise nothing is compared: what is broken already does not get well.
    if (violations.length === 0) violations.push(...(await differences({ cluster, clients, load, readers, nats })));
    t.comment(`round ${round}: ${name} (${target}, ${ms} ms), ${posts} posts, ${violations.length} violations`);
    if (violations.length > 0) return violations;
  }
  return violations;
}

interface Played {
  readonly cluster: ClusterUnderTest;
  readonly clients: readonly Client[];
  readonly load: NemesisLoad;
  readonly readers: readonly NemesisReader[];
  readonly nats: Nats;
}

async function differences({ cluster, clients, load, readers, nats }: Played): Promise<string[]> {
  const found: string[] = [];
  for (const client of clients) {
    const messages = await eventually(() => messagesAt(client));
    if (messages === null) {
      found.push(`${client.url} does not answer`);
      continue;
    }
    const byId = new Map(messages.map(({ id, content }) => [id, content]));
    const contents = messages.map(({ content }) => content);
    if (new Set(contents).size !== contents.length) found.push(`${client.url} has a post twice`);
    for (const [id, content] of load.acknowledged) {
      if (byId.get(id) !== content) found.push(`${client.url} has ${byId.get(id)} as message ${id}, not ${content}`);
    }
    for (const reader of readers) {
      const same = await eventually(async () => isSame(reader.received, messages) || null);
      if (same === null)
        found.push(`a reader has ${reader.received.length} messages, ${client.url} ${messages.length}`);
    }
    const fresh = await eventually(() => bounded(client.register({ event_types: ["message"] })));
    if (fresh?.["max_message_id"] !== undefined && fresh["max_message_id"] !== messages.at(-1)?.id) {
      found.push(`a fresh /register at ${client.url} has another last message`);
    }
  }
  const streams = await findStreams(nats);
  if (streams === null) return [...found, "the streams are gone"];
  const log = new RealmLog(nats, streams, 1);
  // Claims ascend, and no message of an earlier owner follows a claim: the chain checks it.
  await readAll(log).catch((error: Error) => found.push(error.message));
  const equal = await eventually(async () => (await areEqual(cluster, log)) || null);
  if (equal === null) found.push("the stores of the nodes differ");
  return found;
}

async function messagesAt(client: Client): Promise<{ id: number; content: string }[] | null> {
  const all: { id: number; content: string }[] = [];
  for (let anchor = 0, isOver = false; !isOver; ) {
    const params = { anchor, num_before: 0, num_after: 1000, narrow: [["channel", "kitchen"]], apply_markdown: false };
    const answer = await bounded(client.get("/messages", params));
    if (answer?.status !== 200) return null;
    const page = answer.body.messages as { id: number; content: string }[];
    all.push(...page.filter(({ content }) => content.startsWith("post ")));
    isOver = answer.body.found_newest === true || page.length === 0;
    anchor = (page.at(-1)?.id ?? 0) + 1;
  }
  return all;
}

function isSame(received: NemesisReader["received"], messages: NemesisReader["received"]): boolean {
  const posts = received.filter(({ content }) => content.startsWith("post "));
  return (
    posts.length === messages.length &&
    posts.every(({ id, content }, index) => messages[index]?.id === id && messages[index]?.content === content)
  );
}

/** Whether each store has everything that the stream has, and the same rows as the others. */
async function areEqual({ nodes }: ClusterUnderTest, log: RealmLog): Promise<boolean> {
  const { position } = await headOf(log);
  const dumps: string[] = [];
  for (const { dataDir } of nodes) {
    const tables = new LmdbTables(realmFolder(dataDir, log.realmId));
    try {
      if (turnNumberIn(lmdbOf(tables)) !== position) return false;
      dumps.push(dumpOf(tables));
    } finally {
      await tables.close();
    }
  }
  return new Set(dumps).size === 1;
}

function dumpOf(tables: LmdbTables): string {
  const hash = createHash("sha256");
  for (const table of Object.keys(rowFields) as TableName[]) {
    hash.update(table);
    for (const { key, value } of tables.range(table, {})) {
      // Each process writes its own.
      if (table === "meta" && key === ownerKey) continue;
      hash.update(JSON.stringify(key)).update(value);
    }
  }
  return hash.digest("hex");
}

async function eventually<T>(look: () => Promise<T | null>): Promise<T | null> {
  const until = performance.now() + settleMsMax;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() > until) return found;
    await wait(pauseMs);
  }
}

/** While all is well; a node that ended is started again. */
async function inTime<T>(look: () => Promise<T | null>): Promise<T> {
  const found = await eventually(look);
  if (found === null) throw new Error("the cluster does not serve");
  return found;
}

function rotated<T>(list: readonly T[], by: number): T[] {
  return [...list.slice(by), ...list.slice(0, by)];
}

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
