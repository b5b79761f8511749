// The commonest phase of a scenario: the same HTTP load against ours and the floor, in alternating order.

import type { Peer } from "../peers/peer.ts";
import type { Cycle, HttpLoadResult } from "./job.ts";
import { alternate, type Context, generate, type Pair, paceOf, runSeconds } from "./scenario.ts";
import type { Server, Target } from "./target.ts";

export interface HttpPhase {
  /** Shown while it runs. */
  readonly label: string;
  readonly server: Server;
  readonly floor: Target | null;
  /** What each connection sends, in turn; where ours and the floor differ, by target. */
  readonly cycles: readonly Cycle[] | ((target: Target) => readonly Cycle[] | Promise<readonly Cycle[]>);
  /** Those of the settings when left out. */
  readonly connections?: number;
  /** Arrivals per second; null: as many as get through. */
  readonly ratePerSecond: number | null;
  readonly peers?: readonly Peer[];
}

export function httpPair(context: Context, phase: HttpPhase): Promise<Pair<HttpLoadResult>> {
  const { settings } = context;
  const { label, server, floor, cycles, connections = settings.connections, ratePerSecond, peers = [] } = phase;
  const load = { kind: "http-load" as const, connections, pace: paceOf(settings, ratePerSecond) };
  return alternate(context, {
    label,
    seconds: runSeconds(settings),
    server,
    floor,
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
