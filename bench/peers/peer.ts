// A peer is what people would pick instead of this server: another chat stack with the same semantics and durability, which takes the
// same load in its own words. Each lies in a folder of its own here and is measured only where it is installed.

import type { HttpLoadJob, Receivers } from "../lib/job.ts";
import type { Target } from "../lib/target.ts";
import type { Workspace } from "../lib/workspace.ts";

export const PEER_NAMES = ["fastify", "socketio", "ejabberd"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** How posts are put to a peer: what is sent, and over what. */
export type Posts = Pick<HttpLoadJob, "cycles" | "postSockets">;

export interface Peer extends Target {
  readonly label: PeerName;
  /** Its parts with their versions, for the report. */
  readonly about: string;
  /** Messages of the same sizes as ours get, to one channel of which all accounts are members; `isHeard`: by receivers beside. */
  posts(connections: number, isHeard: boolean): Posts;
  /** Sockets that hear of each message in that channel. */
  receivers(count: number): Receivers;
  /** The content of the newest message, as the peer tells it to who asks. */
  newestContent(): Promise<string>;
}

export interface PeerOptions {
  readonly workspace: Workspace;
  /** Accounts, all members of the one channel. */
  readonly accounts: number;
  readonly seed: number;
}

/** What the table in bench/peers/all.ts says of a peer. */
export interface PeerKind {
  readonly name: PeerName;
  /** Null when everything is there; else what is missing and how to install it, as one line. */
  missing(): string | null;
  /** Rejects with the end of its output when it does not come up. */
  start(options: PeerOptions): Promise<Peer>;
}
