/**
 * A network of namespaces: each program of a cluster has one of its own, with a link to the network of the cluster and
 * one to that of the clients, which is never cut. What is cut vanishes on its way: nothing is reset, and each side keeps
 * its half of a connection. Needs root, and the programs ip, tc and nsenter.
 */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Teardown } from "../support/server.ts";
import type { Weather } from "./tcp-proxy.ts";

/** Why there can be no namespaces here; null: there can be. */
export function namespacesObstacle(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "network namespaces need root on Linux";
  const name = `cq${process.pid}-try`;
  const steps: readonly (readonly string[])[] = [
    ["ip", "netns", "add", name],
    ["ip", "-n", name, "link", "add", "b0", "type", "bridge"],
    ["ip", "-n", name, "link", "add", "v0", "type", "veth", "peer", "name", "v1"],
    ["tc", "-n", name, "qdisc", "add", "dev", "v0", "root", ...lossy],
    ["ip", "link", "add", `cq${process.pid}p`, "type", "veth", "peer", "name", "v2", "netns", name],
    ["nsenter", `--net=/run/netns/${name}`, "true"],
  ];
  try {
    for (const [program = "", ...args] of steps) {
      const { error, status, stderr } = spawnSync(program, args, { encoding: "utf8" });
      if (error !== undefined) return `${program} is not installed`;
      if (status !== 0) return `${program} ${args.join(" ")}: ${stderr.trim()}`;
    }
    return null;
  } finally {
    spawnSync("ip", ["netns", "del", name]);
  }
}

/** A queue that holds less than a packet: all are dropped. */
const lossy = ["tbf", "rate", "8kbit", "burst", "1", "limit", "1"];
/** Packets wait for up to a second. */
const narrow = ["tbf", "rate", "300kbit", "burst", "2000", "latency", "1s"];

/** Networks: of the cluster, and of the clients. */
const nets = ["cluster", "clients"] as const;
type Net = (typeof nets)[number];

/** A namespace with a program. */
export interface Place {
  /** Its address in the network of the cluster. */
  readonly address: string;
  /** Its address for clients. */
  readonly clientAddress: string;
  /** Starts a program in it. */
  readonly within: readonly string[];
  weather: Weather;
}

export class Namespaces {
  readonly #prefix: string;
  readonly #subnet: number;
  #places = 0;

  private constructor(prefix: string, subnet: number) {
    this.#prefix = prefix;
    this.#subnet = subnet;
  }

  /** Everything in it ends with the test, however that ends. */
  static async open(t: Teardown): Promise<Namespaces> {
    const prefix = `cq${process.pid}`;
    const made = new Namespaces(prefix, freeSubnet());
    const janitor = startJanitor(prefix);
    t.teardown(async () => {
      janitor.ref();
      janitor.stdin.end();
      await once(janitor, "close");
    });
    const center = `${prefix}-net`;
    run("ip", "netns", "add", center);
    for (const net of nets) run("ip", "-n", center, "link", "add", net, "type", "bridge");
    for (const net of nets) run("ip", "-n", center, "link", "set", net, "up");
    // The test is a client.
    run("ip", "link", "add", prefix, "type", "veth", "peer", "name", "test", "netns", center);
    run("ip", "-n", center, "link", "set", "test", "master", "clients", "up");
    run("ip", "address", "add", `${made.#addressOf("clients", 254)}/24`, "dev", prefix);
    run("ip", "link", "set", prefix, "up");
    return made;
  }

  add(name: string): Place {
    const [center, own, host] = [`${this.#prefix}-net`, `${this.#prefix}-${name}`, ++this.#places];
    const addresses = nets.map((net) => this.#addressOf(net, host));
    run("ip", "netns", "add", own);
    run("ip", "-n", own, "link", "set", "lo", "up");
    for (const [index, net] of nets.entries()) {
      const port = `${net}-${name}`;
      run("ip", "-n", center, "link", "add", port, "type", "veth", "peer", "name", net, "netns", own);
      run("ip", "-n", center, "link", "set", port, "master", net, "up");
      run("ip", "-n", own, "address", "add", `${addresses[index]}/24`, "dev", net);
      run("ip", "-n", own, "link", "set", net, "up");
    }
    const [address = "", clientAddress = ""] = addresses;
    /** Both ends of its link to the cluster. */
    const ends = { outward: ["-n", own, "cluster"], inward: ["-n", center, `cluster-${name}`] } as const;
    return {
      address,
      clientAddress,
      within: ["nsenter", `--net=/run/netns/${own}`],
      set weather(weather: Weather) {
        run("ip", "-n", center, "link", "set", `cluster-${name}`, weather === "cut" ? "down" : "up");
        for (const [direction, [flag, namespace, device]] of Object.entries(ends)) {
          const queue = weather === "slow" ? narrow : weather === `cut ${direction}` ? lossy : null;
          spawnSync("tc", [flag, namespace, "qdisc", "del", "dev", device, "root"]);
          if (queue !== null) run("tc", flag, namespace, "qdisc", "add", "dev", device, "root", ...queue);
        }
      },
    };
  }

  #addressOf(net: Net, host: number): string {
    return `10.${this.#subnet}.${nets.indexOf(net)}.${host}`;
  }
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr.trim()}`);
}

/** The second number of addresses that no network of this machine has. */
function freeSubnet(): number {
  const { stdout } = spawnSync("ip", ["-4", "address", "show"], { encoding: "utf8" });
  const routes = spawnSync("ip", ["route", "show"], { encoding: "utf8" }).stdout;
  const used = `${stdout}\n${routes}`;
  const all = Array.from({ length: 150 }, (_, index) => 100 + ((process.pid + index) % 150));
  const free = all.find((subnet) => !new RegExp(`(?:^|\\s)10\\.${subnet}\\.`).test(used));
  if (free === undefined) throw new Error("each network 10.100.0.0/16 to 10.249.0.0/16 is in use here");
  return free;
}

type Janitor = ChildProcessByStdio<Writable, null, Readable>;

/** Ends what is left in the namespaces and removes them when its input ends, so also after the test was killed. */
function startJanitor(prefix: string): Janitor {
  const script = [
    "cat >/dev/null",
    `for name in $(ip netns list | cut -d ' ' -f 1 | grep '^${prefix}-'); do`,
    '  for id in $(ip netns pids "$name"); do kill -9 "$id"; done',
    '  ip netns del "$name"',
    "done",
    `ip link del ${prefix} 2>/dev/null || true`,
  ].join("\n");
  const janitor = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "pipe"] });
  janitor.stderr.resume();
  // It must not keep the test from ending.
  janitor.unref();
  return janitor;
}
