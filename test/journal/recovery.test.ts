/**
 * What a start finds in the files of a journal after power cuts, damage, lost files and other owners: everything that
 * was announced, nothing that was not written, or an error that says what is damaged.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import t, { type Test } from "tap";
import { JournalDamaged, type Recorded } from "../../src/durability/journal/journal.ts";
import { brokenCheckout } from "../support/broken-checkout.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { describeRecord } from "./contract.ts";
import { SyncJournal, smallSegment } from "./sync-journal.ts";

const numRuns = Number(process.env["RUNS"] ?? 400);
const sectorBytes = 512;

type Files = ReadonlyMap<string, Buffer>;

/** A folder that is laid out anew for each try. */
class Folders {
  readonly #root: string;
  #count = 0;

  constructor(t: Test) {
    this.#root = temporaryFolder(t, { inMemory: true });
  }

  empty(): string {
    rmSync(join(this.#root, String(this.#count)), { recursive: true, force: true });
    return join(this.#root, String(++this.#count));
  }

  lay(files: Files): string {
    const folder = this.empty();
    mkdirSync(folder);
    for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
    return folder;
  }
}

function filesOf(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

function segmentsOf(files: Files): string[] {
  return [...files.keys()].filter((name) => name.endsWith(".journal")).toSorted();
}

type Recoveries = typeof import("../../src/durability/journal/recovery.ts");

type Outcome = readonly Recorded[] | JournalDamaged;

function start(folder: string): Outcome {
  try {
    return new SyncJournal(folder).found;
  } catch (error) {
    if (error instanceof JournalDamaged) return error;
    throw error;
  }
}

/** Null, or what is wrong with records that should be a part of those that were written, from the first one on. */
function faultIn(found: readonly Recorded[], written: readonly Recorded[], atLeast: number): string | null {
  if (found.length > written.length) return `${found.length} of ${written.length} records were found`;
  if (found.length < atLeast) return `${found.length} records were found, ${atLeast} were announced`;
  const wrong = found.findIndex((one, index) => {
    const other = written[index] as Recorded;
    return describeRecord(one) !== describeRecord(other) || Buffer.compare(one.bytes, other.bytes) !== 0;
  });
  return wrong < 0 ? null : `record ${describeRecord(found[wrong] as Recorded)} was not written`;
}

/** Sizes of records that are written together; some need a segment of their own. */
const batch = fc.array(fc.oneof({ weight: 20, arbitrary: fc.nat(300) }, fc.nat(2 * smallSegment)), {
  minLength: 1,
  maxLength: 6,
});

interface History {
  readonly written: readonly Recorded[];
  /** The folder before the last batch, and after it. */
  readonly before: Files;
  readonly after: Files;
  /** Records before the last batch. */
  readonly announced: number;
}

/** Batches by one or more owners; all but the last batch are announced. */
function play(folder: string, batches: readonly (readonly number[])[], restarts: number): History {
  let journal = new SyncJournal(folder);
  const written: Recorded[] = [];
  batches.slice(0, -1).forEach((sizes, index) => {
    if (index % 3 === 0 && index / 3 < restarts) journal = new SyncJournal(folder);
    written.push(...journal.write(sizes));
  });
  const before = filesOf(folder);
  const announced = written.length;
  written.push(...journal.write(batches.at(-1) ?? []));
  return { written, before, after: filesOf(folder), announced };
}

const history = fc.record({ batches: fc.array(batch, { minLength: 1, maxLength: 12 }), restarts: fc.nat(2) });

t.test("[M1] a power cut during a flush loses no record that was announced, and adds none", async (t) => {
  const folders = new Folders(t);
  let torn = 0;
  const property = fc.property(history, fc.infiniteStream(fc.boolean()), ({ batches, restarts }, coins) => {
    const { written, before, after, announced } = play(folders.empty(), batches, restarts);
    // Of each sector that the last batch changed, the disk has the old or the new version. Segments that were created
    // for it are there or not, from some point on: each is durable before the next write.
    const mixed = new Map<string, Buffer>();
    for (const [name, bytes] of after) {
      const old = before.get(name);
      if (old === undefined || old.length !== bytes.length) continue;
      const mix = Buffer.from(old);
      for (let at = 0; at < mix.length; at += sectorBytes) {
        if (coins.next().value === true) bytes.copy(mix, at, at, Math.min(at + sectorBytes, mix.length));
      }
      mixed.set(name, mix);
    }
    const outcome = start(folders.lay(mixed));
    if (outcome instanceof JournalDamaged) {
      // The last batch went on to another segment: the disk had more than this (power.test.ts cuts there, too).
      if (segmentsOf(after).length > segmentsOf(before).length) return;
      throw outcome;
    }
    if (outcome.length < written.length && outcome.length > announced) torn++;
    const fault = faultIn(outcome, written, announced);
    if (fault !== null) throw new Error(fault);
  });
  fc.assert(property, { seed: seedOf(t), numRuns });
  t.ok(torn > 0, `${torn} batches were torn in the middle`);
});

t.test("[M1] a journal that is cut at any byte is read up to there, or rejected", async (t) => {
  const folders = new Folders(t);
  const property = fc.property(history, fc.nat(), fc.nat(), ({ batches, restarts }, file, from) => {
    const { written, after } = play(folders.empty(), batches, restarts);
    const names = segmentsOf(after);
    const name = names[file % names.length] as string;
    const bytes = Buffer.from(after.get(name) as Buffer);
    const at = from % bytes.length;
    const rest = bytes.subarray(at).some((byte) => byte !== 0);
    const zeroed = start(folders.lay(new Map([...after, [name, Buffer.from(bytes).fill(0, at)]])));
    const isLast = name === names.at(-1);
    if (zeroed instanceof JournalDamaged) {
      if (!rest) throw new Error("nothing was lost");
      if (isLast && at >= 64) throw new Error("the end of a journal may be missing");
      if (!zeroed.message.includes(name)) throw new Error(`the error does not name ${name}: ${zeroed.message}`);
    } else {
      const fault = faultIn(zeroed, written, isLast ? 0 : written.length);
      if (fault !== null) throw new Error(fault);
    }
    const truncated = start(folders.lay(new Map([...after, [name, bytes.subarray(0, at)]])));
    if (!(truncated instanceof JournalDamaged)) throw new Error("a file that is too short was accepted");
    if (!truncated.message.includes(name)) throw new Error(`the error does not name ${name}: ${truncated.message}`);
  });
  fc.assert(property, { seed: seedOf(t), numRuns });
});

t.test(
  "[M1] a flipped bit in a journal that came to rest changes no record: it is rejected or has no effect",
  async (t) => {
    const folders = new Folders(t);
    let rejected = 0;
    const ending = fc.constantFrom("rest", "close");
    const property = fc.property(history, ending, fc.nat(), fc.nat(), ({ batches, restarts }, end, file, bit) => {
      const folder = folders.empty();
      play(folder, batches.slice(0, -1), restarts);
      const journal = new SyncJournal(folder);
      const written = [...journal.found, ...journal.write(batches.at(-1) ?? [])];
      journal[end]();
      const files = filesOf(folder);
      const names = segmentsOf(files);
      const name = names[file % names.length] as string;
      const bytes = files.get(name) as Buffer;
      const at = bit % (bytes.length * 8);
      bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
      const outcome = start(folders.lay(files));
      if (outcome instanceof JournalDamaged) {
        rejected++;
        if (!outcome.message.includes(name)) throw new Error(`the error does not name ${name}: ${outcome.message}`);
        if (!/Put the missing files back, or restore a backup or, of an archive, a moment/.test(outcome.message))
          throw new Error(outcome.message);
      } else {
        const fault = faultIn(outcome, written, written.length);
        if (fault !== null) throw new Error(fault);
      }
    });
    fc.assert(property, { seed: seedOf(t), numRuns: 1.5 * numRuns });
    t.ok(rejected > numRuns / 2, `${rejected} were rejected`);
  },
);

/** @param read what a start finds in the folder */
function flippedBits(t: Test, read: (folder: string) => Outcome) {
  const folders = new Folders(t);
  return fc.property(history, fc.nat(), ({ batches, restarts }, bit) => {
    const { written, after, announced } = play(folders.empty(), batches, restarts);
    const name = segmentsOf(after).at(-1) as string;
    const bytes = after.get(name) as Buffer;
    const at = bit % (bytes.length * 8);
    bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
    const outcome = read(folders.lay(after));
    if (outcome instanceof JournalDamaged) return;
    const fault = faultIn(outcome, written, announced);
    if (fault !== null) throw new Error(fault);
  });
}

t.test("[M1] a flipped bit in records that no later frame follows may cut them, and never changes one", async (t) => {
  fc.assert(flippedBits(t, start), { seed: seedOf(t), numRuns });
});

t.test("positive control: flipped bits find a journal that does not check the checksum of a frame", async (t) => {
  const checksum = "view.getUint32(offset + at.checksum, true) !== checksumOf(memory, offset, recordBytes)";
  const broken = brokenCheckout(t, [{ file: "src/durability/journal/record.ts", from: checksum, to: "false" }]);
  // Built, because Node itself does not load TypeScript.
  const outfile = join(broken, "recovery.mjs");
  const entryPoints = [join(broken, "src/durability/journal/recovery.ts")];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
  const { recoverJournal } = (await import(outfile)) as Recoveries;
  const read = (folder: string) => {
    try {
      return [...recoverJournal(folder, null).records()];
    } catch (error) {
      // The copy has a class of its own.
      if ((error as Error).name === "JournalDamaged") return new JournalDamaged((error as Error).message);
      throw error;
    }
  };
  const { failed, errorInstance } = fc.check(flippedBits(t, read), {
    seed: seedOf(t),
    numRuns,
    endOnFailure: true,
  });
  t.ok(failed);
  // A bit in the length of a record may end the journal there.
  t.match(errorInstance, { message: /^record .* was not written$|^\d+ records were found, \d+ were announced$/ });
});

t.test("[M1] a start notices every segment that is missing and was not released", async (t) => {
  const folders = new Folders(t);
  const property = fc.property(history, fc.nat(), fc.nat(), ({ batches, restarts }, release, drop) => {
    const folder = folders.empty();
    play(folder, batches, restarts);
    const journal = new SyncJournal(folder);
    journal.write([10]);
    journal.release(release % (journal.durable + 1));
    const files = filesOf(folder);
    const whole = start(folders.lay(files));
    if (whole instanceof JournalDamaged) throw whole;
    const names = segmentsOf(files);
    const name = names[drop % names.length] as string;
    const expected = whole.length;
    const outcome = start(folders.lay(new Map([...files].filter(([other]) => other !== name))));
    if (outcome instanceof JournalDamaged || outcome.length === expected) return;
    throw new Error(`${name} is not missed: ${outcome.length} of ${expected} records`);
  });
  fc.assert(property, { seed: seedOf(t), numRuns });
});
