/**
 * The server is replaced under load, while programs post and read through packages/client: the new one is started, waits
 * for the data folder, and the one before is stopped with SIGTERM. OLDER names a checkout of an older revision,
 * installed, that is replaced by this one. WAITS=no starts the new one when the one before has ended.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { WebSocket } from "ws";
import { connect } from "../../packages/client/src/node.ts";
import { limits } from "../../schemas/limits.ts";
import { Posters, sayLast, startReading } from "../support/client-load.ts";
import { freePort } from "../support/ports.ts";
import { checkout, Program, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const older = process.env["OLDER"] ?? checkout;
const waits = process.env["WAITS"] !== "no";
const lanes = 8;
/** A start of the server may take long on a busy machine. */
const retryMs = 600_000;
const probeMs = 500;

/** Asks again and again, each time on a connection of its own. */
class Probe {
  isStopped = false;
  /** The longest time between two answers. */
  gapMs = 0;

  async run(url: string): Promise<void> {
    let answeredAt = performance.now();
    while (!this.isStopped) {
      const isAnswered = await fetch(`${url}/health`, {
        headers: { connection: "close" },
        signal: AbortSignal.timeout(probeMs),
      }).then(
        ({ status }) => status === 200,
        () => false,
      );
      const now = performance.now();
      if (!isAnswered) continue;
      this.gapMs = Math.max(this.gapMs, now - answeredAt);
      answeredAt = now;
    }
  }
}

t.test("[E1, E2, D25] while a server is replaced by a newer one, clients lose and double nothing", async (t) => {
  const dataDir = temporaryFolder(t);
  const environment = {
    PORT: String(await freePort()),
    RATE_LIMITS: "off",
    WAIT_FOR_LOCK_SECONDS: String(limits.data_folder_wait_seconds_max),
  };
  const before = await startProgram(t, dataDir, environment, older);
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
  const probe = new Probe();
  const probing = probe.run(before.url);
  await posters.more(lanes * 10);

  const start = () => new Program(t, process.execPath, ["colloquy.mjs"], { ...environment, DATA_DIR: dataDir });
  const prepared = waits ? start() : null;
  await prepared?.printed(/^Prepared: process \d+ is running on this data folder/m);
  const stoppedFrom = performance.now();
  t.equal((await before.program.end("SIGTERM")).code, 0);
  const stopped = performance.now();
  const after = prepared ?? start();
  await after.printed(/is at \S+\n/);
  const started = performance.now();
  if (older === checkout) t.equal(readFileSync(join(dataDir, "server.pid"), "utf8"), `${after.pid}\n`);
  await posters.more(lanes * 10);
  probe.isStopped = true;
  posters.isStopped = true;
  await Promise.all([posting, probing]);
  await sayLast(first);

  const posted = [...posters.ids].map(([content, id]) => ({ id, content })).sort((a, b) => a.id - b.id);
  for (const received of reading) {
    t.strictSame((await received).slice(0, -1), posted, `${posted.length} messages, each once and in order`);
  }
  const [stopMs, startMs] = [stopped - stoppedFrom, started - stoppedFrom].map(Math.round);
  t.comment(
    `${Math.round(probe.gapMs)} ms without an answer; SIGTERM: ended after ${stopMs}, served after ${startMs} ms`,
  );
  t.equal((await after.end("SIGTERM")).code, 0);
});
