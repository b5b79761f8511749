/** The links of this node to the owners of organizations: one to each process that serves some for its clients. */
import type { Clock } from "../../runtime/clock.ts";
import type { ClusterRoutes, NodeDestination } from "./directions.ts";
import { EdgeLink } from "./edge-link.ts";
import type { LinkCounts, LinkState } from "./link-figures.ts";
import { nodeHeader, nodeHeaderOf } from "./node-header.ts";
import type { Upstreams } from "./upstreams.ts";

export interface EdgeLinksOptions {
  readonly directions: ClusterRoutes;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  readonly counts: LinkCounts;
  readonly reportBug: (error: unknown, what: string) => void;
}

export class EdgeLinks {
  readonly #options: EdgeLinksOptions;
  /** By process and address. */
  readonly #links = new Map<string, EdgeLink>();

  constructor(options: EdgeLinksOptions) {
    this.#options = options;
  }

  /** @returns null if there can be no link at the moment */
  async to(destination: NodeDestination): Promise<EdgeLink | null> {
    const name = `${destination.instance} ${destination.address}`;
    const link = this.#links.get(name) ?? this.#begin(name, destination);
    return (await link.ready) ? link : null;
  }

  #begin(name: string, destination: NodeDestination): EdgeLink {
    const { directions, upstreams, clock, counts, reportBug } = this.#options;
    const link: EdgeLink = new EdgeLink({
      destination,
      headers: { [nodeHeader]: nodeHeaderOf(directions.key, { address: "", isSecure: false }) },
      clock,
      counts,
      reportBug,
      onEnd: () => {
        endWatch();
        this.#links.delete(name);
      },
    });
    const endWatch = upstreams.watch(destination.instance, () => link.terminate());
    this.#links.set(name, link);
    return link;
  }

  get states(): LinkState[] {
    return [...this.#links.values()].map(({ state }) => state);
  }

  /** This node stops: the clients of all links reconnect. */
  dismiss(): void {
    for (const link of [...this.#links.values()]) link.dismiss();
  }

  close(): void {
    for (const link of [...this.#links.values()]) link.terminate();
  }
}
