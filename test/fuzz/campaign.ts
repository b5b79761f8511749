/**
 * Rounds of inputs, each against a new server: drawn from a seed, sent over several lanes, judged. At the end of a
 * round the heap is compared with that of a restarted server with the same data; what exceeds it is a leak.
 */
import { rmSync } from "node:fs";
import fc from "fast-check";
import { endpoints } from "../../schemas/index.ts";
import { bugLog } from "../support/bug-log.ts";
import { heapMib } from "../support/heap.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";
import { type Input, inputsFor } from "./inputs.ts";
import { faultOf } from "./judge.ts";
import { Senders } from "./senders.ts";
import { add, newTally, type Tally } from "./tally.ts";
import { filledIn } from "./things.ts";
import { knownPassword } from "./vocabulary.ts";
import { bytesOf, Lane } from "./wire.ts";

const lanesCount = 16;
const faultsMax = 10;

const methods = new Map(endpoints.map(({ operationId, method }) => [operationId, method as string]));

/** Operations that cost a password hash, so they are drawn less often. */
const expensive: ReadonlySet<string> = new Set(["fetch-api-key", "create-user"]);

/** The operation that deactivates the organization and thereby ends the round. */
export const closing = "deactivate-realm";

/** Built once: it takes a second. */
let made: readonly (readonly [operationId: string, arbitrary: fc.Arbitrary<Input>])[] | null = null;

function arbitrariesOf(): NonNullable<typeof made> {
  made ??= endpoints
    .filter(({ operationId }) => operationId !== closing)
    .map((endpoint) => [endpoint.operationId, inputsFor(endpoint)] as const);
  return made;
}

/** Inputs for all operations in turn, so that one user's uploads do not coincide. */
function* drawn(seed: number, count: number): Generator<Input> {
  const arbitraries = arbitrariesOf();
  const turns = 10;
  let left = count;
  for (let run = 0; left > 0; run++) {
    const lists = arbitraries.map(([operationId, arbitrary], index) => {
      const numRuns = expensive.has(operationId) ? 2 : turns;
      return fc.sample(arbitrary, { seed: seed + run * endpoints.length + index, numRuns });
    });
    for (let turn = 0; turn < turns; turn++) {
      for (const list of lists) {
        const input = list[turn];
        if (input === undefined || left === 0) continue;
        left--;
        yield input;
      }
    }
  }
}

/** Sends the inputs to a new server. */
export async function playRound(t: Teardown, inputs: Iterable<Input>, tally: Tally): Promise<void> {
  const before = heapMib();
  const bugs = bugLog();
  const dataDir = temporaryFolder(t, { inMemory: true });
  const environment = { OWNER_PASSWORD: knownPassword };
  const server = await startTestServer(t, { log: bugs.log, environment, dataDir });
  const senders = new Senders(server);
  await senders.settle();
  const source = inputs[Symbol.iterator]();
  const lanes = Array.from({ length: lanesCount }, () => new Lane(server.url));
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = source.next(); next.done !== true; next = source.next()) {
        if (tally.faults.length >= faultsMax) return;
        await playInput(lane, senders, next.value, tally);
      }
    }),
  );
  for (const lane of lanes) lane.close();
  // Bugs in the log, of a request or of work that it started.
  tally.faults.push(...bugs.lines.slice(0, faultsMax).map((line) => `logged: ${line}`));
  const used = heapMib() - before;
  await server.stop();
  // Objects that the stopped server leaves behind are in both measurements, so the difference is the heap of the new
  // server.
  const between = heapMib();
  const fresh = await startTestServer(t, { dataDir });
  tally.surplusMib.push(used - (heapMib() - between));
  await fresh.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function playInput(lane: Lane, senders: Senders, drawn: Input, tally: Tally): Promise<void> {
  const client = await senders.of(drawn.as);
  const { authorization, userId } = client;
  const input = filledIn(drawn, (thing) => senders.things.say(userId, thing));
  const answer = await lane.ask(bytesOf(input, { authorization }), input.method !== "HEAD");
  tally.sent++;
  const fault = answer === null ? "no answer" : faultOf(input, answer);
  if (fault !== null) {
    tally.faults.push(`${fault} (${answer?.text.slice(0, 300)})\nINPUTS='${JSON.stringify([input])}'`);
    return;
  }
  const body = answer?.headers["content-type"] === "application/json" ? parsed(answer.text) : {};
  if (body.code !== undefined) add(tally.codes, body.code);
  else if ((answer?.status === 200 || answer?.status === 302) && isMeant(input)) {
    add(tally.succeeded, input.operationId);
    senders.things.learn(userId, input, body);
  }
  const isOwnKey = input.headers["Authorization"] === undefined && input.headers["Host"] === undefined;
  if (body.code === "INVALID_API_KEY" && isOwnKey) senders.replace(input.as);
  senders.checkSender(input.as, client);
}

/** Whether the operation's own method was used: with another method it may be another operation's success. */
function isMeant({ operationId, method }: Input): boolean {
  return methods.get(operationId) === method;
}

function parsed(text: string): { code?: string } {
  return text === "" ? {} : JSON.parse(text);
}

/** The rounds of a long run. */
export interface Campaign {
  readonly seed: number;
  readonly count: number;
  /** The first input to play, and the distance to the next round: each of several processes plays its own. */
  readonly from?: number;
  readonly step?: number;
  readonly onRound: (tally: Tally) => void;
}

/** Inputs per server: with more, the accumulated data slows everything down. */
export const perRound = 20_000;

/** Ends early after a round with a fault. */
export async function playCampaign(t: Teardown, campaign: Campaign): Promise<void> {
  const { seed, count, from = 0, step = perRound, onRound } = campaign;
  // Before any heap is measured.
  for (const [, arbitrary] of arbitrariesOf()) fc.sample(arbitrary, { seed, numRuns: 1 });
  for (let done = from; done < count; done += step) {
    const tally = newTally();
    await playRound(t, drawn(seed + done, Math.min(perRound, count - done)), tally);
    onRound(tally);
    if (tally.faults.length > 0) return;
  }
}
