// The protocol on a WebSocket: login, keep-alive, and responses to posts. This server's protocol is one dialect. A peer
// with other frames has its own (dialects.ts), so that the same crowd can receive from all and the same crew can post.

import type { Response } from "./http-response.ts";

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
