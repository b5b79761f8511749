// The most common phase of a scenario: the same HTTP load on this server and on the baseline, in alternating order.

import type { Peer } from "../peers/peer.ts";
import type { Cycle, HttpLoadResult } from "./job.ts";
import { alternate, type Context, generate, type Pair, paceOf, runSeconds } from "./scenario.ts";
import type { Server, Target } from "./target.ts";

export interface HttpPhase {
  /** Label of the progress bar. */
  readonly label: string;
  readonly server: Server;
  readonly baseline: Target | null;
  /** The requests of each connection, in turn. A function if they differ between this server and the baseline. */
  readonly cycles: readonly Cycle[] | ((target: Target) => readonly Cycle[] | Promise<readonly Cycle[]>);
  /** By default those of the settings. */
  readonly connections?: number;
  /** Arrivals per second; null: as many as possible. */
  readonly ratePerSecond: number | null;
  /** A second baseline. */
  readonly journal?: Target | null;
  readonly peers?: readonly Peer[];
}

export function httpPair(context: Context, phase: HttpPhase): Promise<Pair<HttpLoadResult>> {
  const { settings } = context;
  const {
    label,
    server,
    baseline,
    journal = null,
    cycles,
    connections = settings.connections,
    ratePerSecond,
    peers = [],
  } = phase;
  const load = { kind: "http-load" as const, connections, pace: paceOf(settings, ratePerSecond) };
  return alternate(context, {
    label,
    seconds: runSeconds(settings),
    server,
    baseline,
    journal,
    run: async (target) =>
      generate(context, {
        ...load,
        address: target.address,
        watch: target.watch,
        cycles: typeof cycles === "function" ? await cycles(target) : cycles,
      }),
    peers: {
      among: peers,
      run: ({ address, watch, posts }) => generate(context, { ...load, address, watch, ...posts(connections, false) }),
    },
  });
}
