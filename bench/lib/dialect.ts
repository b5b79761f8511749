// The protocol on a WebSocket: login, keep-alive, and responses to posts. This server's protocol is one dialect. A peer
// with other frames has its own, so that the same crowd can receive from all of them and the same crew can post.

import type { Response } from "./http-response.ts";
import { REGISTER_REF } from "./job.ts";
import { xmpp } from "./xmpp.ts";

/**
 * `json`: JSON frames, credentials in the handshake's header. `socket.io`: Engine.IO 4 packets around JSON, credentials
 * in CONNECT. `xmpp`: see xmpp.ts.
 */
export type DialectName = "json" | "socket.io" | "xmpp";

/** The login: the credentials in the dialect's form, and the frame that registers for events. */
export interface Login {
  readonly authorization: string;
  readonly register: string;
  /** The socket's number among those of its kind. */
  readonly index: number;
}

/** The meaning of a frame before the login is complete. */
export type LoginStep =
  | { readonly kind: "nothing" }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "ready"; readonly queueId: string | null };

export interface Dialect {
  /** Whether the credentials are sent in the handshake's Authorization header. */
  readonly usesHeader: boolean;
  /** The subprotocol in the handshake, if there is one. */
  readonly subprotocol: string | null;
  /** The first frame to send when the socket is open; null: the server speaks first. */
  firstFrame(login: Login): string | null;
  /** Reads a frame of the login. Throws with the server's message when it is rejected. */
  onLoginFrame(text: string, login: Login): LoginStep;
  /** The reply to a keep-alive frame; null for any other frame. */
  aliveAnswer(bytes: Buffer, from: number, to: number): string | null;
  /** The response to the one post in flight; null if the frame is something else. */
  postAnswer(bytes: Buffer, from: number, to: number, login: Login): Response | null;
}

const NOTHING: LoginStep = { kind: "nothing" };

const json: Dialect = {
  usesHeader: true,
  subprotocol: null,
  firstFrame: ({ register }) => register,
  onLoginFrame: (text) => {
    // Events cannot overtake the reply, but check it anyway.
    const frame = JSON.parse(text) as { ref?: string; result?: string; msg?: string; queue_id?: string };
    if (frame.ref !== REGISTER_REF) return NOTHING;
    if (frame.result !== "success") throw new Error(`a registration was rejected: ${frame.msg ?? ""}`);
    return { kind: "ready", queueId: frame.queue_id ?? null };
  },
  aliveAnswer: () => null,
  postAnswer: () => null,
};

/** Packet types by their first characters: Engine.IO's, then Socket.IO's. The one post in flight has the number 0. */
const PACKET = { open: "0", ping: "2", pong: "3", connect: "40", refusal: "44", post: "420", answer: "430" } as const;
const PING_CODE = PACKET.ping.charCodeAt(0);

const socketIo: Dialect = {
  usesHeader: false,
  subprotocol: null,
  firstFrame: () => null,
  onLoginFrame: (text, { authorization }) => {
    if (text.startsWith(PACKET.refusal)) throw new Error(`a connection was rejected: ${text}`);
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

/** The packet of an emitted event that requests an acknowledgement, as one of a cycle. */
export function socketIoPost(event: string, ...values: readonly unknown[]): string {
  return `${PACKET.post}${JSON.stringify([event, ...values])}`;
}
