// A crowd of WebSocket receivers: connect (a bounded number at once), authenticate by header, register, then hand every text
// frame to the job. At the end the queues that the sockets registered are deleted, because a queue outlives its socket for
// hours by design, and the server grants each user a bounded number.

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
  readonly socket: WebSocketReceiver;
  readonly authorization: string;
  queueId: string | null;
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
      while (this.#members.length < count) await this.#openOne(this.#members.length);
    };
    await Promise.all(Array.from({ length: HANDSHAKES_AT_ONCE }, opener));
  }

  /** Closes every socket and deletes the queues. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const member of this.#members) member.socket.close();
    const requests = this.#members.flatMap(({ queueId, authorization }) =>
      queueId === null ? [] : [deleteQueueRequest(this.#address, authorization, queueId)],
    );
    if (requests.length > 0) await sendAll(this.#address, requests);
  }

  #openOne(index: number): Promise<void> {
    const { authorizations, localAddresses, path, register } = this.#receivers;
    const authorization = authorizations[index % authorizations.length] ?? null;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error("a socket got no answer to its registration")),
        HANDSHAKE_WAIT_MS,
      );
      let registered = false;
      const socket = new WebSocketReceiver(
        {
          address: this.#address,
          path,
          authorization,
          localAddress: localAddresses[index % localAddresses.length] ?? null,
        },
        {
          onOpen: () => socket.sendText(register),
          onText: (bytes, from, to) => {
            if (registered) return this.#events.onFrame(index, bytes, from, to);
            const reply = readReply(bytes.toString("utf8", from, to));
            if (reply === null) return;
            clearTimeout(timer);
            if (reply.result !== "success") return reject(new Error(`a registration was refused: ${reply.msg ?? ""}`));
            registered = true;
            member.queueId = reply.queue_id ?? null;
            resolve();
          },
          onClose: (reason) => {
            clearTimeout(timer);
            if (!registered) return reject(new Error(`a socket was refused: ${reason}`));
            this.#onLost(reason);
          },
        },
      );
      const member: Member = { socket, authorization: authorization ?? "", queueId: null };
      this.#members.push(member);
    });
  }

  #onLost(reason: string): void {
    if (this.#closing) return;
    this.#lost += 1;
    if (this.#firstClose === "") this.#firstClose = reason;
  }
}

interface RegisterReply {
  readonly ref?: string;
  readonly result?: string;
  readonly msg?: string;
  readonly queue_id?: string;
}

/** The reply to the registration, or null when the frame is something else (an event may overtake nothing, but be strict). */
function readReply(text: string): RegisterReply | null {
  const frame = JSON.parse(text) as RegisterReply;
  return frame.ref === REGISTER_REF ? frame : null;
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
