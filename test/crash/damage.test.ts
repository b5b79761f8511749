/**
 * Damage on disk (architecture, Encoding; M6): copies of a small store with flipped bits, overwritten bytes and
 * truncated files, each opened by the real program. It serves what was written, or the start, a response or `check`
 * reports the damage; no process is killed by a signal. `COPIES` sets the number of copies, `SEED` selects them.
 */
import { cpSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Random } from "../sim/random.ts";
import type { Client } from "../support/client.ts";
import { runCli, startProgram } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

const copies = Number(process.env["COPIES"] ?? 6);
const messages = 150;

/** Everything that the program serves from the store, by path; null: an error. */
type Served = ReadonlyMap<string, string | null>;

async function served(owner: Client): Promise<Served> {
  const found = new Map<string, string | null>();
  const note = async (path: string, params: Record<string, unknown>, list: string) => {
    const { status, body } = await owner.get(path, params);
    if (status === 500) {
      found.set(path, null);
      return;
    }
    if (status !== 200) throw new Error(`${path} answers ${status}`);
    for (const row of body[list]) found.set(`${path} ${row.id ?? row.user_id ?? row.stream_id}`, JSON.stringify(row));
  };
  const all = { anchor: "oldest", num_before: 0, num_after: messages * 2, allow_empty_topic_name: true };
  await note("/messages", { ...all, apply_markdown: false }, "messages");
  await note("/users", {}, "members");
  await note("/streams", {}, "streams");
  // One by one: a damaged message does not prevent reading the others.
  for (let id = 1; id <= messages; id += 10) await note("/messages", { ...all, anchor: id, num_after: 0 }, "messages");
  return found;
}

async function filledStore(t: Test): Promise<{ readonly dataDir: string; readonly reference: Served }> {
  const dataDir = temporaryFolder(t);
  const first = await startProgram(t, dataDir);
  await first.owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
  const post = (id: number) => {
    // Some contents are long enough for pages of their own.
    const content = `message ${id}: ${"soup ".repeat(id % 10 === 0 ? 900 : (id % 7) * 8)}`;
    return first.owner.post("/messages", { type: "channel", to: "kitchen", topic: `topic ${id % 9}`, content });
  };
  await Promise.all(Array.from({ length: messages }, (_, index) => post(index + 1)));
  t.equal((await first.program.end("SIGTERM")).code, 0);
  const again = await startProgram(t, dataDir);
  const reference = await served(again.owner);
  t.equal((await again.program.end("SIGTERM")).code, 0);
  t.ok(reference.size > messages);
  return { dataDir, reference };
}

/** Damages one file of a copy. @returns a description of the damage */
function damage(dataDir: string, random: Random, number: number): string {
  const name = number % 8 === 7 ? "root" : "realms/1";
  const file = join(dataDir, name, "data.mdb");
  const { size } = statSync(file);
  if (number % 4 === 3) {
    const left = random.below(size);
    truncateSync(file, left);
    return `${name} truncated to ${left} of ${size} bytes`;
  }
  const bytes = readFileSync(file);
  let at = random.below(size);
  // Empty pages contain nothing to damage.
  while (bytes[at] === 0) at = random.below(size);
  const count = number % 4 === 2 ? 8 : 1;
  for (let next = at; next < Math.min(size, at + count); next++) {
    bytes[next] = (bytes[next] as number) ^ (count === 1 ? 1 << random.below(8) : 1 + random.below(255));
  }
  writeFileSync(file, bytes);
  return `${name}: ${count} bytes from ${at} on (page ${Math.floor(at / 4096)}, byte ${at % 4096})`;
}

type Outcome = "rejected by the start" | "rejected by a response" | "found by check" | "served unaltered";

async function outcomeOf(t: Test, dataDir: string, reference: Served, what: string): Promise<Outcome> {
  const started = await startProgram(t, dataDir).catch((error: unknown) => String(error));
  if (typeof started === "string") {
    t.match(started, /data\.mdb is damaged: .* Stop the server, run .* restore a backup\.\n$/, what);
    const checked = await runCli(t, dataDir, "check");
    t.strictSame([checked.code, checked.signal], [1, null], `${what}: check reports it, too`);
    return "rejected by the start";
  }
  const found = await served(started.owner);
  const isRefused = [...found.values()].includes(null);
  for (const [name, row] of found) {
    if (row !== null && row !== reference.get(name)) t.equal(row, reference.get(name), `${what}: ${name} is altered`);
  }
  const { code, signal, stderr } = await started.program.end("SIGTERM");
  t.strictSame([code, signal], [0, null], `${what}: ${stderr}`);
  if (isRefused) {
    const received = stderr.split("\n").filter((line) => line.includes("is damaged: the row"));
    t.ok(received.length > 0, `${what}: the log says why`);
    t.equal(new Set(received.map((line) => JSON.parse(line).msg)).size, received.length, `${what}: once`);
  }
  const checked = await runCli(t, dataDir, "check");
  t.equal(checked.signal, null, what);
  if (isRefused || found.size < reference.size)
    t.equal(checked.code, 1, `${what}: check finds what was rejected or is missing`);
  if (isRefused) return "rejected by a response";
  return checked.code === 0 ? "served unaltered" : "found by check";
}

t.test("[M6] a damaged store serves what was written or reports it, and no process ends by a signal", async (t) => {
  const { dataDir, reference } = await filledStore(t);
  const seed = seedOf(t);
  const outcomes: Record<Outcome, number> = {
    "rejected by the start": 0,
    "rejected by a response": 0,
    "found by check": 0,
    "served unaltered": 0,
  };
  for (let number = 0; number < copies; number++) {
    const copy = join(temporaryFolder(t), "data");
    cpSync(dataDir, copy, { recursive: true });
    const what = `copy ${number}, ${damage(copy, new Random(seed + number), number)}`;
    const outcome = await outcomeOf(t, copy, reference, what);
    t.comment(`${what}: ${outcome}`);
    outcomes[outcome]++;
  }
  t.comment(JSON.stringify(outcomes));
});
