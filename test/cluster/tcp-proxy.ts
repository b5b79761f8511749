/**
 * A network between a client and a server on this machine. What is cut is not lost: it waits and arrives later, as it does
 * when TCP sends again.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Teardown } from "../support/server.ts";

/** `outward` is from the client to the server. */
export type Weather = "good" | "cut" | "cut outward" | "cut inward" | "slow";

const slowMs = 150;

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export class TcpProxy {
  readonly port: number;
  readonly #pairs = new Set<Pair>();
  #weather: Weather = "good";

  private constructor(port: number) {
    this.port = port;
  }

  static async start(t: Teardown, targetPort: number): Promise<TcpProxy> {
    const listener = createServer({ allowHalfOpen: true });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const proxy = new TcpProxy((listener.address() as AddressInfo).port);
    listener.on("connection", (client) =>
      proxy.#join(client, connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true })),
    );
    t.teardown(() => {
      listener.close();
      for (const { client, server } of proxy.#pairs) for (const socket of [client, server]) socket.destroy();
    });
    return proxy;
  }

  /** Breaks all connections. */
  end(): void {
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.destroy();
  }

  set weather(weather: Weather) {
    this.#weather = weather;
    for (const pair of this.#pairs) this.#apply(pair);
  }

  #join(client: Socket, server: Socket): void {
    const pair = { client, server };
    this.#pairs.add(pair);
    client.on("close", () => this.#pairs.delete(pair));
    this.#pass(client, server);
    this.#pass(server, client);
    this.#apply(pair);
  }

  #pass(from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on("error", () => to.destroy());
    from.on("data", (bytes: Buffer) => {
      if (this.#weather === "slow") setTimeout(() => to.write(bytes), slowMs);
      else to.write(bytes);
    });
    // What a program has sent before it ended still arrives, after the cut.
    from.on("end", () => to.end());
  }

  #apply({ client, server }: Pair): void {
    const weather = this.#weather;
    if (weather === "cut" || weather === "cut outward") client.pause();
    else client.resume();
    if (weather === "cut" || weather === "cut inward") server.pause();
    else server.resume();
  }
}
