// A socket that posts: it logs in, sends one post at a time and finds the response among other frames. A crew uses it
// like an HTTP connection.

import type { Dialect, Login } from "./dialect.ts";
import type { Address, ConnectionEvents } from "./http-connection.ts";
import type { PostSockets } from "./job.ts";
import { HANDSHAKE_WAIT_MS } from "./limits.ts";
import { WebSocketReceiver } from "./websocket.ts";

export class PostSocket {
  readonly #socket: WebSocketReceiver;
  readonly #events: ConnectionEvents;
  readonly #dialect: Dialect;
  readonly #login: Login;
  readonly #timer: NodeJS.Timeout;
  #isOpen = false;

  constructor(
    options: {
      readonly address: Address;
      readonly dialect: Dialect;
      readonly sockets: PostSockets;
      readonly index: number;
    },
    events: ConnectionEvents,
  ) {
    const { address, dialect, sockets, index } = options;
    this.#events = events;
    this.#dialect = dialect;
    this.#login = {
      authorization: sockets.authorizations[index % sockets.authorizations.length] ?? "",
      register: "",
      index,
    };
    this.#timer = setTimeout(() => this.#socket.destroy(), HANDSHAKE_WAIT_MS);
    const authorization = dialect.usesHeader ? this.#login.authorization : null;
    this.#socket = new WebSocketReceiver(
      { address, path: sockets.path, authorization, subprotocol: dialect.subprotocol, localAddress: null },
      {
        onOpen: () => {
          const greeting = dialect.firstFrame(this.#login);
          if (greeting !== null) this.#socket.sendText(greeting);
        },
        onText: (bytes, from, to) => this.#onText(bytes, from, to),
        onClose: (reason) => {
          clearTimeout(this.#timer);
          events.onClose(this.#isOpen ? reason : `no log-in: ${reason}`);
        },
      },
    );
  }

  /** The caller may change `post` as soon as this returns. */
  send(post: Buffer): void {
    this.#socket.send(post);
  }

  close(): void {
    this.#socket.destroy();
  }

  #onText(bytes: Buffer, from: number, to: number): void {
    const alive = this.#dialect.aliveAnswer(bytes, from, to);
    if (alive !== null) {
      this.#socket.sendText(alive);
    } else if (this.#isOpen) {
      const answer = this.#dialect.postAnswer(bytes, from, to, this.#login);
      if (answer !== null) this.#events.onResponse(answer);
    } else {
      this.#logIn(bytes.toString("utf8", from, to));
    }
  }

  /** Throws if the login is rejected; the caller reports the error as the reason of the close. */
  #logIn(text: string): void {
    const step = this.#dialect.onLoginFrame(text, this.#login);
    if (step.kind === "say") this.#socket.sendText(step.text);
    if (step.kind !== "ready") return;
    this.#isOpen = true;
    clearTimeout(this.#timer);
    this.#events.onConnect();
  }
}
