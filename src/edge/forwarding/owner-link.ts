/**
 * The owner's end of a link. Behind it each client's socket looks like one of its own; what its sessions send leaves as
 * far as the edge keeps up.
 */
import { closeCodes } from "../../../schemas/close-codes.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import {
  type HandshakeResponse,
  type SocketConnection,
  type SocketRoute,
  sendStatus,
  type TransportRequest,
} from "../transport/transport.ts";
import type { LinkCounts, LinkState } from "./link-figures.ts";
import {
  type ClientProgress,
  decodeLinkMessage,
  encodeLinkMessage,
  type Form,
  type LinkMessage,
  notKept,
  type OpenRequest,
  slots,
} from "./link-messages.ts";
import { type End, LinkQueue, type LinkQueueBounds, type LinkWriter, type Own, type Shared } from "./link-queue.ts";
import { inChunks, LinkWatch } from "./link-watch.ts";
import { LinkedRequest, LinkedResponse } from "./linked-handshake.ts";
import { LinkedSocket, type SocketLink } from "./linked-socket.ts";

export interface OwnerLinkOptions {
  readonly carrier: SocketConnection;
  readonly clock: Clock;
  readonly counts: LinkCounts;
  readonly bounds: LinkQueueBounds;
  /** Null: the organization is served elsewhere. */
  readonly routeOf: (request: TransportRequest) => SocketRoute<object> | null;
  readonly overload: (response: HandshakeResponse, request: TransportRequest) => void;
  readonly reportBug: (error: unknown, what: string) => void;
}

interface Linked {
  readonly socket: LinkedSocket;
  readonly route: SocketRoute<object>;
}

export class OwnerLink implements SocketLink, LinkWriter<LinkedSocket> {
  readonly #options: OwnerLinkOptions;
  readonly #watch: LinkWatch;
  readonly #handshakes = new Map<number, LinkedResponse>();
  readonly #sockets = new Map<number, Linked>();
  readonly #queue: LinkQueue<LinkedSocket>;
  /** Payloads that the edge remembers. */
  readonly #slots: (Buffer | null)[] = Array.from({ length: slots }, () => null);
  #nextSlot = 0;
  /** Bytes sent over the link, and those that the edge has handled, modulo 2^32. */
  #sentBytes = 0;
  #handledBytes = 0;
  /** Shared bytes since the last flush. */
  #unflushedBytes = 0;
  #isFlushDue = false;
  /** Sockets for which less waits than before. */
  readonly #relieved = new Set<LinkedSocket>();
  #flushEndsAt = 0;
  #isOver = false;

  constructor(options: OwnerLinkOptions) {
    this.#options = options;
    this.#queue = new LinkQueue(options.bounds);
    this.#watch = new LinkWatch({
      clock: options.clock,
      beat: () => this.#write({ kind: "beat" }),
      lost: () => options.carrier.end(closeCodes.goingAway.code, "silent"),
    });
  }

  /** Bytes on their way wait in part at the edge. */
  get state(): LinkState {
    const waitingBytes = this.#queue.waitingBytes + this.#underWay;
    return { sockets: this.#sockets.size, waitingBytes, silentMs: this.#watch.silentMs };
  }

  /** The edge sent a message. */
  received(bytes: Buffer): void {
    this.#options.counts.received(bytes.length);
    const message = decodeLinkMessage(bytes);
    switch (message.kind) {
      case "open":
        this.#open(message.id, message.request);
        return;
      case "frame":
        this.#frame(message.id, message.bytes, message.isBinary);
        return;
      case "gone":
        this.#gone(message.id);
        return;
      case "progress":
        this.#progressed(message.handledBytes, message.clients);
        return;
      default:
        throw new Error(`An edge sent "${message.kind}"`);
    }
  }

  /** The link is closed: its clients reconnect. */
  closed(): void {
    this.#isOver = true;
    this.#watch.stop();
    for (const response of this.#handshakes.values()) this.#guard(() => response.abort());
    this.#handshakes.clear();
    inChunks(this.#options.clock, [...this.#sockets.values()], ({ socket, route }) => this.#close(socket, route));
  }

  #open(id: number, open: OpenRequest): void {
    const request = new LinkedRequest(open);
    const route = this.#options.routeOf(request);
    if (route === null) {
      this.#write({ kind: "elsewhere", id });
      return;
    }
    const response = new LinkedResponse({
      address: "",
      refuse: (refusal) => {
        if (this.#handshakes.delete(id)) this.#write({ kind: "refused", id, refusal });
      },
    });
    const isFull = this.#handshakes.size >= limits.forward_link_handshakes_max;
    this.#handshakes.set(id, response);
    if (isFull) this.#options.overload(response, request);
    else route.upgrade(response, request, (data, protocol) => this.#accept(id, route, { data, protocol }));
  }

  #accept(id: number, route: SocketRoute<object>, { data, protocol }: { data: object; protocol: string }): void {
    if (!this.#handshakes.delete(id) || this.#isOver) return;
    const socket = new LinkedSocket(id, data, this);
    this.#sockets.set(id, { socket, route });
    this.#write({ kind: "accepted", id, protocol });
    this.#guard(() => route.open(socket));
  }

  #frame(id: number, bytes: Uint8Array, isBinary: boolean): void {
    const linked = this.#sockets.get(id);
    if (linked !== undefined) linked.route.message(linked.socket, bytes, isBinary);
  }

  #gone(id: number): void {
    const response = this.#handshakes.get(id);
    this.#handshakes.delete(id);
    response?.abort();
    const linked = this.#sockets.get(id);
    if (linked === undefined) return;
    linked.socket.isGone = true;
    this.#queue.dropLine(linked.socket);
    this.#close(linked.socket, linked.route);
  }

  #close(socket: LinkedSocket, route: SocketRoute<object>): void {
    if (socket.isClosed) return;
    socket.isClosed = true;
    this.#sockets.delete(socket.id);
    this.#guard(() => route.closed(socket));
  }

  #progressed(handledBytes: number, clients: readonly ClientProgress[]): void {
    // An edge that handles nothing of what is on its way counts as silent.
    if (handledBytes !== this.#handledBytes || this.#underWay === 0) this.#watch.heard();
    this.#handledBytes = handledBytes;
    for (const { id, takenBytes, isBehind } of clients) {
      const socket = this.#sockets.get(id)?.socket;
      if (socket === undefined) continue;
      socket.progressed(takenBytes, isBehind);
      this.#relieved.add(socket);
    }
    this.#flushSoon();
  }

  pushShared(socket: LinkedSocket, payload: Buffer, isBinary: boolean): boolean {
    if (this.#isOver || !this.#queue.pushShared(socket, payload, isBinary)) return false;
    this.#unflushedBytes += payload.length;
    // Bytes that were not flushed yet do not count as buffered.
    if (this.#unflushedBytes >= limits.forward_link_shared_message_bytes_max) this.#flush();
    this.#flushSoon();
    return true;
  }

  pushOwn(socket: LinkedSocket, message: Own): boolean {
    if (this.#isOver) return false;
    while (!this.#queue.pushOwn(socket, message)) {
      const largest = this.#queue.largest();
      if (largest === null || largest === socket) return false;
      // The one who has most waiting makes room.
      this.#queue.dropLine(largest);
      this.end(largest, closeCodes.slowReader);
    }
    this.#flushSoon();
    return true;
  }

  end(socket: LinkedSocket, end: End): void {
    const linked = this.#sockets.get(socket.id);
    if (!this.#isOver) this.#queue.pushEnd(socket, end);
    this.#flushSoon();
    if (linked !== undefined) this.#close(socket, linked.route);
  }

  #flushSoon(): void {
    if (this.#isFlushDue || this.#isOver) return;
    this.#isFlushDue = true;
    this.#options.clock.soon(() => {
      this.#isFlushDue = false;
      this.#flush();
      this.#notify();
    });
  }

  #flush(): void {
    if (this.#isOver) return;
    this.#unflushedBytes = 0;
    this.#flushEndsAt = this.#options.clock.monotonic() + limits.gate_pass_ms_max;
    this.#queue.flush(this, this.#relieved);
    // Only its time was over.
    if (!this.#queue.isEmpty && this.#underWay < limits.forward_link_window_bytes / 2) this.#flushSoon();
  }

  /** Sessions may send more. Never within a call of theirs. */
  #notify(): void {
    const relieved = [...this.#relieved];
    this.#relieved.clear();
    for (const { id } of relieved) {
      const linked = this.#sockets.get(id);
      if (linked !== undefined) this.#guard(() => linked.route.drained(linked.socket));
    }
  }

  get #underWay(): number {
    return (this.#sentBytes - this.#handledBytes) >>> 0;
  }

  hasRoom(windowBytes: number): boolean {
    return this.#underWay < windowBytes && this.#options.clock.monotonic() < this.#flushEndsAt;
  }

  shared({ payload, isBinary, receivers }: Shared<LinkedSocket>): void {
    const ids: number[] = [];
    for (const socket of receivers) {
      if (socket.isGone) continue;
      socket.handedOver(payload.length);
      ids.push(socket.id);
    }
    if (ids.length === 0) return;
    const form: Form = { part: "whole", isBinary };
    const known = this.#slots.findIndex((kept) => kept !== null && (kept === payload || kept.equals(payload)));
    if (known >= 0) {
      this.#write({ kind: "again", form, slot: known, ids });
      return;
    }
    const slot = this.#nextSlot;
    this.#nextSlot = (slot + 1) % slots;
    this.#slots[slot] = payload;
    this.#write({ kind: "payload", form, slot, ids, payload });
  }

  own(socket: LinkedSocket, { part, isBinary, payload }: Own): void {
    socket.handedOver(payload.length);
    this.#write({ kind: "payload", form: { part, isBinary }, slot: notKept, ids: [socket.id], payload });
  }

  ended(socket: LinkedSocket, { code, reason }: End): void {
    this.#write({ kind: "end", id: socket.id, code, reason });
  }

  #write(message: LinkMessage): void {
    if (this.#isOver) return;
    const bytes = encodeLinkMessage(message);
    this.#sentBytes = (this.#sentBytes + bytes.length) >>> 0;
    this.#options.counts.sent(bytes.length);
    // A carrier that drops a message closes itself.
    if (this.#options.carrier.send(bytes, true) === sendStatus.dropped) this.#isOver = true;
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.reportBug(error, "a socket of an edge");
    }
  }
}
