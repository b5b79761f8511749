/**
 * How a client receives events: over a virtual socket, with the server's own session on an object as its connection, or
 * by long-poll, with the server's own polls in sequence.
 */

import { refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Hub } from "../../src/edge/realtime/hub.ts";
import { poll } from "../../src/edge/realtime/long-poll.ts";
import type { SocketHost } from "../../src/edge/realtime/socket-host.ts";
import { SocketSession } from "../../src/edge/realtime/socket-session.ts";
import { UnauthenticatedSockets } from "../../src/edge/realtime/unauthenticated-sockets.ts";
import type { SocketConnection } from "../../src/edge/transport/transport.ts";
import { Counter } from "../../src/metrics/instruments.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { noOperations } from "../support/no-operations.ts";
import { wireMemory } from "../support/wire-memory.ts";
import type { OpenRequest } from "./answers.ts";
import { type Body, callOf, keyHashOf, read } from "./calls.ts";

export interface Line {
  /**
   * Whether events arrive at the moment of their turn. Otherwise they are replayed, to users who may see them at that
   * time.
   */
  readonly isPushed: boolean;
  /** The network or the remote machine vanished without closing. */
  cut(): void;
  /** It stops reading for a while. */
  stall(): void;
  readAgain(): void;
  departed(hub: Hub, userId: number): void;
}

export interface Caller {
  readonly realm: Realm;
  readonly hub: Hub;
  readonly user: UserRecord;
  readonly queueId: string;
}

/** A caller that polls. */
export interface Poller extends Caller {
  /** A request arrives. */
  readonly receive: () => OpenRequest;
}

const visitor = {
  format: "json",
  client: "sim",
  siteUrl: "http://localhost",
  userAgent: "sim",
  address: "",
} as const;

export class SocketLine implements Line {
  readonly isPushed = true;
  readonly #session: SocketSession;
  readonly #queueId: string;
  readonly #credentials: { readonly caller: UserRecord; readonly keyHash: string; readonly isSession: boolean };

  constructor({ realm, hub, user, queueId }: Caller, connection: SocketConnection) {
    const monotonic = () => realm.view.now;
    const host: SocketHost = {
      realm,
      hub,
      ...noOperations(),
      verify: () => refuse.notLoggedIn(),
      limitFrame: () => null,
      closed: new Counter("code", []),
      admit: () => true,
      leave: () => undefined,
      unauthenticated: new UnauthenticatedSockets({ monotonic }),
      ...wireMemory(monotonic),
    };
    this.#session = new SocketSession(connection, host, visitor);
    this.#queueId = queueId;
    this.#credentials = { caller: user, keyHash: keyHashOf(realm, user.id), isSession: false };
  }

  resume(lastEventId: number): void {
    this.#session.start(this.#credentials);
    const frame = { type: "resume", ref: "r", queue_id: this.#queueId, last_event_id: lastEventId };
    this.#session.receive(Buffer.from(JSON.stringify(frame)), false);
  }

  cut(): void {
    this.#session.closed();
  }

  /** Bytes pile up where the connection counts them. */
  stall(): void {}

  readAgain(): void {
    this.#session.drained();
  }

  departed(hub: Hub, userId: number): void {
    this.#session.departed(hub, userId);
  }
}

export interface PollHandler {
  /** A poll is about to be sent. @returns the client's last event id */
  onSend(): number;
  answered(events: readonly Body[]): void;
  refused(code: string): void;
}

export class PollLine implements Line {
  readonly isPushed = false;
  readonly #caller: Poller;
  readonly #handler: PollHandler;
  #isOver = false;
  #isStalled = false;
  /** Between a response and the next poll. */
  #isIdle = true;
  #request: OpenRequest | null = null;

  constructor(caller: Poller, handler: PollHandler) {
    this.#caller = caller;
    this.#handler = handler;
  }

  ask(): void {
    const { realm, hub, user, queueId, receive } = this.#caller;
    this.#isIdle = false;
    const request = receive();
    this.#request = request;
    const call = callOf({ realm, caller: user, params: {}, onAbort: (callback) => request.onAbort(callback) });
    const query = { queueId, lastEventId: this.#handler.onSend(), blocks: true };
    const leave = (result: Awaited<ReturnType<typeof poll>>) => {
      this.#isIdle = true;
      if (this.#isOver) return;
      const { code, body } = read(result);
      if (code !== null) {
        this.#isOver = true;
        this.#handler.refused(code);
        return;
      }
      this.#handler.answered(body.events);
      // A server that stops takes no request.
      if (!this.#isStalled && !this.#isOver && !realm.isClosed) this.ask();
    };
    void poll(hub, user, query, call).then((result) => request.answer(() => leave(result)));
  }

  cut(): void {
    this.#isOver = true;
    this.#request?.abort();
  }

  stall(): void {
    this.#isStalled = true;
  }

  readAgain(): void {
    this.#isStalled = false;
    if (this.#isIdle && !this.#isOver) this.ask();
  }

  /** The hub ends held polls, so nothing has to be done. */
  departed(): void {}
}
