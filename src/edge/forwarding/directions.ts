/** The facts about the cluster that forwarding needs. */

export type Destination =
  | { readonly kind: "here" }
  | NodeDestination
  /** No node serves the organization at the moment. */
  | { readonly kind: "nobody" };

export interface NodeDestination {
  readonly kind: "node";
  /** The process that serves it. */
  readonly instance: string;
  /** Such as `http://10.0.0.2:9991`. */
  readonly address: string;
}

export interface ClusterRoutes {
  /** The secret of the nodes. */
  readonly key: string;
  /** Where other nodes, and this one, reach this one. */
  readonly ownAddress: string;
  destinationOf(hostHeader: string): Destination;
  /** Whether a node is silent for so long that others do its work. */
  isGone(instance: string): boolean;
  /** Resolves when that may have changed, or after some time. */
  onceChanged(milliseconds: number): Promise<void>;
}

/**
 * A node forwards a request that waited until it serves the organization to itself, because the transport cannot wait.
 */
export function addressOf(destination: Destination, directions: ClusterRoutes): NodeDestination | null {
  if (destination.kind === "nobody") return null;
  return destination.kind === "node" ? destination : { kind: "node", instance: "here", address: directions.ownAddress };
}
