// A crowd of WebSocket receivers: connects a bounded number at once, authenticates by header, registers, and passes
// every text frame to the job. All sockets can be dropped at once and resume. At the end their queues are deleted,
// because a queue outlives its socket for hours and the server bounds the queues per user.

import { dialects } from "../lib/dialects.ts";
import type { Address } from "../lib/http-connection.ts";
import { buildRequest } from "../lib/http-request.ts";
import { REGISTER_REF, type Receivers } from "../lib/job.ts";
import { HANDSHAKE_WAIT_MS, HANDSHAKES_AT_ONCE } from "../lib/limits.ts";
import { WebSocketReceiver } from "../lib/websocket.ts";
import { ConnectionPool, type PooledConnection } from "./connection-pool.ts";

const DELETE_CONNECTIONS = 16;

export interface ReceiverPoolEvents {
  /** A text frame after the registration's reply, for receiver `index`; the bytes are valid only during the call. */
  onFrame(index: number, bytes: Buffer, from: number, to: number): void;
}

interface Member {
  readonly index: number;
  readonly authorization: string;
  /** null: dropped, and not resumed yet. */
  socket: WebSocketReceiver | null;
  queueId: string | null;
}

/** How dropped sockets resume. */
export interface Return {
  /** Concurrent handshakes. */
  readonly atOnce: number;
  /** The last event that receiver `index` has seen. */
  lastEventIdOf(index: number): number;
  /** The reply to a resume has arrived; the connection was started at `startedAt`. */
  onLive(startedAt: number): void;
}

export class ReceiverPool {
  readonly #address: Address;
  readonly #receivers: Receivers;
  readonly #events: ReceiverPoolEvents;
  readonly #members: Member[] = [];
  #closing = false;
  #lost = 0;
  #firstClose = "";

  constructor(address: Address, receivers: Receivers, events: ReceiverPoolEvents) {
    this.#address = address;
    this.#receivers = receivers;
    this.#events = events;
  }

  /** Number of sockets lost after they had registered, and the reason of the first loss. */
  get lost(): number {
    return this.#lost;
  }

  get firstClose(): string {
    return this.#firstClose;
  }

  /** Opens sockets until `count` are registered. Rejects when one is rejected or gets no reply. */
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
    const queues = this.#members.flatMap(({ queueId, authorization }) =>
      queueId === null ? [] : [{ queueId, authorization }],
    );
    await deleteQueues(this.#address, queues);
  }

  /** Drops every socket at once without a close frame; each resumes its queue. Rejects when one is rejected. */
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
    const { authorizations, firstSocket = 0 } = this.#receivers;
    const index = this.#members.length;
    const authorization = authorizations[(firstSocket + index) % authorizations.length] ?? "";
    const member: Member = { index, authorization, socket: null, queueId: null };
    this.#members.push(member);
    return member;
  }

  /** Opens the member's socket and sends `frame`, a registration or a resume; resolves with its reply. */
  #enter(member: Member, frame: string): Promise<void> {
    const { localAddresses, path, dialect: name = "json", firstSocket = 0, ports = [] } = this.#receivers;
    const dialect = dialects[name];
    const socketNumber = firstSocket + member.index;
    const login = { authorization: member.authorization, register: frame, index: socketNumber };
    const authorization = dialect.usesHeader ? member.authorization : null;
    const localAddress = localAddresses[socketNumber % localAddresses.length] ?? null;
    const address = { ...this.#address, port: ports[socketNumber % ports.length] ?? this.#address.port };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("a socket got no reply to its registration")), HANDSHAKE_WAIT_MS);
      let registered = false;
      const socket = new WebSocketReceiver(
        { address, path, authorization, subprotocol: dialect.subprotocol, localAddress },
        {
          onOpen: () => {
            const greeting = dialect.firstFrame(login);
            if (greeting !== null) socket.sendText(greeting);
          },
          onText: (bytes, from, to) => {
            const alive = dialect.aliveAnswer(bytes, from, to);
            if (alive !== null) return socket.sendText(alive);
            if (registered) return this.#events.onFrame(member.index, bytes, from, to);
            // A rejection is thrown, and closes the socket with its message.
            const step = dialect.onLoginFrame(bytes.toString("utf8", from, to), login);
            if (step.kind === "say") socket.sendText(step.text);
            if (step.kind !== "ready") return;
            clearTimeout(timer);
            registered = true;
            member.queueId = step.queueId;
            resolve();
          },
          onClose: (reason) => {
            clearTimeout(timer);
            if (!registered) return reject(new Error(`a socket was rejected: ${reason}`));
            // A dropped socket does not belong to the member any more.
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

/** Deletes queues, each as its owner. */
export async function deleteQueues(
  address: Address,
  queues: readonly { readonly queueId: string; readonly authorization: string }[],
): Promise<void> {
  const requests = queues.map(({ queueId, authorization }) => deleteQueueRequest(address, authorization, queueId));
  if (requests.length > 0) await sendAll(address, requests);
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

/** Sends each request once and ignores responses other than 200 (the queue may be gone already). */
async function sendAll(address: Address, requests: readonly string[]): Promise<void> {
  const connections = Math.min(DELETE_CONNECTIONS, requests.length);
  // Lane i sends every request whose index modulo the number of lanes is i, each once.
  const cycles = Array.from({ length: connections }, (_, pooled) =>
    requests.filter((_request, index) => index % connections === pooled),
  );
  let finished = 0;
  let onFinished: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    onFinished = resolve;
  });
  const finishOne = (): void => {
    finished += 1;
    if (finished === requests.length) onFinished();
  };
  const pool = new ConnectionPool({
    address,
    cycles,
    connections,
    onReady: (pooled: PooledConnection) => {
      if (pooled.turn + 1 < pooled.requests.length) pool.send(pooled, performance.now());
    },
    onAnswer: finishOne,
    onLost: (pooled) => {
      if (pooled.state === "busy") finishOne();
    },
  });
  await pool.open();
  await Promise.race([done, pool.failed]);
  pool.close();
}
