/** The journal in files: the contract of every journal, and what a thread, a disk and a folder add to it. */
import { cpSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { type FileJournal, type OpenedJournal, openFileJournal } from "../../src/durability/journal/file-journal.ts";
import type { JournalLost, Recorded } from "../../src/durability/journal/journal.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { temporaryFolder } from "../support/server.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { appendAll, DurableWatch, journalContract, sameRecords } from "./contract.ts";

/** What a start would find if the process ended now. Reading changes nothing. */
function readCopy(t: Test, folder: string): Recorded[] {
  const copy = join(temporaryFolder(t), "copy");
  cpSync(folder, copy, { recursive: true });
  return [...recoverJournal(copy, null).records()];
}

journalContract(t, (t) => {
  const folder = join(temporaryFolder(t), "journal");
  return {
    open: async () => (await openFileJournal({ folder, fatal: (error) => t.fail(error.message) })).journal,
    readBack: () => Promise.resolve(readCopy(t, folder)),
  };
});

/** A journal that is expected to be lost. */
class LosableJournal {
  readonly journal: FileJournal;
  readonly lost: Promise<JournalLost>;

  private constructor(journal: FileJournal, lost: Promise<JournalLost>) {
    this.journal = journal;
    this.lost = lost;
  }

  static async open(folder: string): Promise<LosableJournal> {
    let fatal: (error: JournalLost) => void = () => undefined;
    const lost = new Promise<JournalLost>((resolve) => {
      fatal = resolve;
    });
    const { journal } = await openFileJournal({ folder, fatal });
    return new LosableJournal(journal, lost);
  }
}

function open(folder: string): Promise<OpenedJournal> {
  const fatal = (error: JournalLost) => {
    throw error;
  };
  return openFileJournal({ folder, fatal });
}

t.test("[M5] a journal is lost when another process takes its folder over, and announces nothing more", async (t) => {
  const folder = join(temporaryFolder(t), "journal");
  const first = await LosableJournal.open(folder);
  const expected = appendAll(first.journal, [10, 20]);
  await new DurableWatch(first.journal).until(2);

  const second = await open(folder);
  sameRecords(t, [...second.recovered.records()], expected, "the next owner finds what was announced");
  t.notOk(second.endedCleanly);
  t.throws(() => first.journal.assertOwned(), { name: "JournalLost", reason: "takenOver" });
  first.journal.append(1, Buffer.from("too late"));
  const error = await first.lost;
  t.equal(error.reason, "takenOver");
  t.match(error.message, /Another process took over .*journal/);
  t.equal(first.journal.durable, 2);
  await t.rejects(first.journal.close(), { name: "JournalLost" });

  expected.push(...appendAll(second.journal, [30]));
  await second.journal.close();
  sameRecords(t, readCopy(t, folder), expected, "the late record does not count");
});

for (const [what, happen] of Object.entries({
  removed: (folder: string) => rmSync(folder, { recursive: true }),
  replaced: (folder: string) => {
    cpSync(folder, `${folder}-copy`, { recursive: true });
    renameSync(folder, `${folder}-old`);
    renameSync(`${folder}-copy`, folder);
  },
})) {
  t.test(`[M5] a journal is lost when its folder is ${what} while it runs`, async (t) => {
    const folder = join(temporaryFolder(t), "journal");
    const { journal, lost } = await LosableJournal.open(folder);
    appendAll(journal, [10]);
    await new DurableWatch(journal).until(1);
    happen(folder);
    journal.append(1, Buffer.of(1));
    const { reason, message } = await lost;
    t.equal(reason, "takenOver");
    t.match(message, what === "removed" ? /was removed/ : /was replaced/);
    t.equal(journal.durable, 1);
  });
}

t.test("[M5] a full disk: a journal cannot start, a running one goes on until it needs another segment", async (t) => {
  const disk = SmallDisk.mount(t, 16);
  if (typeof disk === "string") {
    t.pass(`no small disk: ${disk}`, { skip: disk });
    return;
  }
  const folder = join(disk.mountPoint, "journal");
  const { journal, lost } = await LosableJournal.open(folder);
  const watch = new DurableWatch(journal);
  disk.fill();
  const record = 100_000;
  const fitting = Math.floor(limits.journal_segment_bytes / record) - 1;
  const expected = appendAll(
    journal,
    Array.from({ length: fitting }, () => record),
  );
  await watch.until(fitting);
  journal.append(1, Buffer.alloc(2 * record));
  const { reason, message } = await lost;
  t.equal(reason, "failed");
  t.match(message, /cannot be written: ENOSPC/);
  sameRecords(t, readCopy(t, folder), expected, "what was announced is there");

  await t.rejects(open(folder), { name: "JournalLost", message: /ENOSPC/ });
  disk.giveRoom();
  const { journal: next, recovered } = await open(folder);
  sameRecords(t, [...recovered.records()], expected, "a start with room");
  await next.close();
});

t.test("[S3] journal_spares_max: a journal that is released as it grows uses the same few files again", async (t) => {
  const folder = join(temporaryFolder(t), "journal");
  const { journal } = await open(folder);
  const watch = new DurableWatch(journal);
  const names = new Set<string>();
  for (let round = 0; round < 40; round++) {
    appendAll(journal, [Math.floor(limits.journal_segment_bytes / 2)]);
    await watch.until(journal.appended);
    journal.release(journal.durable);
    const files = readdirSync(folder).filter((name) => name.endsWith(".journal") || name.endsWith(".spare"));
    for (const name of files) names.add(name);
    // The one that is written, one that waits for its release, the spares, and one that is being created.
    if (files.length > limits.journal_spares_max + 3) t.fail(`${files.join(", ")} are too many`);
  }
  t.ok(names.size > 30, "many segments were needed");
  await journal.close();
  const spares = readdirSync(folder).filter((name) => name.endsWith(".spare"));
  t.ok(spares.length > 0 && spares.length <= limits.journal_spares_max, `${spares.length} spares are kept`);
  for (const name of readdirSync(folder).filter((one) => !one.startsWith("owner"))) {
    t.equal(statSync(join(folder, name)).size, limits.journal_segment_bytes, name);
  }
});

t.test("[M1] a start rejects a journal that ends before the records that the stores hold", async (t) => {
  const folder = join(temporaryFolder(t), "journal");
  const { journal } = await open(folder);
  appendAll(journal, [1, 2, 3]);
  await journal.close();
  const fatal = () => undefined;
  await t.rejects(openFileJournal({ folder, fatal, storedUpTo: 4 }), {
    name: "JournalDamaged",
    message: /ends with record 3, but the stores hold records up to 4/,
  });
  const reopened = await openFileJournal({ folder, fatal, storedUpTo: 3 });
  t.ok(reopened.endedCleanly, "a start that was rejected does not count");
  await reopened.journal.close();
});
