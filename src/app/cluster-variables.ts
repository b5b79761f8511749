/** The variables of the configuration that make the server a node of a cluster (docs/cluster.md). */
import { hostname } from "node:os";
import { limits } from "../../schemas/limits.ts";
import { type NatsAddresses, parseMonitors, parseNatsAddresses } from "../durability/cluster/addresses.ts";

/** One variable of the configuration. */

export interface Variable<T> {
  readonly name: string;
  readonly fallback: T;
  /** Describes accepted values, for the message. */
  readonly wants: string;
  /** The value is never repeated in a message (S2). */
  readonly isSecret?: boolean;
  /** The value is not logged. */
  readonly isPersonal?: boolean;
  /** Returns undefined if the value is invalid. */
  read(text: string): T | undefined;
}

export const clusterNats: Variable<NatsAddresses | null> = {
  name: "CLUSTER_NATS",
  fallback: null,
  wants:
    "addresses such as nats://a:4222,nats://b:4222,nats://c:4222, with user:password@ in front of each if they are needed",
  isSecret: true,
  read: (value) => parseNatsAddresses(value) ?? undefined,
};

export const clusterMonitors: Variable<readonly string[] | null> = {
  name: "CLUSTER_NATS_MONITOR",
  fallback: null,
  wants: "addresses such as http://a:8222,http://b:8222,http://c:8222",
  read: (value) => parseMonitors(value) ?? undefined,
};

export const clusterNode: Variable<string> = {
  name: "CLUSTER_NODE",
  fallback: hostname()
    .replaceAll(/[^\w-]/g, "-")
    .slice(0, limits.cluster_node_characters_max),
  wants: `a name of at most ${limits.cluster_node_characters_max} letters, digits, - and _`,
  read: (value) => (/^[\w-]+$/.test(value) && value.length <= limits.cluster_node_characters_max ? value : undefined),
};

export const clusterAdvertise: Variable<string | null> = {
  name: "CLUSTER_ADVERTISE",
  fallback: null,
  wants: "an address such as http://10.0.0.2:9991",
  read: (value) => parseMonitors(value)?.[0]?.replace(/\/$/, ""),
};
