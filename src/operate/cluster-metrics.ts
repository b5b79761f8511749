/** Metrics of a node of a cluster. All are 0 where there is no cluster. */

import type { ClusterFigures } from "../durability/cluster/member.ts";
import { LinkCounts, type LinkFigures, linkFigures } from "../edge/forwarding/link-figures.ts";
import { by, one } from "../metrics/instruments.ts";
import type { Family } from "./admin/exposition.ts";

export interface NodeFigures extends ClusterFigures {
  readonly snapshotAgeS: number;
  readonly links: LinkFigures;
}

/** @param cluster null: the server is no node of a cluster */
export function clusterMetrics(cluster: (() => NodeFigures) | null): Family[] {
  const figures = cluster ?? (() => none);
  return [...ofMember(figures), ...ofLinks(() => figures().links)];
}

const none: NodeFigures = {
  served: 0,
  followed: 0,
  nodes: 0,
  epoch: 0,
  followAgeS: 0,
  snapshotAgeS: 0,
  links: linkFigures(new LinkCounts(), { edge: [], owner: [], requests: 0 }),
};

function ofMember(figures: () => NodeFigures): Family[] {
  return [
    {
      name: "colloquy_cluster_organizations",
      type: "gauge",
      help: "Organizations that this node serves, and that it follows.",
      read: () => by("state", { served: figures().served, followed: figures().followed }),
    },
    {
      name: "colloquy_cluster_nodes",
      type: "gauge",
      help: "Nodes of the cluster that are there.",
      read: () => one(figures().nodes),
    },
    {
      name: "colloquy_cluster_epoch",
      type: "gauge",
      help: "The highest epoch of an organization that this node serves; it grows with each change of its owner.",
      read: () => one(figures().epoch),
    },
    {
      name: "colloquy_cluster_follow_age_seconds",
      type: "gauge",
      help: "Time since the stores of this node had everything that the streams had.",
      read: () => one(figures().followAgeS),
    },
    {
      name: "colloquy_cluster_snapshot_age_seconds",
      type: "gauge",
      help: "Age of the oldest of the organizations' newest snapshots.",
      read: () => one(figures().snapshotAgeS),
    },
  ];
}

function ofLinks(links: () => LinkFigures): Family[] {
  const byEnd = (of: "links" | "sockets" | "waitingBytes") => () => {
    const { edge, owner } = links().ends;
    return by("end", { edge: edge[of], owner: owner[of] });
  };
  return [
    {
      name: "colloquy_cluster_links",
      type: "gauge",
      help: "Links to owners of organizations, and those that edges have opened to this node.",
      read: byEnd("links"),
    },
    {
      name: "colloquy_cluster_link_sockets",
      type: "gauge",
      help: "WebSockets behind these links.",
      read: byEnd("sockets"),
    },
    {
      name: "colloquy_cluster_link_waiting_bytes",
      type: "gauge",
      help: "Bytes that wait to be sent over these links.",
      read: byEnd("waitingBytes"),
    },
    {
      name: "colloquy_cluster_link_messages_total",
      type: "counter",
      help: "Messages over links.",
      read: () => by("direction", { sent: links().sentMessages, received: links().receivedMessages }),
    },
    {
      name: "colloquy_cluster_link_bytes_total",
      type: "counter",
      help: "Bytes over links.",
      read: () => by("direction", { sent: links().sentBytes, received: links().receivedBytes }),
    },
    {
      name: "colloquy_cluster_link_silence_seconds",
      type: "gauge",
      help: "The longest time that the other end of a link has not been heard.",
      read: () => one(links().silenceS),
    },
    {
      name: "colloquy_cluster_links_lost_total",
      type: "counter",
      help: "Links to owners that broke, or whose owner fell silent or was gone.",
      read: () => one(links().lost),
    },
    {
      name: "colloquy_cluster_forwarded_requests",
      type: "gauge",
      help: "HTTP requests that other nodes have not answered yet, held polls included.",
      read: () => one(links().requests),
    },
  ];
}
