// What is spoken on a WebSocket: how one logs in, what keeps it alive, how a post is answered. Ours is one dialect; a peer that
// wraps its frames otherwise brings another, so that the same crowd listens to all of them and the same crew posts.

import type { Response } from "./http-response.ts";
import { REGISTER_REF } from "./job.ts";
import { xmpp } from "./xmpp.ts";

/** `json`: frames of JSON, credentials in the handshake's header. `socket.io`: Engine.IO 4 packets around it, credentials in CONNECT. `xmpp`: see xmpp.ts. */
export type DialectName = "json" | "socket.io" | "xmpp";

/** Who logs in: the value that the dialect sends as credentials, and the frame that registers for events. */
export interface Login {
  readonly authorization: string;
  readonly register: string;
  /** The number of the socket among those of its kind. */
  readonly index: number;
}

/** What a frame before the end of the log-in means. */
export type Heard =
  | { readonly kind: "nothing" }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "ready"; readonly queueId: string | null };

export interface Dialect {
  /** Whether the credentials go into the handshake's Authorization header. */
  readonly usesHeader: boolean;
  /** Named in the handshake, where there is one. */
  readonly subprotocol: string | null;
  /** What is sent when the socket stands; null: the server speaks first. */
  greet(login: Login): string | null;
  /** Reads a frame of the log-in. Throws with the server's words when it refuses. */
  hear(text: string, login: Login): Heard;
  /** What a frame that only asks whether one is there is answered with; null for any other. */
  aliveAnswer(bytes: Buffer, from: number, to: number): string | null;
  /** The answer to the one post that is under way; null when the frame is something else. */
  postAnswer(bytes: Buffer, from: number, to: number, login: Login): Response | null;
}

const NOTHING: Heard = { kind: "nothing" };

const json: Dialect = {
  usesHeader: true,
  subprotocol: null,
  greet: ({ register }) => register,
  hear: (text) => {
    // An event may overtake nothing, but be strict.
    const frame = JSON.parse(text) as { ref?: string; result?: string; msg?: string; queue_id?: string };
    if (frame.ref !== REGISTER_REF) return NOTHING;
    if (frame.result !== "success") throw new Error(`a registration was refused: ${frame.msg ?? ""}`);
    return { kind: "ready", queueId: frame.queue_id ?? null };
  },
  aliveAnswer: () => null,
  postAnswer: () => null,
};

/** Types of packets by their first characters: Engine.IO's, then Socket.IO's. The one post under way has the number 0. */
const PACKET = { open: "0", ping: "2", pong: "3", connect: "40", refusal: "44", post: "420", answer: "430" } as const;
const PING_CODE = PACKET.ping.charCodeAt(0);

const socketIo: Dialect = {
  usesHeader: false,
  subprotocol: null,
  greet: () => null,
  hear: (text, { authorization }) => {
    if (text.startsWith(PACKET.refusal)) throw new Error(`a connection was refused: ${text}`);
    if (text.startsWith(PACKET.connect)) return { kind: "ready", queueId: null };
    const isOpen = text.startsWith(PACKET.open);
    return isOpen ? { kind: "say", text: `${PACKET.connect}${JSON.stringify({ key: authorization })}` } : NOTHING;
  },
  aliveAnswer: (bytes, from, to) => (to - from === 1 && bytes[from] === PING_CODE ? PACKET.pong : null),
  postAnswer: (bytes, from, to) => {
    if (bytes.toString("latin1", from, from + PACKET.answer.length) !== PACKET.answer) return null;
    const text = bytes.toString("utf8", from + PACKET.answer.length, to);
    const [{ status }] = JSON.parse(text) as [{ readonly status: number }];
    return { status, bodyBytes: to - from, failureBody: status === 200 ? "" : text };
  },
};

export const dialects: Readonly<Record<DialectName, Dialect>> = { json, "socket.io": socketIo, xmpp };

/** The packet of an emitted event that wants an answer, as one of a cycle. */
export function socketIoPost(event: string, ...values: readonly unknown[]): string {
  return `${PACKET.post}${JSON.stringify([event, ...values])}`;
}
