/**
 * Random lives of a journal's folder, compared with a plain list: batches, releases, crashes, power cuts, ends in order,
 * and earlier owners that still write. What a start finds is what the list says.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t from "tap";
import { JournalLost, type Recorded, type RecordNumber } from "../../src/durability/journal/journal.ts";
import { Program } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { describeRecord } from "./contract.ts";
import { SyncJournal, smallSegment } from "./sync-journal.ts";

const rounds_max = 20;

type Step =
  | { readonly kind: "write" | "cut" | "late"; readonly sizes: readonly number[]; readonly coins: readonly boolean[] }
  | { readonly kind: "release"; readonly share: number }
  | { readonly kind: "rest" | "crash" | "close" };

const sizes = fc.array(fc.oneof({ weight: 20, arbitrary: fc.nat(400) }, fc.nat(2 * smallSegment)), {
  minLength: 1,
  maxLength: 5,
});
const coins = fc.array(fc.boolean(), { minLength: 1, maxLength: 16 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant("write" as const), sizes, coins }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cut" as const), sizes, coins }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("late" as const), sizes, coins }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("release" as const), share: fc.integer({ min: 0, max: 100 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("rest" as const, "crash" as const, "close" as const) }) },
);

class Life {
  readonly #folder: string;
  /** Every record that counts, from position 1 on. */
  readonly #records: Recorded[] = [];
  readonly #earlier: SyncJournal[] = [];
  #journal: SyncJournal;
  #released: RecordNumber = 0;
  #counts: Record<string, number>;

  constructor(folder: string, counts: Record<string, number>) {
    this.#folder = folder;
    this.#counts = counts;
    this.#journal = new SyncJournal(folder);
  }

  take(step: Step): void {
    this.#counts[step.kind] = (this.#counts[step.kind] ?? 0) + 1;
    if (step.kind === "write") this.#records.push(...this.#journal.write(step.sizes));
    else if (step.kind === "rest") this.#journal.rest();
    else if (step.kind === "cut") this.#cut(step.sizes, step.coins);
    else if (step.kind === "late") this.#writeLate(step.sizes);
    else if (step.kind === "release") {
      this.#released = Math.max(this.#released, Math.floor((this.#records.length * step.share) / 100));
      this.#journal.release(this.#released);
    } else if (step.kind === "crash") {
      this.#earlier.push(this.#journal);
      this.#reopen([]);
    } else {
      this.#journal.close();
      this.#reopen([]);
    }
  }

  end(): void {
    this.#journal.close();
    this.#reopen([]);
  }

  /** The power fails while a batch is written: each sector that it changed has the old or the new contents. */
  #cut(sizes: readonly number[], coins: readonly boolean[]): void {
    const before = filesIn(this.#folder);
    const written = this.#journal.write(sizes);
    const after = filesIn(this.#folder);
    const isTearable = [...after.keys()].every((name) => before.has(name));
    if (!isTearable) {
      // It went on to another segment. Whether the disk has that, too, is for power.test.ts.
      this.#records.push(...written);
      return;
    }
    let sector = 0;
    for (const [name, bytes] of after) {
      const old = before.get(name) as Buffer;
      for (let at = 0; at < bytes.length; at += 512) {
        const isOld = Buffer.compare(bytes.subarray(at, at + 512), old.subarray(at, at + 512)) === 0;
        if (!isOld && coins[sector++ % coins.length] === true) old.copy(bytes, at, at, Math.min(at + 512, old.length));
      }
      writeFileSync(join(this.#folder, name), bytes);
    }
    this.#reopen(written);
  }

  /** An owner that was stopped for a while goes on. */
  #writeLate(sizes: readonly number[]): void {
    const owner = this.#earlier.at(-1);
    if (owner === undefined) return;
    this.#earlier.pop();
    try {
      owner.write(sizes);
    } catch (error) {
      if (error instanceof JournalLost && error.reason === "takenOver") return;
      throw error;
    }
    throw new Error("an earlier owner could announce records");
  }

  /** @param maybe records that may have been written, in part */
  #reopen(maybe: readonly Recorded[]): void {
    this.#journal = new SyncJournal(this.#folder);
    const { found } = this.#journal;
    const { end } = this.#journal.recovered;
    if (end < this.#records.length || end > this.#records.length + maybe.length) {
      throw new Error(`the journal ends with ${end}, ${this.#records.length} were announced`);
    }
    this.#records.push(...maybe.slice(0, end - this.#records.length));
    const first = found[0]?.position ?? end + 1;
    if (first > this.#released + 1) throw new Error(`it begins with ${first}, ${this.#released} were released`);
    const expected = this.#records.slice(first - 1).map(describeRecord);
    const differing = expected.findIndex((one, index) => one !== describeRecord(found[index] as Recorded));
    if (differing >= 0 || found.length !== expected.length) {
      throw new Error(`${found.length} records from ${first} on, expected ${expected.length}: ${expected[differing]}`);
    }
  }
}

function filesIn(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".journal"));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

t.test("[M1] what a start finds is what was announced, over any life of a journal", async (t) => {
  const root = temporaryFolder(t, { inMemory: true });
  const counts: Record<string, number> = {};
  let lives = 0;
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const folder = join(root, String(++lives));
    const life = new Life(folder, counts);
    for (const one of steps) life.take(one);
    life.end();
    rmSync(folder, { recursive: true });
  });
  const seed = seedOf(t);
  const numRuns = Number(process.env["RUNS"] ?? 150);
  const kinds = ["write", "cut", "late", "release", "rest", "crash", "close"];
  const isScarce = (kind: string) => (counts[kind] ?? 0) <= 20;
  // If the lives of this seed have few steps of some kind, those of the next seeds have more.
  for (let round = 0; round === 0 || (round < rounds_max && kinds.some(isScarce)); round++) {
    fc.assert(property, { seed: seed + round, numRuns });
  }
  for (const kind of kinds) {
    t.ok((counts[kind] ?? 0) > 20, `${counts[kind]} times ${kind}`);
  }
});

t.test("[M5] of processes that take a folder over at the same moment, each has an epoch of its own", async (t) => {
  const folder = temporaryFolder(t);
  const program = fileURLToPath(new URL("take-over.ts", import.meta.url));
  const processes = 3;
  const rounds = 50;
  const ended = await Promise.all(
    Array.from({ length: processes }, () => {
      return new Program(t, process.execPath, ["--import=tsx", program, folder, String(rounds)], {}).exited;
    }),
  );
  const epochs = ended.flatMap(({ code, stdout, stderr }) => {
    t.equal(code, 0, stderr);
    return stdout.trim().split("\n").map(Number);
  });
  const expected = Array.from({ length: processes * rounds }, (_, index) => index + 1);
  const found = epochs.toSorted((a, b) => a - b);
  t.strictSame(found, expected);
  t.strictSame(readdirSync(folder), [`owner.${processes * rounds}`], "the last one has it");
});

t.test("[M5] an earlier owner says that it was taken over, also when its spare segment is gone", async (t) => {
  const folder = join(temporaryFolder(t, { inMemory: true }), "journal");
  const spares = () => readdirSync(folder).filter((name) => name.endsWith(".spare"));
  const first = new SyncJournal(folder);
  first.write([smallSegment / 2]);
  first.rest();
  t.equal(spares().length, 1);
  const second = new SyncJournal(folder);
  t.strictSame(spares(), []);
  t.throws(() => first.write([smallSegment / 2]), { name: "JournalLost", reason: "takenOver" });
  second.close();
});

t.test("[M5] two owners in turn: only records of the present owner count", async (t) => {
  const folder = join(temporaryFolder(t, { inMemory: true }), "journal");
  const first = new SyncJournal(folder);
  const records = first.write([10, 20]);
  const second = new SyncJournal(folder);
  t.throws(() => first.write([smallSegment - 200]), { name: "JournalLost", reason: "takenOver" });
  records.push(...second.write([30]));
  second.close();
  t.ok(
    readdirSync(folder).some((name) => name.startsWith("00000001-000000000002")),
    "the first one went on writing",
  );
  const third = new SyncJournal(folder);
  t.strictSame(third.found.map(describeRecord), records.map(describeRecord));
  records.push(...third.write([40]));
  third.release(4);
  const seen = readdirSync(folder).filter((name) => /^0000000[12]-.*\.journal$/.test(name));
  t.strictSame(seen, [], "segments of earlier owners go when they are released");
  third.close();
  t.equal(new SyncJournal(folder).recovered.end, 4);
});
