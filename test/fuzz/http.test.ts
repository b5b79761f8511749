/**
 * The fuzz over HTTP: every operation with hostile parameters derived from its declaration, by every kind of sender.
 * Every response is the envelope with a declared code, without a bug, a stack trace or growth of the heap. `npm run
 * test:fuzz` is the long run: several processes (PROCESSES, 2) play its rounds, and FROM continues an interrupted run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import { checkout } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import type { Teardown } from "../support/server.ts";
import { closing, perRound, playCampaign, playRound } from "./campaign.ts";
import type { Input } from "./inputs.ts";
import { include, newTally, readTally, type Tally } from "./tally.ts";

/** A number, or the inputs themselves, as a failure prints them. */
const given = process.env["INPUTS"] ?? "";
const count = given.startsWith("[") || given === "" ? 4000 : Number(given);
/** Number of inputs that another run has played: whole rounds. */
const from = Number(process.env["FROM"] ?? 0);
const processes = Number(process.env["PROCESSES"] ?? 2);
const surplusMibMax = 48;
/**
 * This server has no push service and no BigBlueButton, and issues no keys without passwords: these reject every
 * request.
 */
const alwaysRefused: ReadonlySet<string> = new Set([
  "e2ee-test-notify",
  "register-push-device",
  "create-big-blue-button-video-call",
  "dev-fetch-api-key",
  closing,
]);

/** That many inputs let every operation succeed; fewer suffice for most. */
const inputsForAll = 200_000;

/** Operations that never succeeded. */
function idleIn({ succeeded }: Tally): string[] {
  const ids = endpoints.map(({ operationId }) => operationId);
  return ids.filter((operationId) => !succeeded.has(operationId) && !alwaysRefused.has(operationId));
}

/** Distributes rounds to processes. Resolves when all have exited; a process that fails is a fault. */
async function playInProcesses(t: Teardown, seed: number, onRound: (tally: Tally) => void): Promise<void> {
  const play = async (index: number) => {
    const numbers = [seed, count, from + index * perRound, processes * perRound].map(String);
    const child = spawn(process.execPath, ["--import=tsx", "test/fuzz/rounds.ts", ...numbers], {
      cwd: checkout,
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.teardown(() => child.kill("SIGKILL"));
    const closed = once(child, "close");
    for await (const line of createInterface(child.stdout)) onRound(readTally(line));
    const [code, signal] = await closed;
    if (code !== 0)
      onRound({ ...newTally(), faults: [`a process ended with ${code ?? signal}: ${numbers.join(" ")}`] });
  };
  await Promise.all(Array.from({ length: processes }, (_, index) => play(index)));
}

t.test("[spec 7] every operation answers any input with the envelope and a declared code", async (t) => {
  const tally = newTally();
  if (given.startsWith("[")) {
    await playRound(t, JSON.parse(given) as Input[], tally);
    t.strictSame(tally.faults, []);
    return;
  }
  const seed = seedOf(t);
  const began = performance.now();
  const onRound = (round: Tally) => {
    include(tally, round);
    const perSecond = Math.round((tally.sent / (performance.now() - began)) * 1000);
    const heap = `heap ${round.surplusMib.at(-1)?.toFixed(1)} MiB`;
    t.comment(
      `${tally.sent} inputs, ${perSecond} a second, ${heap}, ${idleIn(tally).length} operations without success`,
    );
    for (const fault of round.faults) t.comment(fault);
  };
  if (count > perRound) await playInProcesses(t, seed, onRound);
  else await playCampaign(t, { seed, count, from, onRound });
  t.strictSame(tally.faults, [], `SEED=${seed} INPUTS=${count} FROM=${from}`);
  t.equal(tally.sent, Math.max(0, count - from), "all of them were sent");
  t.comment(JSON.stringify(Object.fromEntries(tally.codes)));
  t.ok(Math.max(...tally.surplusMib) < surplusMibMax, "[S3] memory holds the data and bounded caches, nothing else");
  const idle = idleIn(tally);
  if (idle.length === 0) t.comment("every operation succeeded at least once");
  else t.comment(`never succeeded: ${idle.join(" ")}`);
  if (tally.sent >= inputsForAll) t.strictSame(idle, [], "every operation succeeded");
  else t.ok(idle.length < endpoints.length / 2, "most operations succeeded");
});
