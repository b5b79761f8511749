// Runs scenarios one after the other, and closes everything that they opened, even if one fails or the user interrupts.

import { skipLine } from "../peers/all.ts";
import type { Peer, PeerKind } from "../peers/peer.ts";
import { startCluster } from "./cluster.ts";
import { CLUSTER_LEASE_MS } from "./limits.ts";
import type { Progress } from "./progress.ts";
import type { ScenarioResult, Settings } from "./result.ts";
import type { Context, Scenario, Size } from "./scenario.ts";
import { isLoopback, type Server, startServer, type Target, type Transport, useServer } from "./target.ts";
import type { Workspace } from "./workspace.ts";
import type { Credentials } from "./zuliprc.ts";

/** A server that the kit did not start. */
export interface ForeignServer {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly pid: number | null;
}

export interface RunOptions {
  readonly size: Size;
  /** Settings from the command line that override the size's own. */
  readonly overrides: Partial<Settings>;
  readonly seed: number;
  readonly server: ForeignServer | null;
  readonly workspace: Workspace;
  readonly progress: Progress;
  /** How many nodes the cluster has that takes the place of the server; null: no cluster. */
  readonly cluster?: number | null;
  /** Peers to measure where a scenario supports them; none by default. */
  readonly peers?: readonly PeerKind[];
}

/** Runs one scenario. Rejects when it cannot run; a failed check is part of the result. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const { server, workspace, progress, seed, cluster = null } = options;
  const settings = { ...scenario.sizes[options.size], ...options.overrides };
  const owned: Target[] = [];
  const transports = new Set<Transport>();
  const peerNotes: string[] = [];
  const own = <T extends Target>(target: T): T => {
    owned.push(target);
    return target;
  };
  const context: Context = {
    settings,
    seed,
    workspace,
    progress,
    serverIsHere: server === null || isLoopback(server.url.hostname),
    openServer: async (prepare, environment): Promise<Server> => {
      if (cluster !== null) return context.openCluster();
      const opened =
        server === null ? own(await startServer(workspace, prepare, environment)) : await useServer(server);
      transports.add(opened.transport);
      return opened;
    },
    openAlone: async () => {
      if (cluster === null) return null;
      return own({ ...(await startServer(workspace)), label: "baseline" });
    },
    openCluster: async (leaseMs = CLUSTER_LEASE_MS) => {
      if (cluster === null) throw new Error("it needs --cluster");
      const opened = own(await startCluster(workspace, cluster, leaseMs));
      transports.add(opened.transport);
      return opened;
    },
    openPeers: async (accounts) => {
      if (!context.serverIsHere) return [];
      const peers: Peer[] = [];
      for (const kind of options.peers ?? []) {
        const skipped = skipLine(kind);
        if (skipped === null) peers.push(own(await kind.start({ workspace, accounts, seed })));
        else peerNotes.push(skipped);
      }
      peerNotes.push(...peers.map(({ label, about }) => `peer ${label}: ${about}`));
      return peers;
    },
    own,
  };
  const startedAt = new Date();
  try {
    const outcome = await scenario.run(context);
    const notes = [...generalNotes(context, server), ...clusterNotes(cluster), ...peerNotes, ...outcome.notes];
    return {
      scenario: scenario.name,
      summary: scenario.summary,
      transports: [...transports],
      settings,
      baselineProgram: baselineOf(scenario, cluster),
      startedAt: startedAt.toISOString(),
      tookSeconds: (Date.now() - startedAt.getTime()) / 1000,
      ...outcome,
      checks: [...outcome.checks, ...(await stopChecks(owned))],
      notes,
    };
  } catch (error) {
    const deaths = owned.flatMap((target) => {
      const death = target.death();
      return death === null ? [] : [`${target.label} ended: ${death}`];
    });
    const message = error instanceof Error ? error.message : String(error);
    throw new Error([`${scenario.name}: ${message}`, ...deaths].join("\n"), { cause: error });
  } finally {
    await Promise.all(owned.map((target) => target.stop()));
  }
}

function baselineOf({ baseline }: Scenario, cluster: number | null): string {
  if (cluster !== null) return "our own server without a cluster";
  return baseline === "ours" ? "our own server" : `bench/${baseline}.ts`;
}

function clusterNotes(cluster: number | null): string[] {
  if (cluster === null) return [];
  return [
    `Ours is a cluster of ${cluster} nodes and 3 NATS servers on this machine, asked at the node that owns the organization; its CPU is that of all these processes. So ratios of throughput are those of one machine that does the work of several.`,
  ];
}

/** Checks that every server exited as the start-up contract requires. */
async function stopChecks(owned: readonly Target[]): Promise<ScenarioResult["checks"]> {
  const exits = await Promise.all(owned.map(async (target) => ({ label: target.label, exit: await target.stop() })));
  const bad = exits.filter(({ exit }) => exit !== null && (exit.code !== 0 || exit.killed));
  if (exits.length === 0) return [];
  const detail = bad.map(({ label, exit }) => `${label}: code ${exit?.code ?? "none"} ${exit?.killed ? "killed" : ""}`);
  return [{ name: "every process exited with code 0 on SIGTERM", ok: bad.length === 0, detail: detail.join("; ") }];
}

function generalNotes(context: Context, server: ForeignServer | null): string[] {
  const notes: string[] = [];
  if (!context.serverIsHere)
    notes.push("The server is on another machine: no baseline, and its CPU and memory are not measured.");
  if (server !== null && server.pid === null)
    notes.push("The server's process is unknown (--pid): its CPU and memory are not measured.");
  if (context.workspace.volatile)
    notes.push("The data is on tmpfs, where a flush costs nothing: durable numbers mean nothing.");
  return notes;
}
