/**
 * Three NATS servers and three nodes whose connections go through proxies, so that each can be cut, slowed, stopped and
 * killed. A node that ends because it was replaced is started again, as a supervisor would.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import { clusterStatus } from "../../src/cluster/status.ts";
import { freePort } from "../support/ports.ts";
import type { Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster } from "./nats.ts";
import { startNode, urlOf } from "./nodes.ts";
import { TcpProxy, type Weather } from "./tcp-proxy.ts";

/** A later start may succeed. */
const unavailable = 75;

export class NodeUnderTest {
  readonly name: string;
  readonly port: number;
  readonly dataDir: string;
  readonly #start: () => Program;
  /** To the NATS servers, and from the other nodes. */
  readonly #proxies: readonly TcpProxy[];
  readonly #ended: (what: string) => void;
  program: Program;
  #isStopping = false;

  constructor(options: {
    readonly name: string;
    readonly port: number;
    readonly dataDir: string;
    readonly start: () => Program;
    readonly proxies: readonly TcpProxy[];
    /** Told of an end that should not be. */
    readonly ended: (what: string) => void;
  }) {
    this.name = options.name;
    this.port = options.port;
    this.dataDir = options.dataDir;
    this.#start = options.start;
    this.#proxies = options.proxies;
    this.#ended = options.ended;
    this.program = this.#run();
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  set weather(weather: Weather) {
    for (const proxy of this.#proxies) proxy.weather = weather;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.program.signal(signal);
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

  private constructor(nats: NatsCluster, nodes: readonly NodeUnderTest[]) {
    this.nats = nats;
    this.nodes = nodes;
  }

  /** @param program the folder of another program than that of this checkout */
  static async start(t: Test, ended: (what: string) => void, program?: string): Promise<ClusterUnderTest> {
    const nats = await NatsCluster.start(t, { advertise: false });
    const nodes: NodeUnderTest[] = [];
    for (const name of ["a", "b", "c"]) {
      const port = await freePort();
      const dataDir = temporaryFolder(t);
      const servers = await Promise.all(nats.nodes.map((server) => TcpProxy.start(t, server.port)));
      const forwards = await TcpProxy.start(t, port);
      const environment = {
        PORT: String(port),
        CLUSTER_NATS: `nats://${servers.map((proxy) => `127.0.0.1:${proxy.port}`).join(",")}`,
        CLUSTER_ADVERTISE: `http://127.0.0.1:${forwards.port}`,
      };
      const start = () =>
        startNode(t, nats, { name, dataDir, environment, ...(program === undefined ? {} : { program }) });
      const node = new NodeUnderTest({ name, port, dataDir, start, proxies: [...servers, forwards], ended });
      nodes.push(node);
      // The first one creates the organization.
      await urlOf(node.program);
    }
    t.teardown(() => Promise.all(nodes.map((node) => node.end())));
    return new ClusterUnderTest(nats, nodes);
  }

  /** The node that serves the organization, as the directory says. */
  async owner(): Promise<NodeUnderTest> {
    const nats = { servers: this.nats.servers, name: "nemesis" };
    const { organizations } = await clusterStatus(nats, this.nats.monitor.split(","));
    const owner = organizations.find(({ id }) => id === 1)?.owner?.node;
    return this.nodes.find(({ name }) => name === owner) ?? (this.nodes[0] as NodeUnderTest);
  }
}
