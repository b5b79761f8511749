// A peer is an alternative to this server: another chat stack with the same semantics and durability, under the same
// load in its own protocol. Each has its own folder here, and is measured only where it is installed.

import type { HttpLoadJob, Receivers } from "../lib/job.ts";
import type { PeerName, Target } from "../lib/target.ts";
import type { Workspace } from "../lib/workspace.ts";

/** How posts are sent to a peer: the requests and the transport. */
export type Posts = Pick<HttpLoadJob, "cycles" | "postSockets">;

export interface Peer extends Target {
  readonly label: PeerName;
  /** Its components with their versions, for the report. */
  readonly about: string;
  /**
   * Posts of the same sizes as for this server, to one channel of which all accounts are members. `hasReceivers`:
   * whether receivers are connected as well.
   */
  posts(connections: number, hasReceivers: boolean): Posts;
  /** Sockets that receive each message of that channel. */
  receivers(count: number): Receivers;
  /** The content of the newest message, as the peer returns it. */
  newestContent(): Promise<string>;
}

export interface PeerOptions {
  readonly workspace: Workspace;
  /** Accounts, all members of one channel. */
  readonly accounts: number;
  readonly seed: number;
}

/** An entry of the table in bench/peers/all.ts. */
export interface PeerKind {
  readonly name: PeerName;
  /** null if everything is installed; otherwise one line that says what is missing and how to install it. */
  missing(): string | null;
  /** Rejects with the end of its output when it does not start. */
  start(options: PeerOptions): Promise<Peer>;
}
