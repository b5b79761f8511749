/** What a session on a WebSocket stands on: the connection, what the sockets of a realm share, and who is at the other end. */
import type { Refusal } from "../../schemas/errors.ts";
import type { ByteBudget } from "../runtime/byte-budget.ts";
import type { Authenticated, Perform } from "../runtime/calls.ts";
import type { Realm } from "../runtime/realm.ts";
import type { UnsentBytes } from "../runtime/unsent-bytes.ts";
import type { Hub } from "./hub.ts";
import type { Format } from "./socket-frames.ts";
import type { Strangers } from "./strangers.ts";

/** The part of a uWS socket that a session uses, in its words; after the close nothing of it is touched. */
export interface Connection {
  /** 1 sent, 0 buffered, 2 dropped (pitfalls 2.3). */
  send(data: string | Buffer, isBinary: boolean): number;
  /** A message in pieces: nothing else goes between them. The library has these and its typings lack them. */
  sendFirstFragment(data: Buffer, isBinary: boolean): number;
  sendFragment(data: Buffer): number;
  sendLastFragment(data: Buffer): number;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
}

/** What the sockets of a realm share: one for all of them, because there may be many thousand. */
export interface SocketHost {
  readonly realm: Realm;
  readonly hub: Hub;
  readonly perform: Perform;
  /** Address and key to a person, or why not; failed attempts are counted by network address (D28). */
  readonly verify: (account: { email: string; key: string }, address: string) => Authenticated | Refusal;
  /** Frames count against the same limits as REST; null: it may pass. Operations count themselves. */
  readonly limitFrame: (userId: number) => Refusal | null;
  /** false: the person has too many sockets. */
  readonly admit: (userId: number) => boolean;
  /** The person's socket is gone. */
  readonly leave: (userId: number) => void;
  readonly strangers: Strangers;
  /** What clients have not taken yet, and frames of calls that are not answered yet. */
  readonly unsent: UnsentBytes;
  readonly inFlight: ByteBudget;
}

/** Who is at the other end, as the upgrade said. */
export interface Visitor {
  readonly format: Format;
  readonly client: string;
  readonly siteUrl: string;
  readonly userAgent: string;
  readonly address: string;
}
