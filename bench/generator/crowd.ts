// A crowd of WebSocket receivers: connect (a bounded number at once), authenticate by header, register, then hand every text
// frame to the job. All can be dropped at once, and come back and resume. At the end the queues that the sockets registered are deleted, because a queue outlives its socket for
// hours by design, and the server grants each user a bounded number.

import { dialects } from "../lib/dialect.ts";
import type { Address } from "../lib/http-connection.ts";
import { buildRequest } from "../lib/http-request.ts";
import { REGISTER_REF, type Receivers } from "../lib/job.ts";
import { HANDSHAKE_WAIT_MS, HANDSHAKES_AT_ONCE } from "../lib/limits.ts";
import { WebSocketReceiver } from "../lib/websocket.ts";
import { Crew, type Lane } from "./crew.ts";

const DELETE_CONNECTIONS = 16;

export interface CrowdEvents {
  /** A text frame after the registration's reply, for receiver `index`; the bytes are valid only during the call. */
  onFrame(index: number, bytes: Buffer, from: number, to: number): void;
}

interface Member {
  readonly index: number;
  readonly authorization: string;
  /** Null between its drop and its return. */
  socket: WebSocketReceiver | null;
  queueId: string | null;
}

/** How the dropped come back. */
export interface Return {
  /** Handshakes in flight at once. */
  readonly atOnce: number;
  /** The last event that receiver `index` has seen. */
  lastEventIdOf(index: number): number;
  /** The reply to a resume has come; it was begun at `startedAt`. */
  onLive(startedAt: number): void;
}

export class Crowd {
  readonly #address: Address;
  readonly #receivers: Receivers;
  readonly #events: CrowdEvents;
  readonly #members: Member[] = [];
  #closing = false;
  #lost = 0;
  #firstClose = "";

  constructor(address: Address, receivers: Receivers, events: CrowdEvents) {
    this.#address = address;
    this.#receivers = receivers;
    this.#events = events;
  }

  /** Sockets that were lost after they had registered, and why the first one was. */
  get lost(): number {
    return this.#lost;
  }

  get firstClose(): string {
    return this.#firstClose;
  }

  /** Opens sockets until `count` stand and are registered. Rejects when one of them is refused or gets no answer. */
  async openUntil(count: number): Promise<void> {
    const opener = async (): Promise<void> => {
      while (this.#members.length < count) await this.#enter(this.#newMember(), this.#receivers.register);
    };
    await Promise.all(Array.from({ length: HANDSHAKES_AT_ONCE }, opener));
  }

  /** Closes every socket and deletes the queues. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const member of this.#members) member.socket?.close();
    const requests = this.#members.flatMap(({ queueId, authorization }) =>
      queueId === null ? [] : [deleteQueueRequest(this.#address, authorization, queueId)],
    );
    if (requests.length > 0) await sendAll(this.#address, requests);
  }

  /** Drops every socket at once, without a word; each comes back with its queue. Rejects when one of them is refused. */
  async dropAndResume({ atOnce, lastEventIdOf, onLive }: Return): Promise<void> {
    const away = [...this.#members];
    for (const member of away) {
      const { socket } = member;
      member.socket = null;
      socket?.destroy();
    }
    const opener = async (): Promise<void> => {
      for (let member = away.pop(); member !== undefined; member = away.pop()) {
        const startedAt = performance.now();
        const resume = { type: "resume", ref: REGISTER_REF, queue_id: member.queueId };
        await this.#enter(member, JSON.stringify({ ...resume, last_event_id: lastEventIdOf(member.index) }));
        onLive(startedAt);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, opener));
  }

  #newMember(): Member {
    const { authorizations } = this.#receivers;
    const index = this.#members.length;
    const authorization = authorizations[index % authorizations.length] ?? "";
    const member: Member = { index, authorization, socket: null, queueId: null };
    this.#members.push(member);
    return member;
  }

  /** Opens the member's socket and sends `frame`, a registration or a resume; resolves with its reply. */
  #enter(member: Member, frame: string): Promise<void> {
    const { localAddresses, path, dialect: name = "json" } = this.#receivers;
    const dialect = dialects[name];
    const login = { authorization: member.authorization, register: frame, index: member.index };
    const authorization = dialect.usesHeader ? member.authorization : null;
    const localAddress = localAddresses[member.index % localAddresses.length] ?? null;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error("a socket got no answer to its registration")),
        HANDSHAKE_WAIT_MS,
      );
      let registered = false;
      const socket = new WebSocketReceiver(
        { address: this.#address, path, authorization, subprotocol: dialect.subprotocol, localAddress },
        {
          onOpen: () => {
            const greeting = dialect.greet(login);
            if (greeting !== null) socket.sendText(greeting);
          },
          onText: (bytes, from, to) => {
            const alive = dialect.aliveAnswer(bytes, from, to);
            if (alive !== null) return socket.sendText(alive);
            if (registered) return this.#events.onFrame(member.index, bytes, from, to);
            // A refusal is thrown, and ends the socket with its words.
            const heard = dialect.hear(bytes.toString("utf8", from, to), login);
            if (heard.kind === "say") socket.sendText(heard.text);
            if (heard.kind !== "ready") return;
            clearTimeout(timer);
            registered = true;
            member.queueId = heard.queueId;
            resolve();
          },
          onClose: (reason) => {
            clearTimeout(timer);
            if (!registered) return reject(new Error(`a socket was refused: ${reason}`));
            // One that was dropped is not the member's any more.
            if (member.socket === socket) this.#onLost(reason);
          },
        },
      );
      member.socket = socket;
    });
  }

  #onLost(reason: string): void {
    if (this.#closing) return;
    this.#lost += 1;
    if (this.#firstClose === "") this.#firstClose = reason;
  }
}

function deleteQueueRequest(address: Address, authorization: string, queueId: string): string {
  return buildRequest({
    method: "DELETE",
    path: "/api/v1/events",
    authorization,
    form: { queue_id: queueId },
    host: `${address.host}:${address.port}`,
  });
}

/** Sends each request once; answers other than 200 are of no interest here (the queue may be gone already). */
async function sendAll(address: Address, requests: readonly string[]): Promise<void> {
  const connections = Math.min(DELETE_CONNECTIONS, requests.length);
  // Lane i takes every request whose index leaves i: a cycle that is walked once.
  const cycles = Array.from({ length: connections }, (_, lane) =>
    requests.filter((_request, index) => index % connections === lane),
  );
  let settled = 0;
  let onSettled: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    onSettled = resolve;
  });
  const settle = (): void => {
    settled += 1;
    if (settled === requests.length) onSettled();
  };
  const crew = new Crew({
    address,
    cycles,
    connections,
    onReady: (lane: Lane) => {
      if (lane.turn + 1 < lane.requests.length) crew.send(lane, performance.now());
    },
    onAnswer: settle,
    onLost: (lane) => {
      if (lane.state === "busy") settle();
    },
  });
  await crew.open();
  await Promise.race([done, crew.failed]);
  crew.close();
}
