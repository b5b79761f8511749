/**
 * Kills the server repeatedly while programs post and read through packages/client: each call settles once, and each
 * stream gets every message once, in order (E1, E2, D25). `KILLS` sets the number of kills (5), `SEED` their moments.
 */
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { WebSocket } from "ws";
import { connect } from "../../packages/client/src/node.ts";
import { Posters, sayLast, startReading } from "../support/client-load.ts";
import { freePort } from "../support/ports.ts";
import { startProgram } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { kill } from "./kill-load.ts";

const kills = Number(process.env["KILLS"] ?? 5);
const lanes = 8;
/** A start of the server may take long on a busy machine. */
const retryMs = 600_000;

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
  const reading = await startReading(clients);

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
  await sayLast(first);

  const posted = [...posters.ids].map(([content, id]) => ({ id, content })).sort((a, b) => a.id - b.id);
  for (const received of reading) {
    const messages = await received;
    t.strictSame(messages.slice(0, -1), posted, `${posted.length} messages, ${kills} kills: each once, in order`);
  }
});
