// The table of peers, and the start of those that were asked for: what is not installed is skipped with a line that says so.

import { ejabberd } from "./ejabberd-peer.ts";
import { nodePeer } from "./node-peer.ts";
import type { PeerKind, PeerName } from "./peer.ts";

export const peerKinds: Readonly<Record<PeerName, PeerKind>> = {
  fastify: nodePeer("fastify"),
  socketio: nodePeer("socketio"),
  ejabberd,
};

/** The line for a peer that cannot take part; null when it can. */
export function skipLine(kind: PeerKind): string | null {
  const missing = kind.missing();
  return missing === null ? null : `peer ${kind.name} is not installed and is left out: ${missing}`;
}
