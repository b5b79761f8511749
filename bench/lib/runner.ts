// Runs scenarios one after the other and closes whatever they opened, also when one of them fails or the user interrupts.

import { skipLine } from "../peers/all.ts";
import type { Peer, PeerKind } from "../peers/peer.ts";
import type { Progress } from "./progress.ts";
import type { ScenarioResult, Settings } from "./result.ts";
import type { Context, Scenario, Size } from "./scenario.ts";
import { isLoopback, type Server, startServer, type Target, useServer } from "./target.ts";
import type { Workspace } from "./workspace.ts";
import type { Credentials } from "./zuliprc.ts";

/** A server that somebody else runs. */
export interface ForeignServer {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly pid: number | null;
}

export interface RunOptions {
  readonly size: Size;
  /** What the command line says instead of the size's own settings. */
  readonly overrides: Partial<Settings>;
  readonly seed: number;
  readonly server: ForeignServer | null;
  readonly workspace: Workspace;
  readonly progress: Progress;
  /** Who stands beside ours and the floor where a scenario takes peers; nobody when left out. */
  readonly peers?: readonly PeerKind[];
}

/** Runs one scenario. Rejects when it cannot be carried out; a check that does not hold is part of the result. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const { server, workspace, progress, seed } = options;
  const settings = { ...scenario.sizes[options.size], ...options.overrides };
  const owned: Target[] = [];
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
    openServer: async (prepare): Promise<Server> =>
      server === null ? own(await startServer(workspace, prepare)) : useServer(server),
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
    const notes = [...generalNotes(context, server), ...peerNotes, ...outcome.notes];
    return {
      scenario: scenario.name,
      summary: scenario.summary,
      settings,
      floorProgram: scenario.floor === "ours" ? "our own server" : `bench/${scenario.floor}.ts`,
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

/** A server that does not end as the start-up contract says is a finding, not a detail. */
async function stopChecks(owned: readonly Target[]): Promise<ScenarioResult["checks"]> {
  const exits = await Promise.all(owned.map(async (target) => ({ label: target.label, exit: await target.stop() })));
  const bad = exits.filter(({ exit }) => exit !== null && (exit.code !== 0 || exit.killed));
  if (exits.length === 0) return [];
  const detail = bad.map(({ label, exit }) => `${label}: code ${exit?.code ?? "none"} ${exit?.killed ? "killed" : ""}`);
  return [{ name: "every process ended with code 0 on SIGTERM", ok: bad.length === 0, detail: detail.join("; ") }];
}

function generalNotes(context: Context, server: ForeignServer | null): string[] {
  const notes: string[] = [];
  if (!context.serverIsHere) notes.push("The server is on another machine: no floor, no CPU, no memory of it.");
  if (server !== null && server.pid === null) notes.push("The server's process is unknown (--pid): no CPU, no memory.");
  if (context.workspace.volatile)
    notes.push("The data is on tmpfs: a flush costs nothing here, durable numbers mean nothing.");
  return notes;
}
