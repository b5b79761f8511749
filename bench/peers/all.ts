// The table of peers. Starts the requested ones, and skips a peer that is not installed with a message.

import type { PeerName } from "../lib/target.ts";
import { ejabberd } from "./ejabberd-peer.ts";
import { nodePeer } from "./node-peer.ts";
import type { PeerKind } from "./peer.ts";

export const peerKinds: Readonly<Record<PeerName, PeerKind>> = {
  fastify: nodePeer("fastify"),
  socketio: nodePeer("socketio"),
  ejabberd,
};

/** The message for a peer that cannot be measured; null if it can. */
export function skipLine(kind: PeerKind): string | null {
  const missing = kind.missing();
  return missing === null ? null : `peer ${kind.name} is not installed and is skipped: ${missing}`;
}
