/** Programs that post and read through packages/client while the server goes away and comes back. */
import type { Client } from "../../packages/client/src/node.ts";

const last = "the last message";

/** Programs that post, each one message after the other, until they are stopped. */
export class Posters {
  readonly ids = new Map<string, number>();
  isStopped = false;
  #waiting: { count: number; resolve: () => void } | null = null;

  async run(client: Client, lane: number): Promise<void> {
    for (let number = 0; !this.isStopped; number++) {
      const content = `lane ${lane}, ${number}`;
      const { id } = await client.call("POST /messages", { type: "channel", to: "general", topic: "load", content });
      this.ids.set(content, id);
      if (this.ids.size >= (this.#waiting?.count ?? Number.POSITIVE_INFINITY)) this.#waiting?.resolve();
    }
  }

  /** Resolves after this many more posts. */
  more(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { count: this.ids.size + count, resolve };
    });
  }
}

async function readAll(client: Client, onRegistered: () => void) {
  const received: { id: number; content: string }[] = [];
  for await (const { message } of client.events({ event_types: ["message"], onRegistered })) {
    received.push({ id: message.id, content: message.content });
    if (message.content === last) break;
  }
  return received;
}

/** Ends the readers. */
export function sayLast(client: Client): Promise<unknown> {
  return client.call("POST /messages", { type: "channel", to: "general", topic: "load", content: last });
}

/** Starts a reader for each client. @returns when all are registered: what each will have received */
export async function startReading(clients: readonly Client[]) {
  const reading = clients.map((client) => {
    let isReady: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    return { ready, received: readAll(client, () => isReady()) };
  });
  await Promise.all(reading.map(({ ready }) => ready));
  return reading.map(({ received }) => received);
}
