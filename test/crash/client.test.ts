/**
 * Kills the server repeatedly while programs post and read through packages/client: each call settles once, and each
 * stream gets every message once, in order (E1, E2, D25). `KILLS` sets the number of kills (5), `SEED` their moments.
 */
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { WebSocket } from "ws";
import { type Client, connect } from "../../packages/client/src/node.ts";
import { freePort, startProgram } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { kill } from "./kill-load.ts";

const kills = Number(process.env["KILLS"] ?? 5);
const lanes = 8;
/** A start of the server may take long on a busy machine. */
const retryMs = 600_000;
const last = "the last message";

/** Programs that post, each one message after the other, until they are stopped. */
class Posters {
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

t.test("[E1, E2, D25] through kills under load a client loses and doubles neither posts nor events", async (t) => {
  const dataDir = temporaryFolder(t);
  const environment = { PORT: String(await freePort()) };
  let server = await startProgram(t, dataDir, environment);
  const zuliprc = join(dataDir, "zuliprc");
  const clients = [
    await connect(zuliprc, { webSocket: WebSocket, retryMs }),
    await connect(zuliprc, { webSocket: null, retryMs }),
  ];
  const [first] = clients;
  if (first === undefined) throw new Error("there is no client");
  const reading = clients.map((client) => {
    let isReady: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      isReady = resolve;
    });
    return { ready, received: readAll(client, () => isReady()) };
  });
  await Promise.all(reading.map(({ ready }) => ready));

  const posters = new Posters();
  const posting = Promise.all(Array.from({ length: lanes }, (_, lane) => posters.run(first, lane)));
  for (const { acknowledgements, passes } of fc.sample(kill, { numRuns: kills, seed: seedOf(t) })) {
    await posters.more(acknowledgements);
    for (let pass = 0; pass < passes; pass++) await new Promise<void>((resolve) => setImmediate(resolve));
    t.equal((await server.program.end("SIGKILL")).signal, "SIGKILL");
    server = await startProgram(t, dataDir, environment);
  }
  await posters.more(lanes);
  posters.isStopped = true;
  await posting;
  await first.call("POST /messages", { type: "channel", to: "general", topic: "load", content: last });

  const posted = [...posters.ids].map(([content, id]) => ({ id, content })).sort((a, b) => a.id - b.id);
  for (const { received } of reading) {
    const messages = await received;
    t.strictSame(messages.slice(0, -1), posted, `${posted.length} messages, ${kills} kills: each once, in order`);
  }
});
