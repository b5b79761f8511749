/**
 * Raw bytes at the port: malformed request lines, heads, bodies and frames. uWebSockets.js rejects some itself (400,
 * 431, 505). Our code returns no 500 and no stack trace, every connection ends, and the next one is served.
 */
import fc from "fast-check";
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import { bugLog } from "../support/bug-log.ts";
import { RawConnection } from "../support/http.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer } from "../support/server.ts";
import { damage, frameStream } from "./bytes.ts";
import { inputsFor } from "./inputs.ts";
import { traces } from "./judge.ts";
import { bytesOf } from "./wire.ts";

const given = process.env["INPUTS"] ?? "";
/** In a long run a tenth of the inputs per port: a connection costs more than a request. */
const count = Number.isInteger(Number(given)) && given !== "" ? Math.ceil(Number(given) / 10) : 600;
const atOnce = 16;
const known: ReadonlySet<number> = new Set([
  100, 200, 204, 206, 302, 304, 400, 401, 403, 404, 405, 409, 413, 416, 426, 429, 431, 503, 505,
]);

const bugs = bugLog();
const server = await startTestServer(t, { log: bugs.log });
const { owner, url } = server;

/** @returns the fault in what the server wrote; null: none */
function faultOf(written: string): string | null {
  // Responses follow one another; a body cannot contain such a line.
  for (const [, status] of written.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
    if (!known.has(Number(status))) return `status ${status}`;
  }
  return traces.test(written) || written.includes("INTERNAL_SERVER_ERROR") ? "a bug of the server" : null;
}

/** Sends each value to the server, several at a time. @returns the faults, each with the bytes sent, in base64 */
async function show(values: readonly Buffer[], send: (bytes: Buffer) => Promise<string>): Promise<string[]> {
  const faults: string[] = [];
  const source = values[Symbol.iterator]();
  const lane = async () => {
    for (const bytes of source) {
      const written = await send(bytes);
      const fault = faultOf(written);
      if (fault !== null) faults.push(`${fault}: ${written.slice(0, 300)}\n${bytes.toString("base64")}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return faults;
}

t.test("[S3] malformed requests cause no 500 and no stack trace, and every connection ends", async (t) => {
  const seed = seedOf(t);
  const good = endpoints.flatMap((endpoint, index) =>
    fc.sample(inputsFor(endpoint), { seed: seed + index, numRuns: 2 }),
  );
  const sender = { authorization: owner.authorization };
  const broken = fc.tuple(fc.constantFrom(...good), damage).map(([input, spoil]) => spoil(bytesOf(input, sender)));
  const faults = await show(fc.sample(fc.noBias(broken), { seed, numRuns: count }), async (bytes) => {
    const connection = new RawConnection(url);
    await connection.write(bytes);
    connection.finish();
    await connection.closed;
    return connection.rest;
  });
  t.strictSame([...faults, ...bugs.lines], [], `SEED=${seed}`);
  t.equal((await owner.anonymous().get("/server_settings")).status, 200);
});

t.test("[S3] a malformed frame gets an error reply or closes the socket, and the server continues", async (t) => {
  const seed = seedOf(t);
  const { authorization } = server.owner;
  const faults = await show(fc.sample(fc.noBias(frameStream), { seed, numRuns: count }), async (bytes) => {
    const socket = new RawSocket(url, { authorization });
    await socket.handshake;
    socket.write(bytes);
    socket.halfClose();
    await socket.ended;
    return JSON.stringify(socket.frames);
  });
  t.strictSame([...faults, ...bugs.lines], [], `SEED=${seed}`);
  t.equal((await owner.anonymous().get("/server_settings")).status, 200);
});
