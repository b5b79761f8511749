/**
 * Three NATS servers and three nodes that can be cut off, slowed, stopped and killed: each in a network namespace of its
 * own, or on loopback behind TCP proxies. A node that ends because it was replaced is started again, as a supervisor
 * would.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { clusterStatus } from "../../src/durability/cluster/status.ts";
import { freePort } from "../support/ports.ts";
import { checkout, type Environment, type Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { Namespaces, type Place } from "./namespaces.ts";
import { NatsCluster, type NatsNode } from "./nats.ts";
import { startNode, urlOf } from "./nodes.ts";
import { TcpProxy, type Weather } from "./tcp-proxy.ts";

/** A later start may succeed. */
const unavailable = 75;

export type NetworkKind = "namespaces" | "proxies";

/** Where a node runs. */
interface NodePlace {
  /** For clients. */
  readonly url: string;
  readonly environment: Environment;
  readonly within: readonly string[];
  /** Of its connections to the NATS servers and the other nodes. */
  weather: Weather;
}

export class NodeUnderTest {
  readonly name: string;
  readonly dataDir: string;
  readonly #start: () => Program;
  readonly #place: NodePlace;
  readonly #ended: (what: string) => void;
  program: Program;
  #isStopping = false;

  constructor(options: {
    readonly name: string;
    readonly dataDir: string;
    readonly start: () => Program;
    readonly place: NodePlace;
    /** Told of an end that should not be. */
    readonly ended: (what: string) => void;
  }) {
    this.name = options.name;
    this.dataDir = options.dataDir;
    this.#start = options.start;
    this.#place = options.place;
    this.#ended = options.ended;
    this.program = this.#run();
  }

  get url(): string {
    return this.#place.url;
  }

  set weather(weather: Weather) {
    this.#place.weather = weather;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.program.signal(signal);
  }

  /** Resolves when it serves, also if it had to be started again meanwhile. */
  async serves(): Promise<void> {
    for (;;) {
      const { program } = this;
      const error = await urlOf(program).then(
        () => null,
        (problem: Error) => problem,
      );
      if (error === null) return;
      if ((await program.exited).code !== unavailable) throw error;
    }
  }

  async restart(signal: "SIGKILL" | "SIGTERM", pauseMs: number): Promise<void> {
    this.#isStopping = true;
    await this.program.end(signal);
    await wait(pauseMs);
    this.#isStopping = false;
    this.program = this.#run();
  }

  end(): Promise<unknown> {
    this.#isStopping = true;
    return this.program.end("SIGKILL");
  }

  #run(): Program {
    const program = this.#start();
    void program.exited.then(({ code, signal, stderr }) => {
      if (this.#isStopping) return;
      if (code === unavailable) this.program = this.#run();
      else this.#ended(`node ${this.name} ended with ${signal ?? `code ${code}`}: ${stderr.slice(-2000)}`);
    });
    return program;
  }
}

export class ClusterUnderTest {
  readonly nats: NatsCluster;
  readonly nodes: readonly NodeUnderTest[];
  /** Of the NATS servers, in the order of their numbers; none if they cannot be cut off. */
  readonly #serverPlaces: readonly Place[];

  private constructor(nats: NatsCluster, nodes: readonly NodeUnderTest[], serverPlaces: readonly Place[]) {
    this.nats = nats;
    this.nodes = nodes;
    this.#serverPlaces = serverPlaces;
  }

  /** @param program the folder of another program than that of this checkout */
  static async start(
    t: Test,
    ended: (what: string) => void,
    { network, program = checkout }: { readonly network: NetworkKind; readonly program?: string | undefined },
  ): Promise<ClusterUnderTest> {
    const namespaces = network === "namespaces" ? await Namespaces.open(t) : null;
    const places: Place[] = [];
    const nats = await NatsCluster.start(t, { advertise: false, ...placesIn(namespaces, places) });
    const nodes: NodeUnderTest[] = [];
    for (const name of ["a", "b", "c"]) {
      const dataDir = temporaryFolder(t);
      const place = namespaces === null ? await proxied(t, nats) : placed(namespaces.add(name), nats, places);
      const { within } = place;
      const environment = { ...place.environment, CLUSTER_LEASE_MS: String(limits.cluster_lease_ms) };
      const start = () => startNode(t, nats, { name, dataDir, environment, within, program });
      const node = new NodeUnderTest({ name, dataDir, start, place, ended });
      nodes.push(node);
      // The first one creates the organization.
      await node.serves();
    }
    t.teardown(() => Promise.all(nodes.map((node) => node.end())));
    return new ClusterUnderTest(nats, nodes, places);
  }

  get cutsServers(): boolean {
    return this.#serverPlaces.length > 0;
  }

  /** Of a NATS server's connections to the others and to the nodes. */
  setWeather(server: NatsNode, weather: Weather): void {
    const place = this.#serverPlaces[this.nats.nodes.indexOf(server)];
    if (place !== undefined) place.weather = weather;
  }

  /** The node that serves the organization, as the directory says. */
  async owner(): Promise<NodeUnderTest> {
    const nats = { servers: this.nats.servers, name: "nemesis" };
    const { organizations } = await clusterStatus(nats, this.nats.monitor.split(","));
    const owner = organizations.find(({ id }) => id === 1)?.owner?.node;
    return this.nodes.find(({ name }) => name === owner) ?? (this.nodes[0] as NodeUnderTest);
  }
}

/** @param places filled with those of the servers */
function placesIn(namespaces: Namespaces | null, places: Place[]) {
  if (namespaces === null) return {};
  return {
    placeOf(name: string) {
      const place = namespaces.add(name);
      places.push(place);
      return { host: place.clientAddress, routeHost: place.address, within: place.within };
    },
  };
}

/** A node on loopback, with proxies to the NATS servers and from the other nodes. */
async function proxied(t: Test, nats: NatsCluster): Promise<NodePlace> {
  const port = await freePort();
  const servers = await Promise.all(nats.nodes.map((server) => TcpProxy.start(t, server.port)));
  const forwards = await TcpProxy.start(t, port);
  return {
    url: `http://127.0.0.1:${port}`,
    environment: {
      PORT: String(port),
      CLUSTER_NATS: `nats://${servers.map((proxy) => `127.0.0.1:${proxy.port}`).join(",")}`,
      CLUSTER_ADVERTISE: `http://127.0.0.1:${forwards.port}`,
    },
    within: [],
    set weather(weather: Weather) {
      for (const proxy of [...servers, forwards]) proxy.weather = weather;
    },
  };
}

const nodePort = 9991;

/** A node in a namespace, which speaks to the servers and the other nodes over the network of the cluster. */
function placed(place: Place, nats: NatsCluster, servers: readonly Place[]): NodePlace {
  const at = (pick: "port" | "monitorPort") =>
    nats.nodes.map((node, index) => `${servers[index]?.address}:${node[pick]}`);
  return {
    url: `http://${place.clientAddress}:${nodePort}`,
    environment: {
      HOST: "0.0.0.0",
      PORT: String(nodePort),
      CLUSTER_NATS: `nats://${at("port").join(",")}`,
      CLUSTER_NATS_MONITOR: at("monitorPort")
        .map((address) => `http://${address}`)
        .join(","),
      CLUSTER_ADVERTISE: `http://${place.address}:${nodePort}`,
    },
    within: place.within,
    set weather(weather: Weather) {
      place.weather = weather;
    },
  };
}
