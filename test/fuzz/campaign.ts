/**
 * Rounds of inputs against a server each: drawn from a seed, sent over several lanes, judged. At the end of a round the heap is
 * compared with the one that the same data takes in a server that has just been started: what is more is a leak.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { endpoints } from "../../schemas/index.ts";
import { bugLog } from "../support/bug-log.ts";
import { startTestServer, type Teardown } from "../support/server.ts";
import { Crew } from "./crew.ts";
import { type Input, inputsFor } from "./inputs.ts";
import { faultOf } from "./judge.ts";
import { bytesOf, Lane } from "./wire.ts";

export interface Tally {
  sent: number;
  /** Successes, for each operation. */
  readonly succeeded: Map<string, number>;
  /** How often each code was answered. */
  readonly codes: Map<string, number>;
  /** One line each, with the input that can be sent again. */
  readonly faults: string[];
  /** Heap of a server after its round beyond what its data needs, in MiB. */
  readonly surplusMib: number[];
}

const lanesCount = 16;
const faultsMax = 10;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapMib(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Each costs a password hash: they come up less often. */
const dear: ReadonlySet<string> = new Set(["fetch-api-key", "create-user"]);

/** Inputs for all operations in turn, so that one person's uploads are not all at the same time. */
function* drawn(seed: number, count: number): Generator<Input> {
  const arbitraries = endpoints.map((endpoint) => [endpoint.operationId, inputsFor(endpoint)] as const);
  const turns = 10;
  let left = count;
  for (let run = 0; left > 0; run++) {
    const lists = arbitraries.map(([operationId, arbitrary], index) => {
      const numRuns = dear.has(operationId) ? 2 : turns;
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

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export function newTally(): Tally {
  return { sent: 0, succeeded: new Map(), codes: new Map(), faults: [], surplusMib: [] };
}

/** Sends the inputs to a server of their own. */
export async function playRound(t: Teardown, inputs: Iterable<Input>, tally: Tally): Promise<void> {
  const before = heapMib();
  const bugs = bugLog();
  const server = await startTestServer(t, { log: bugs.log });
  const crew = new Crew(server);
  await crew.settle();
  const source = inputs[Symbol.iterator]();
  const lanes = Array.from({ length: lanesCount }, () => new Lane(server.url));
  await Promise.all(
    lanes.map(async (lane) => {
      for (let next = source.next(); next.done !== true; next = source.next()) {
        if (tally.faults.length >= faultsMax) return;
        await playInput(lane, crew, next.value, tally);
      }
    }),
  );
  for (const lane of lanes) lane.close();
  // Of a request, or of what it set going.
  tally.faults.push(...bugs.lines.slice(0, faultsMax).map((line) => `logged: ${line}`));
  const used = heapMib() - before;
  const { dataDir } = server;
  await server.stop();
  // What the stopped server leaves behind is in both of these, so that only what the new one needs is the difference.
  const between = heapMib();
  const fresh = await startTestServer(t, { dataDir });
  tally.surplusMib.push(used - (heapMib() - between));
  await fresh.stop();
}

async function playInput(lane: Lane, crew: Crew, input: Input, tally: Tally): Promise<void> {
  const { client, queueId } = await crew.of(input.as);
  const { authorization } = client;
  const answer = await lane.ask(bytesOf(input, { authorization, queueId }), input.method !== "HEAD");
  tally.sent++;
  const fault = answer === null ? "no answer" : faultOf(input, answer);
  if (fault !== null) {
    tally.faults.push(`${fault} (${answer?.text.slice(0, 300)})\nINPUTS='${JSON.stringify([input])}'`);
    return;
  }
  const body = answer?.headers["content-type"] === "application/json" ? parsed(answer.text) : {};
  if (body.code !== undefined) add(tally.codes, body.code);
  else if (answer?.status === 200) add(tally.succeeded, input.operationId);
  const isOwnKey = input.headers["Authorization"] === undefined && input.headers["Host"] === undefined;
  if (body.code === "INVALID_API_KEY" && isOwnKey) crew.dismiss(input.as);
  crew.review(input.as, client);
}

function parsed(text: string): { code?: string } {
  return text === "" ? {} : JSON.parse(text);
}

export interface Campaign {
  readonly seed: number;
  readonly count: number;
  /** Inputs of a server's life: with more, what was made before slows everything down. */
  readonly perRound: number;
  readonly onRound?: (tally: Tally) => void;
}

export async function playCampaign(t: Teardown, { seed, count, perRound, onRound }: Campaign): Promise<Tally> {
  const tally = newTally();
  for (let done = 0; done < count && tally.faults.length === 0; done += perRound) {
    await playRound(t, drawn(seed + done, Math.min(perRound, count - done)), tally);
    onRound?.(tally);
  }
  return tally;
}
