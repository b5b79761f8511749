/**
 * The receiving end of outgoing webhooks: a real HTTP server with programmable responses, and bots that send to it.
 * Tests wait for a request or a message, never for time.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { limits } from "../../schemas/limits.ts";
import type { WebhookDeliveryRecord } from "../../schemas/webhooks.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { type MadeBot, makeBot } from "./bots.ts";
import type { Client, Params } from "./client.ts";
import type { Teardown, TestServer } from "./server.ts";

/** Real time, in which no request to a receiver times out, however slow the machine is. */
export const patientClock: Clock = {
  ...systemClock,
  after: (milliseconds, callback) =>
    milliseconds >= limits.webhook_delivery_ms_max ? () => undefined : systemClock.after(milliseconds, callback),
};

export interface Called {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How a request is answered; a response that is not ended stays open. */
export type Behaviour = (response: ServerResponse, called: Called) => void;

/** A success with JSON. */
export function answer(body: unknown): Behaviour {
  return (response) => response.end(JSON.stringify(body));
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, text = ""): Behaviour {
  return (response) => response.writeHead(code, headers).end(text);
}

export function raw(text: string): Behaviour {
  return (response) => response.end(text);
}

export const hang: Behaviour = () => undefined;

export const hangUp: Behaviour = (response) => response.socket?.destroy();

export class Receiver {
  readonly calls: Called[] = [];
  /** Behaviours of the next requests, in order; `usual` applies when none is left. */
  readonly next: Behaviour[] = [];
  usual: Behaviour;
  port = 0;
  /** Number of connections so far. */
  connections = 0;
  readonly #open = new Set<ServerResponse>();
  readonly #waiters: (() => void)[] = [];

  private constructor(usual: Behaviour) {
    this.usual = usual;
  }

  static async start(t: Teardown, usual: Behaviour = answer({}), host = "127.0.0.1"): Promise<Receiver> {
    const receiver = new Receiver(usual);
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      receiver.#open.add(response);
      response.on("error", () => undefined);
      response.on("close", () => {
        receiver.#open.delete(response);
        receiver.#wake();
      });
      request.on("error", () => undefined);
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const called = { path: request.url ?? "", headers: request.headers, text };
        receiver.calls.push(called);
        (receiver.next.shift() ?? receiver.usual)(response, called);
        receiver.#wake();
      });
    });
    server.on("connection", () => {
      receiver.connections++;
    });
    server.listen(0, host);
    await once(server, "listening");
    receiver.port = (server.address() as AddressInfo).port;
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Number of requests without a response. */
  get open(): number {
    return this.#open.size;
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** The n-th request, past or future, from 1. */
  async call(number: number): Promise<Called> {
    await this.until(() => this.calls.length >= number);
    return this.calls[number - 1] as Called;
  }

  /** Its body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole payloads of any shape
  async payload(number: number): Promise<any> {
    return JSON.parse((await this.call(number)).text);
  }

  /** Answers the open requests. */
  release(behaviour: Behaviour): void {
    const called = { path: "", headers: {}, text: "" };
    for (const response of [...this.#open]) behaviour(response, called);
  }
}

/** An outgoing webhook bot; its name is "The <name>". */
export function webhookBot(owner: Client, name: string, url: string, more: Params = {}): Promise<MadeBot> {
  return makeBot(owner, name, { bot_type: 3, payload_url: url, ...more });
}

/** Allows the private addresses of test receivers. */
export const privateAllowed = { environment: { OUTGOING_WEBHOOK_ALLOW_PRIVATE: "true" } };

/** Rows of messages that wait or are being delivered. */
export function pendingWebhooks(server: TestServer): readonly WebhookDeliveryRecord[] {
  return server.realm.view.rows("webhookDeliveries", { start: [0], limit: 10_000 }).map(({ row }) => row);
}
