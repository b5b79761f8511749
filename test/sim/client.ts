/**
 * A client that follows events, over a socket or by long-poll. It goes away, stops reading, comes back with the last event that it
 * has, and keeps account of what it was owed (E1, E2).
 */
import type { Hub } from "../../src/realtime/hub.ts";
import type { Connection } from "../../src/realtime/socket-host.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { Audience, Posted } from "./audience.ts";
import type { KnownState } from "./known-state.ts";
import { type Caller, type Line, PollLine, SocketLine } from "./lines.ts";
import type { Replica } from "./replica.ts";

/** What is never in the log (E4). */
const volatileTypes = new Set(["presence", "typing", "typing_edit_message", "heartbeat"]);

/** Who does not see where a message went is told that it is gone. */
const toldAs: Readonly<Record<string, string>> = {
  delete_message: "update_message",
  // Who has left a private channel is not told where what is deleted was.
  update_message_flags: "delete_message",
};

export interface ClientWorld {
  readonly audience: Audience;
  readonly replica: Replica;
  report(problem: string): void;
  trace(text: string): void;
  /** Whether the machine is down: what it seems to send then, nobody gets. */
  isDown(): boolean;
  /** A commit failed and the process is still there. */
  hasFailed(): boolean;
  /** The machine goes down before this frame, though others of its turn have left. */
  cutsOff(): boolean;
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

interface Owed {
  readonly posted: Posted;
  /** The client was connected all the time since. */
  isLive: boolean;
}

interface Registered {
  readonly userId: number;
  readonly queueId: string;
  readonly lastEventId: number;
  /** By long-poll; else over a socket. */
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
  #isStalled = false;
  #bufferedBytes = 0;
  /** How large its frames are for the server: with many bytes the bound on what may pile up is soon reached (E3). */
  #weight = 1;
  /** The next frame is refused by the network, as by a full buffer. */
  #dropsNext = false;
  readonly #owed = new Map<number, Owed>();
  /** What events made of what it knew when it registered. */
  known: KnownState | null = null;
  /** Events that it got. */
  received = 0;
  /** The server said that the queue is gone: everything is to be fetched anew. */
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

  connect(realm: Realm, hub: Hub): void {
    const user = realm.view.users.get(this.userId);
    if (user?.isActive !== true) return;
    this.#isStalled = false;
    this.#bufferedBytes = 0;
    const caller = { realm, hub, user, queueId: this.queueId };
    if (this.#polls) this.#poll(caller);
    else {
      const line = new SocketLine(caller, this.#connection());
      this.#line = line;
      line.resume(this.#lastEventId);
    }
  }

  #poll(caller: Caller): void {
    const line = new PollLine(caller, {
      asked: () => {
        this.#forgetUnseen();
        return this.#lastEventId;
      },
      answered: (events) => {
        if (this.#world.isDown() || this.#world.cutsOff()) {
          line.cut();
          return;
        }
        if (this.#world.hasFailed()) this.#world.report(`[M5] a poll was answered after a commit failed`);
        this.#world.trace(`${this.queueId} polled ${JSON.stringify(events)}`);
        // Lost on the way: the next poll names the same event again.
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

  #connection(): Connection {
    return {
      send: (data) => this.#take(String(data)),
      // The simulation asks for no large answers over sockets.
      sendFirstFragment: noFragments,
      sendFragment: noFragments,
      sendLastFragment: noFragments,
      getBufferedAmount: () => this.#bufferedBytes,
      end: (code) => {
        if (this.#world.isDown()) return;
        this.#world.trace(`close ${this.queueId} ${code}`);
        this.#line = null;
        this.#wasAway();
        // 4410: the queue is gone; the declared gap of E2.
        if (code === 4410) this.isGone = true;
      },
    };
  }

  #wasAway(): void {
    for (const owed of this.#owed.values()) owed.isLive = false;
  }

  /** The network, or the machine on the other side, went away without a word. */
  cut(): void {
    const line = this.#line;
    this.#line = null;
    this.#wasAway();
    line?.cut();
  }

  /** It reads no more for a while: bytes pile up at the server, each as many. */
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
    if (this.#world.isDown() || this.#world.cutsOff()) return 1;
    if (this.#world.hasFailed()) this.#world.report(`[M5] a frame left after a commit failed: ${text.slice(0, 200)}`);
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

  /** What is told again is what they may see now, whatever comes later. */
  #forgetUnseen(): void {
    for (const [position, { posted }] of this.#owed) if (!this.#maySee(posted)) this.#owed.delete(position);
  }

  #lost(code: string): void {
    this.isGone = true;
    const row = this.#world.replica.get("queues", this.queueId);
    if (row !== undefined)
      this.#world.report(`[E2] queue ${this.queueId} is there, but ${code} after ${this.#lastEventId}`);
  }

  #event(event: Event): void {
    const { report, audience } = this.#world;
    const what = `event ${event.id} (${event.type}) on ${this.queueId} of ${this.userId}`;
    this.received++;
    if (event.id <= this.#lastEventId) report(`[E1] ${what} after ${this.#lastEventId}`);
    this.#lastEventId = event.id;
    this.known?.apply(event);
    if (volatileTypes.has(event.type)) return;
    const committed = audience.eventOf(event.id);
    const isOnDisk = committed !== null && (toldAs[event.type] ?? event.type) === committed.type;
    if (!isOnDisk && committed?.type !== event.type) report(`[M1] ${what} left, but is not on disk`);
    if (event.type === "message") this.#message(event, what);
    const isTold = committed?.insiders?.has(this.userId) ?? true;
    if (!isTold && event.new_stream_id === undefined) report(`[S1] ${what} is about a private channel`);
  }

  #message(event: Event, what: string): void {
    const posted = this.#world.audience.posting(event.id);
    const id = event.message?.id ?? 0;
    // Over all topics, and so in each.
    if (id <= this.#lastMessageId) this.#world.report(`[M7] ${what} shows message ${id} after ${this.#lastMessageId}`);
    this.#lastMessageId = id;
    if (posted !== undefined && !posted.userIds.has(this.userId))
      this.#world.report(`[S1] ${what} is of message ${id}`);
    if (posted !== undefined && posted.messageId !== id) this.#world.report(`[E1] ${what} shows message ${id}`);
    this.#owed.delete(event.id);
  }

  /** A message is on disk that this person is to be told of. */
  owe(posted: Posted): void {
    if (posted.position <= this.#lastEventId || !posted.owedTo.has(this.userId)) return;
    this.#owed.set(posted.position, { posted, isLive: this.#line?.isPushed === true });
  }

  /** Everything has been sent that will be: what was owed to a connected client must have come, unless nobody may see it now. */
  settle(realm: Realm): void {
    if (this.isGone) this.#owed.clear();
    if (!this.isConnected || this.#isStalled) return;
    for (const { posted, isLive } of this.#owed.values()) {
      if (isLive ? !this.#isGone(posted) : this.#maySee(posted)) {
        this.#world.report(`[E2] message ${posted.messageId} (event ${posted.position}) never came on ${this.queueId}`);
      }
    }
    this.#owed.clear();
    const difference = this.isGone ? null : (this.known?.difference(realm, this.#world.replica) ?? null);
    if (difference !== null) this.#world.report(`[E2] on ${this.queueId} of ${this.userId} ${difference}`);
  }

  #isGone({ messageId }: Posted): boolean {
    return !this.#world.replica.has("messages", messageId);
  }

  /** A replay shows what is there still, where it was, to whom is there still. */
  #maySee(posted: Posted): boolean {
    const { replica } = this.#world;
    if (replica.get("messages", posted.messageId)?.conversationId !== posted.conversationId) return false;
    if (posted.channelId === null) return true;
    return replica.get("subscriptions", [posted.channelId, this.userId])?.isActive === true;
  }
}

function noFragments(): never {
  throw new Error("no answer here is large");
}
