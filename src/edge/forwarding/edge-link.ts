/**
 * The edge's end of a link to the owner of organizations: the sockets of this node's clients, whose owner decides what
 * they get. A payload for many of them arrives once and is sent to each here.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import { openSocket, type SocketClient } from "../transport/socket-client.ts";
import type { NodeDestination } from "./directions.ts";
import type { LinkCounts, LinkState } from "./link-figures.ts";
import {
  type ClientProgress,
  decodeLinkMessage,
  encodeLinkMessage,
  type Form,
  type LinkMessage,
  linkPath,
  linkVersions,
  notKept,
  type OpenRequest,
  type SocketRefusal,
  slots,
} from "./link-messages.ts";
import { inChunks, LinkWatch } from "./link-watch.ts";

/** A client of this node, as a link sees it. */
export interface EdgeClient {
  accepted(protocol: string): void;
  refused(refusal: SocketRefusal): void;
  /** The node does not serve the organization. */
  elsewhere(): void;
  deliver(form: Form, payload: Buffer): void;
  end(code: number, reason: string): void;
  /** The link is closed. */
  lost(): void;
  readonly progress: Omit<ClientProgress, "id">;
}

export interface EdgeLinkOptions {
  readonly destination: NodeDestination;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly counts: LinkCounts;
  readonly reportBug: (error: unknown, what: string) => void;
  /** It takes no more clients. Called once. */
  readonly onEnd: () => void;
}

export class EdgeLink {
  /** Resolves to false if the node does not speak links, or cannot be reached. */
  readonly ready: Promise<boolean>;
  readonly #options: EdgeLinkOptions;
  readonly #carrier: SocketClient;
  #watch: LinkWatch | null = null;
  readonly #clients = new Map<number, EdgeClient>();
  #lastId = 0;
  readonly #inbox: Buffer[] = [];
  #isHandling = false;
  readonly #slots: (Buffer | null)[] = Array.from({ length: slots }, () => null);
  /** Modulo 2^32. */
  #handledBytes = 0;
  #unreportedBytes = 0;
  /** Clients whose progress the owner has to know. */
  readonly #reports = new Set<number>();
  /** Grows whenever nothing waits for the carrier. */
  #emptied = 0;
  #cancelIdle: () => void = () => undefined;
  #isOver = false;

  constructor(options: EdgeLinkOptions) {
    this.#options = options;
    const { destination, headers } = options;
    let resolve: (isReady: boolean) => void = () => undefined;
    this.ready = new Promise((done) => {
      resolve = done;
    });
    this.#carrier = openSocket(
      {
        url: `${destination.address.replace(/^http/, "ws")}${linkPath}`,
        headers,
        protocols: linkVersions,
        connectMsMax: limits.forward_connect_ms_max,
        messageBytesMax: limits.forward_link_message_bytes_max,
      },
      {
        opened: () => {
          this.#watch = new LinkWatch({
            clock: options.clock,
            beat: () => this.#sendProgress(),
            lost: () => this.terminate(),
          });
          this.#closeWhenIdle();
          resolve(true);
        },
        refused: () => {
          this.#end();
          resolve(false);
        },
        received: (message) => this.#received(message),
        closed: () => {
          if (!this.#isOver && this.#watch !== null) options.counts.lost++;
          this.#end();
          resolve(false);
        },
      },
    );
  }

  get state(): LinkState {
    const { bufferedBytes: waitingBytes } = this.#carrier;
    return { sockets: this.#clients.size, waitingBytes, silentMs: this.#watch?.silentMs ?? 0 };
  }

  /** @returns the name of the client on this link */
  open(client: EdgeClient, request: OpenRequest): number {
    this.#lastId++;
    const id = this.#lastId;
    this.#clients.set(id, client);
    this.#cancelIdle();
    if (this.#isOver) this.#options.clock.soon(() => client.lost());
    else this.#send({ kind: "open", id, request });
    return id;
  }

  /** @param sent what the link knows of the client's frames, changed by this call. @returns false if there is no room */
  frame(id: number, bytes: Uint8Array, isBinary: boolean, sent: { bytes: number; emptied: number }): boolean {
    const { bufferedBytes } = this.#carrier;
    if (bufferedBytes === 0) this.#emptied++;
    if (sent.emptied !== this.#emptied) sent.bytes = 0;
    sent.emptied = this.#emptied;
    sent.bytes += bytes.length;
    const hasRoom = bufferedBytes + bytes.length <= limits.forward_link_clients_bytes_max;
    if (!hasRoom || sent.bytes > limits.forward_link_client_bytes_max) return false;
    this.#send({ kind: "frame", id, isBinary, bytes });
    return true;
  }

  /** The client is gone. */
  leave(id: number): void {
    if (!this.#clients.delete(id)) return;
    this.#send({ kind: "gone", id });
    this.#closeWhenIdle();
  }

  /** Something of what was sent to the client waits, or waits no more. */
  report(id: number): void {
    this.#reports.add(id);
    this.#handleSoon();
  }

  terminate(): void {
    this.#carrier.terminate();
  }

  /** This node stops: its clients reconnect. */
  dismiss(): void {
    this.#end();
    this.#carrier.close(1000);
  }

  #closeWhenIdle(): void {
    this.#cancelIdle();
    if (this.#clients.size > 0 || this.#isOver) return;
    this.#cancelIdle = this.#options.clock.after(limits.forward_link_idle_ms_max, () => this.dismiss());
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch?.stop();
    this.#cancelIdle();
    this.#options.onEnd();
    this.#inbox.length = 0;
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    inChunks(this.#options.clock, clients, (client) => this.#guard(() => client.lost()));
  }

  #received(message: Buffer): void {
    this.#watch?.heard();
    this.#options.counts.received(message.length);
    this.#inbox.push(message);
    this.#handleSoon();
  }

  #handleSoon(): void {
    if (this.#isHandling || this.#isOver) return;
    this.#isHandling = true;
    this.#options.clock.soon(() => {
      this.#isHandling = false;
      this.#handleInbox();
    });
  }

  /** Others get their turn after some milliseconds. */
  #handleInbox(): void {
    const { clock } = this.#options;
    const end = clock.monotonic() + limits.gate_pass_ms_max;
    while (this.#inbox.length > 0 && clock.monotonic() < end) {
      const message = this.#inbox.shift();
      if (message === undefined) break;
      this.#guard(() => this.#handle(decodeLinkMessage(message)));
      this.#handledBytes = (this.#handledBytes + message.length) >>> 0;
      this.#unreportedBytes += message.length;
    }
    const isDue = this.#unreportedBytes > limits.forward_link_window_bytes / 8;
    if (isDue || this.#reports.size > 0) this.#sendProgress();
    if (this.#inbox.length > 0 || this.#reports.size > 0) this.#handleSoon();
  }

  #handle(message: LinkMessage): void {
    switch (message.kind) {
      case "payload":
        if (message.slot !== notKept) this.#slots[message.slot] = message.payload;
        this.#deliver(message.ids, message.form, message.payload);
        return;
      case "again":
        this.#deliver(message.ids, message.form, this.#slots[message.slot] ?? null);
        return;
      case "accepted":
        this.#clients.get(message.id)?.accepted(message.protocol);
        return;
      case "refused":
        this.#take(message.id)?.refused(message.refusal);
        return;
      case "elsewhere":
        this.#take(message.id)?.elsewhere();
        return;
      case "end":
        this.#take(message.id)?.end(message.code, message.reason);
        return;
      case "beat":
        return;
      default:
        throw new Error(`An owner sent "${message.kind}"`);
    }
  }

  #deliver(ids: readonly number[], form: Form, payload: Buffer | null): void {
    if (payload === null) throw new Error("An owner sent a payload again that it had not sent");
    for (const id of ids) {
      try {
        this.#clients.get(id)?.deliver(form, payload);
      } catch (error) {
        this.#options.reportBug(error, "a link");
      }
    }
  }

  /** The owner has no socket for it any more. */
  #take(id: number): EdgeClient | undefined {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    this.#closeWhenIdle();
    return client;
  }

  #sendProgress(): void {
    const clients: ClientProgress[] = [];
    for (const id of this.#reports) {
      if (clients.length >= limits.forward_link_progress_clients_max) break;
      this.#reports.delete(id);
      const client = this.#clients.get(id);
      if (client !== undefined) clients.push({ id, ...client.progress });
    }
    this.#unreportedBytes = 0;
    this.#send({ kind: "progress", handledBytes: this.#handledBytes, clients });
  }

  #send(message: LinkMessage): void {
    if (this.#isOver) return;
    const bytes = encodeLinkMessage(message);
    this.#options.counts.sent(bytes.length);
    this.#carrier.send(bytes, true);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.reportBug(error, "a link");
    }
  }
}
