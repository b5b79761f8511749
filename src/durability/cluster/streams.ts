/**
 * The streams of a cluster: a fixed number, created by the first node. Each organization has one subject in one of them.
 * A stream that exists must have what a cluster relies on; nothing is changed silently.
 */
import type { StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { limits } from "../../../schemas/limits.ts";
import { formatMark, requireMark } from "../../store/migrations.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import type { Nats } from "./connection.ts";
import { requested } from "./request.ts";

const countKey = "colloquy-streams";
/** The version of what the streams hold: a cluster of a newer program, or of none that was released, is refused. */
const formatKey = "colloquy-format";

export interface StreamOptions {
  /** How many there are, if the cluster is new. */
  readonly streams: number;
}

export interface Streams {
  /** Tells clusters apart: when the first stream was created. */
  readonly cluster: string;
  readonly count: number;
  /** Each stream, and the subjects of its organizations. */
  readonly all: readonly { readonly name: string; readonly subjects: string }[];
  nameOf(realmId: number): string;
  subjectOf(realmId: number): string;
}

/**
 * Creates the streams of a new cluster. Several nodes may do so at once.
 * @throws ClusterUnusable when a stream of this name has other properties; UnknownFormat
 */
export async function openStreams(nats: Nats, options: StreamOptions): Promise<Streams> {
  const first = await existing(nats, 0);
  const count = first === null ? options.streams : countOf(first);
  // The first one is created last: it says that all of them are there.
  let cluster = "";
  for (let index = count - 1; index >= 0; index--) {
    const info = (await existing(nats, index)) ?? (await create(nats, index, count));
    requireProperties(info, index, count);
    cluster = info.created;
  }
  return streamsOf(cluster, count);
}

/** @returns null if the cluster is new. @throws ClusterUnusable when the first stream is not one of ours; UnknownFormat */
export async function findStreams(nats: Nats): Promise<Streams | null> {
  const first = await existing(nats, 0);
  return first === null ? null : streamsOf(first.created, countOf(first));
}

function streamsOf(cluster: string, count: number): Streams {
  return {
    cluster,
    count,
    all: Array.from({ length: count }, (_, index) => ({ name: streamName(index), subjects: `turns.${index}.*` })),
    nameOf: (realmId) => streamName(realmId % count),
    subjectOf: (realmId) => `turns.${realmId % count}.${realmId}`,
  };
}

function streamName(index: number): string {
  return `turns-${index}`;
}

async function existing(nats: Nats, index: number): Promise<StreamInfo | null> {
  return requested(nats, async () => {
    try {
      return await nats.manager.streams.info(streamName(index));
    } catch (error) {
      if ((error as { code?: unknown }).code === streamNotFound) return null;
      throw error;
    }
  });
}

const streamNotFound = 10059;

function create(nats: Nats, index: number, count: number): Promise<StreamInfo> {
  const metadata = { [countKey]: `${count}`, [formatKey]: formatMark };
  return requested(nats, () => nats.manager.streams.add({ ...configOf(index), metadata }));
}

function configOf(index: number) {
  return {
    name: streamName(index),
    subjects: [`turns.${index}.*`],
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: limits.cluster_replicas,
    deny_delete: true,
    allow_direct: false,
  } as const satisfies Partial<Record<keyof StreamConfig, unknown>> as unknown as StreamConfig;
}

function countOf({ config }: StreamInfo): number {
  const count = Number(config.metadata?.[countKey]);
  if (Number.isSafeInteger(count) && count >= 1 && count <= limits.cluster_streams_max) {
    requireMark("the cluster", config.metadata?.[formatKey]);
    return count;
  }
  throw new ClusterUnusable(
    `The stream ${config.name} was not created by Colloquy. Give Colloquy a NATS account of its own (CLUSTER_NATS_CREDENTIALS_FILE).`,
  );
}

function requireProperties({ config }: StreamInfo, index: number, count: number): void {
  const wanted: [keyof StreamConfig, unknown][] = [
    ...(Object.entries(configOf(index)) as [keyof StreamConfig, unknown][]),
    ["max_age", 0],
    ["max_bytes", -1],
    ["max_msgs", -1],
    ["max_msgs_per_subject", -1],
  ];
  const shown = (value: unknown) => JSON.stringify(value);
  for (const [property, value] of wanted) {
    if (shown(config[property]) === shown(value)) continue;
    throw new ClusterUnusable(
      `The stream ${config.name} has ${property}=${shown(config[property])} and needs ${shown(value)}: change it with the program nats, or give Colloquy a NATS account of its own.`,
    );
  }
  if (countOf({ config } as StreamInfo) !== count) {
    throw new ClusterUnusable(`The stream ${config.name} belongs to a cluster with another number of streams.`);
  }
}
