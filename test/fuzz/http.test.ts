/**
 * The fuzz over HTTP: every operation with hostile parameters drawn from its declaration, as everybody who could send it. Whatever
 * comes, the answer is the envelope with a declared code; there is no bug, no trace, no growth. `npm run test:fuzz` is the long run:
 * its rounds are played by several processes (PROCESSES, 2), and FROM goes on with a run that was stopped.
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

/** A number, or the inputs themselves: as a failure prints them. */
const given = process.env["INPUTS"] ?? "";
const count = given.startsWith("[") || given === "" ? 4000 : Number(given);
/** How many of them another run has played: whole rounds. */
const from = Number(process.env["FROM"] ?? 0);
const processes = Number(process.env["PROCESSES"] ?? 2);
const surplusMibMax = 48;
/** This server has no push service, no BigBlueButton, and gives no keys without passwords: they refuse whatever is asked. */
const alwaysRefused: ReadonlySet<string> = new Set([
  "e2ee-test-notify",
  "register-push-device",
  "create-big-blue-button-video-call",
  "dev-fetch-api-key",
  closing,
]);

/** So many inputs get every operation to its end; fewer do it for most. */
const inputsForAll = 200_000;

/** Operations that were never answered with success. */
function idleIn({ succeeded }: Tally): string[] {
  const ids = endpoints.map(({ operationId }) => operationId);
  return ids.filter((operationId) => !succeeded.has(operationId) && !alwaysRefused.has(operationId));
}

/** Rounds in turn to each process. Resolves when all have ended; one that ends badly is a fault. */
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

t.test("[issue, Fuzz] every operation answers whatever is sent in the envelope, with a declared code", async (t) => {
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
  if (idle.length === 0) t.comment("every operation was answered with success at least once");
  else t.comment(`never succeeded: ${idle.join(" ")}`);
  if (tally.sent >= inputsForAll) t.strictSame(idle, [], "every operation is got to the end of");
  else t.ok(idle.length < endpoints.length / 2, "most operations are got to the end of, too");
});
