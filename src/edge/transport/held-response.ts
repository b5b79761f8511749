/**
 * A request of this process to itself that is never answered, for the cork of its response. A handshake that is accepted
 * in a later pass of the loop is upgraded within that cork: within the cork of its own response the library may close
 * the new socket, and without any it prints a warning (pitfalls 2.3).
 */

import type { HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";

type Library = typeof import("uWebSockets.js");

/** The overload of `listen` that the library has but its typings lack (pitfalls 0). */
export type ListenOnHost = (
  host: string,
  port: number,
  options: number,
  callback: (socket: us_listen_socket | false) => void,
) => void;

/** Exported by the library but missing in its typings: rejects a second listener on the port. */
export const LIBUS_LISTEN_EXCLUSIVE_PORT = 1;

const loopback = "127.0.0.1";

export class KeptResponse {
  readonly #app: TemplatedApp;
  #response: HttpResponse | null = null;

  private constructor(app: TemplatedApp) {
    this.#app = app;
  }

  /** Listens on loopback until its own request has arrived. If that fails, `cork` only calls. */
  static async open(library: Library): Promise<KeptResponse> {
    const kept = new KeptResponse(library.App());
    await kept.#ask(library);
    return kept;
  }

  #ask(library: Library): Promise<void> {
    const path = `/${randomUUID()}`;
    let endListening: () => void = () => undefined;
    return new Promise((resolve) => {
      this.#app.any("/*", (response, request) => {
        response.onAborted(() => {
          if (this.#response === response) this.#response = null;
        });
        // Another program of this machine.
        if (request.getUrl() !== path) response.close();
        else {
          this.#response = response;
          endListening();
        }
        resolve();
      });
      (this.#app as TemplatedApp & { readonly listen: ListenOnHost }).listen(
        loopback,
        0,
        LIBUS_LISTEN_EXCLUSIVE_PORT,
        (listener) => {
          if (!listener) {
            resolve();
            return;
          }
          endListening = () => library.us_listen_socket_close(listener);
          const client = connect(library.us_socket_local_port(listener), loopback);
          client.on("error", () => undefined);
          client.on("close", () => resolve());
          client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
          client.unref();
        },
      );
    });
  }

  cork(work: () => void): void {
    if (this.#response === null) work();
    else this.#response.cork(work);
  }

  close(): void {
    this.#app.close();
  }
}
