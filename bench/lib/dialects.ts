// The dialects by their names.

import type { Dialect, DialectName, LoginStep } from "./dialect.ts";
import { REGISTER_REF } from "./job.ts";
import { xmpp } from "./xmpp.ts";

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
