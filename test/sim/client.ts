/**
 * A client that follows events over a socket or by long-poll. It disconnects, stops reading, resumes after its last
 * event, and tracks the events it must receive (E1, E2).
 */
import type { Hub } from "../../src/edge/realtime/hub.ts";
import type { SocketConnection } from "../../src/edge/transport/transport.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { OpenRequest } from "./answers.ts";
import type { Audience, Posted } from "./audience.ts";
import type { KnownState } from "./known-state.ts";
import { type Line, type Poller, PollLine, SocketLine } from "./lines.ts";
import type { Replica } from "./replica.ts";

/** Types that are never in the log (E4). */
const volatileTypes = new Set(["presence", "typing", "typing_edit_message", "heartbeat"]);

/** A user who cannot see where a message was moved receives its deletion. */
const sentAs: Readonly<Record<string, string>> = {
  delete_message: "update_message",
  // A user who has left a private channel is not told where a deleted message was.
  update_message_flags: "delete_message",
};

export interface ClientWorld {
  readonly audience: Audience;
  readonly replica: Replica;
  report(problem: string): void;
  trace(text: string): void;
  /** Runs `look` when the replica is as the server's memory is now; never, if a crash takes that back. */
  inThisState(look: () => void): void;
  /** A request of a client arrives. */
  receive(): OpenRequest;
  /** Whether the machine is down: frames that it would send then reach no client. */
  isDown(): boolean;
  /** A write failed and the process is still running. */
  hasFailed(): boolean;
  /** The machine goes down before this frame, although other frames of its turn were sent. */
  crashesBetween(): boolean;
}

interface Frame {
  readonly type: string;
  readonly result?: string;
  readonly code?: string;
  readonly event?: Event;
  readonly events?: readonly Event[];
}

interface Event {
  readonly id: number;
  readonly type: string;
  readonly stream_id?: number;
  readonly new_stream_id?: number;
  readonly content?: string;
  readonly message?: { readonly id: number };
}

interface ExpectedMessage {
  readonly posted: Posted;
  /** The client has been connected without interruption since. */
  isLive: boolean;
}

interface Registered {
  readonly userId: number;
  readonly queueId: string;
  readonly lastEventId: number;
  /** By long-poll; otherwise over a socket. */
  readonly polls: boolean;
}

export class VirtualClient {
  readonly userId: number;
  readonly queueId: string;
  readonly #world: ClientWorld;
  #lastEventId: number;
  #lastMessageId = 0;
  #line: Line | null = null;
  readonly #polls: boolean;
  #connections = 0;
  #isStalled = false;
  #bufferedBytes = 0;
  /** Size factor of its frames at the server: large frames reach the bound on buffered bytes quickly (E3). */
  #weight = 1;
  /** The network rejects the next frame, like a full buffer. */
  #dropsNext = false;
  readonly #expected = new Map<number, ExpectedMessage>();
  /** The registered state with all events applied. */
  known: KnownState | null = null;
  /** Events that it received. */
  received = 0;
  /** Those of them whose effect on the known state was compared with a fresh state. */
  compared = 0;
  #uncompared = 0;
  /** The queue no longer exists: the client must fetch all state again. */
  isGone = false;

  constructor(registered: Registered, world: ClientWorld) {
    this.userId = registered.userId;
    this.queueId = registered.queueId;
    this.#lastEventId = registered.lastEventId;
    this.#polls = registered.polls;
    this.#world = world;
  }

  get isConnected(): boolean {
    return this.#line !== null;
  }

  /** The number of its connection, if events are pushed to it. */
  get pushedOn(): number | null {
    return this.#line?.isPushed === true ? this.#connections : null;
  }

  connect(realm: Realm, hub: Hub): void {
    const user = realm.view.users.get(this.userId);
    if (user?.isActive !== true) return;
    this.#isStalled = false;
    this.#bufferedBytes = 0;
    this.#connections++;
    // As a replay shows it, which begins now.
    this.#world.inThisState(() => this.#forgetUnseen());
    const caller = { realm, hub, user, queueId: this.queueId, receive: () => this.#world.receive() };
    if (this.#polls) this.#poll(caller);
    else {
      const line = new SocketLine(caller, this.#connection());
      this.#line = line;
      line.resume(this.#lastEventId);
    }
  }

  #poll(caller: Poller): void {
    const line = new PollLine(caller, {
      onSend: () => {
        this.#world.inThisState(() => this.#forgetUnseen());
        return this.#lastEventId;
      },
      answered: (events) => {
        if (this.#world.isDown() || this.#world.crashesBetween()) {
          line.cut();
          return;
        }
        if (this.#world.hasFailed()) this.#world.report(`[M5] a poll was answered after a write failed`);
        this.#world.trace(`${this.queueId} polled ${JSON.stringify(events)}`);
        // The response was lost: the next poll sends the same event id again.
        if (this.#dropsNext) this.#dropsNext = false;
        else for (const event of events) this.#event(event);
      },
      refused: (code) => {
        if (this.#world.isDown()) return;
        this.#world.trace(`${this.queueId} polled ${code}`);
        this.#line = null;
        this.#wasAway();
        if (code === "BAD_EVENT_QUEUE_ID") this.#lost(code);
      },
    });
    this.#line = line;
    line.ask();
  }

  #connection(): SocketConnection {
    return {
      send: (data) => this.#take(String(data)),
      // The simulation requests no large responses over sockets.
      sendFirstFragment: noFragments,
      sendFragment: noFragments,
      sendLastFragment: noFragments,
      getBufferedAmount: () => this.#bufferedBytes,
      end: (code) => {
        if (this.#world.isDown()) return;
        this.#world.trace(`close ${this.queueId} ${code}`);
        this.#line = null;
        this.#wasAway();
        // 4410: the queue no longer exists, the explicit gap of E2.
        if (code === 4410) this.isGone = true;
      },
    };
  }

  #wasAway(): void {
    for (const owed of this.#expected.values()) owed.isLive = false;
  }

  /** The network or the remote machine vanished without closing. */
  cut(): void {
    const line = this.#line;
    this.#line = null;
    this.#wasAway();
    line?.cut();
  }

  /** It stops reading for a while: frames pile up at the server, each of that size. */
  stall(weight: number): void {
    this.#isStalled = true;
    this.#weight = weight;
    this.#line?.stall();
  }

  dropNext(): void {
    this.#dropsNext = true;
  }

  readAgain(): void {
    this.#isStalled = false;
    this.#bufferedBytes = 0;
    this.#line?.readAgain();
  }

  departed(hub: Hub, userId: number): void {
    this.#line?.departed(hub, userId);
  }

  #take(text: string): number {
    if (this.#world.isDown() || this.#world.crashesBetween()) return 1;
    if (this.#world.hasFailed()) this.#world.report(`[M5] a frame left after a write failed: ${text.slice(0, 200)}`);
    if (this.#dropsNext) {
      this.#dropsNext = false;
      return 2;
    }
    if (this.#isStalled) this.#bufferedBytes += text.length * this.#weight;
    this.#world.trace(`${this.queueId} ${text}`);
    const frame = JSON.parse(text) as Frame;
    if (frame.type === "reply") this.#resumed(frame);
    for (const event of frame.event === undefined ? (frame.events ?? []) : [frame.event]) this.#event(event);
    return this.#isStalled ? 0 : 1;
  }

  #resumed({ result, code }: Frame): void {
    if (result === "success") this.#forgetUnseen();
    else this.#lost(String(code));
  }

  /** Replayed events must respect what the user may see now, whatever changed since. */
  #forgetUnseen(): void {
    for (const [position, { posted }] of this.#expected) if (!this.#maySee(posted)) this.#expected.delete(position);
  }

  #lost(code: string): void {
    this.isGone = true;
    const row = this.#world.replica.get("queues", this.queueId);
    if (row !== undefined)
      this.#world.report(`[E2] queue ${this.queueId} exists, but ${code} after ${this.#lastEventId}`);
  }

  #event(event: Event): void {
    const { report, audience } = this.#world;
    const what = `event ${event.id} (${event.type}) on ${this.queueId} of ${this.userId}`;
    this.received++;
    if (event.id <= this.#lastEventId) report(`[E1] ${what} after ${this.#lastEventId}`);
    this.#lastEventId = event.id;
    this.known?.apply(event);
    if (this.known !== null) this.#uncompared++;
    if (volatileTypes.has(event.type)) return;
    const committed = audience.eventOf(event.id);
    const isOnDisk = committed !== null && (sentAs[event.type] ?? event.type) === committed.type;
    if (!isOnDisk && committed?.type !== event.type) report(`[M1] ${what} left, but is not on disk`);
    if (event.type === "message") this.#message(event, what);
    const isRecipient = committed?.insiders?.has(this.userId) ?? true;
    if (!isRecipient && event.new_stream_id === undefined) report(`[S1] ${what} concerns a private channel`);
  }

  #message(event: Event, what: string): void {
    const posted = this.#world.audience.posting(event.id);
    const id = event.message?.id ?? 0;
    // Over all topics, and therefore within each.
    if (id <= this.#lastMessageId) this.#world.report(`[M7] ${what} shows message ${id} after ${this.#lastMessageId}`);
    this.#lastMessageId = id;
    if (posted !== undefined && !posted.userIds.has(this.userId))
      this.#world.report(`[S1] ${what} concerns message ${id}`);
    if (posted !== undefined && posted.messageId !== id) this.#world.report(`[E1] ${what} shows message ${id}`);
    this.#expected.delete(event.id);
  }

  /** A message that this user must receive is on disk. @param connection the one to which it was pushed */
  expect(posted: Posted, connection: number | null): void {
    if (posted.position <= this.#lastEventId || !posted.mustReceive.has(this.userId)) return;
    this.#expected.set(posted.position, { posted, isLive: connection !== null && connection === this.pushedOn });
  }

  /**
   * All frames have been sent. A connected client must have received everything due, except what the user may no longer
   * see.
   */
  settle(realm: Realm): void {
    if (this.isGone) this.#expected.clear();
    if (!this.isConnected || this.#isStalled) return;
    for (const { posted, isLive } of this.#expected.values()) {
      if (isLive ? !this.#isGone(posted) : this.#maySee(posted)) {
        this.#world.report(
          `[E2] message ${posted.messageId} (event ${posted.position}) never arrived on ${this.queueId}`,
        );
      }
    }
    this.#expected.clear();
    if (this.isGone || this.known === null) return;
    const difference = this.known.difference(realm, this.#world.replica);
    this.compared += this.#uncompared;
    this.#uncompared = 0;
    if (difference !== null) this.#world.report(`[E2] on ${this.queueId} of ${this.userId} ${difference}`);
  }

  #isGone({ messageId }: Posted): boolean {
    return !this.#world.replica.has("messages", messageId);
  }

  /** A replay shows messages that still exist, in the place where they were, to users who are still subscribed. */
  #maySee(posted: Posted): boolean {
    const { replica } = this.#world;
    if (replica.get("messages", posted.messageId)?.conversationId !== posted.conversationId) return false;
    if (posted.channelId === null) return true;
    return replica.get("subscriptions", [posted.channelId, this.userId])?.isActive === true;
  }
}

function noFragments(): never {
  throw new Error("no response here is large");
}
