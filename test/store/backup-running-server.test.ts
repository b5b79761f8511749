/**
 * Backups of a running server (architecture, Files; cli backup): a copy has every file that its rows claim, whatever is
 * uploaded and removed meanwhile, and a killed backup leaves nothing that lets the store grow.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { journalPorts } from "../../src/durability/journal/apply-journal.ts";
import { areFilesLocked, lockFiles } from "../../src/store/file-hold.ts";
import { FileStore } from "../../src/store/files.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { realmFolder } from "../../src/store/realm-folders.ts";
import { attachmentsOf, uploaded } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { checkout, Program, runCli, startProgram } from "../support/process.ts";
import { commands, openNewRealm } from "../support/runtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const backups = Number(process.env["BACKUPS"] ?? 3);
const noon = Date.UTC(2026, 4, 1, 12);

/** Starts a backup of a folder at a time that the test sets. */
async function backupOf(t: Test, folder: string) {
  const time = { now: noon };
  const warn = (line: string) => t.fail(line);
  const areLocked = () => areFilesLocked(folder, time.now);
  return { time, areLocked, lock: await lockFiles(folder, { now: () => time.now, warn }) };
}

function locksIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("files.hold"));
}

/** Rewrites the only hold as its owner would, with different fields. */
function rewriteLock(folder: string, fields: object): void {
  const [name = ""] = locksIn(folder);
  const file = join(folder, name);
  const holder = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...holder, ...fields }));
  utimesSync(file, noon / 1000, noon / 1000);
}

t.test("a backup during uploads and removals has every file that its rows claim", async (t) => {
  const server = await startTestServer(t);
  const { owner, dataDir } = server;
  let isOver = false;
  let removed = 0;
  const churn = async (lane: number) => {
    for (let count = 0; !isOver; count++) {
      const { url } = await uploaded(owner, `file ${lane} ${count}`);
      const mine = (await attachmentsOf(owner)).find(({ path_id: path }) => url.endsWith(path));
      t.equal((await owner.delete(`/attachments/${mine.id}`)).status, 200);
      removed++;
    }
  };
  for (let count = 0; count < 20; count++) await uploaded(owner, `a file that stays ${count}`);
  const lanes = [1, 2, 3].map(churn);
  for (let count = 0; count < backups; count++) {
    const folder = join(temporaryFolder(t), "copy");
    const made = await runCli(t, dataDir, "backup", folder);
    t.strictSame([made.code, made.stdout, made.stderr], [0, `backup is at ${folder}\n`, ""]);
    const target = join(temporaryFolder(t), "restored");
    t.equal((await runCli(t, target, "restore", folder)).code, 0);
    t.strictSame((await runCli(t, target, "check")).stdout, "no problems\n");
    t.ok(readdirSync(join(target, "realms", "1", "files", "uploads")).length >= 20);
  }
  isOver = true;
  await Promise.all(lanes);
  t.ok(removed > backups, `${removed} files were uploaded and removed`);
  t.strictSame(locksIn(join(dataDir, "realms", "1")), [], "no hold is left");
});

t.test("a file removed during a backup is deleted when the backup ends", async (t) => {
  const realmFolder = temporaryFolder(t);
  const folder = join(realmFolder, "files");
  const name = `uploads/${"1".repeat(32)}.bin`;
  const areLocked = () => areFilesLocked(realmFolder, noon);
  const store = new FileStore({
    folder,
    acceptsWrites: () => true,
    areLocked,
    report: (error) => t.fail(String(error)),
  });
  await store.write([{ name, bytes: Buffer.from("soup") }]);
  store.confirm([name], true);
  const { lock } = await backupOf(t, realmFolder);
  store.discard(name);
  store.discardPostponed();
  await store.sweep(() => ({ has: () => false }));
  await store.idle();
  t.equal((await store.read(name))?.toString(), "soup", "neither a removal nor a sweep deletes it");
  await lock.release();
  store.discardPostponed();
  await store.idle();
  t.equal(await store.read(name), null);
});

t.test("concurrent backups each hold files until they end, in either order", async (t) => {
  const folder = temporaryFolder(t);
  const [first, second] = [await backupOf(t, folder), await backupOf(t, folder)];
  await second.lock.release();
  t.equal(await first.areLocked(), true, "the other one is still copying");
  const third = await backupOf(t, folder);
  await first.lock.release();
  t.equal(await third.areLocked(), true);
  await third.lock.release();
  t.equal(await third.areLocked(), false);
  t.strictSame(locksIn(folder), []);
});

t.test("a killed backup holds no files, and leaves no file", async (t) => {
  const folder = temporaryFolder(t);
  const { areLocked, lock } = await backupOf(t, folder);
  t.equal(await areLocked(), true);
  rewriteLock(folder, { startedAt: "1" });
  t.equal(await areLocked(), false, "its id belongs to another process");
  t.strictSame(locksIn(folder), []);
  await lock.renew();
  t.strictSame(locksIn(folder), [], "nothing is created again");
  await lock.release();
});

for (const [which, change] of [
  ["in another container", (folder: string) => rewriteLock(folder, { pidNamespace: "pid:[1]", pid: 1 })],
  ["on another machine", (folder: string) => rewriteLock(folder, { bootId: "another" })],
  ["that could not write its name on a full disk", emptyLock],
] as const) {
  t.test(`a backup ${which} holds files for file_hold_ms after its last progress`, async (t) => {
    const folder = temporaryFolder(t);
    const { time, areLocked, lock } = await backupOf(t, folder);
    change(folder);
    time.now += limits.file_hold_ms;
    t.equal(await areLocked(), true, "the last moment");
    await lock.renew();
    time.now += limits.file_hold_ms;
    t.equal(await areLocked(), true, "it went on");
    time.now += 1;
    t.equal(await areLocked(), false);
    t.strictSame(locksIn(folder), []);
  });
}

function emptyLock(folder: string): void {
  for (const name of locksIn(folder)) {
    truncateSync(join(folder, name));
    utimesSync(join(folder, name), noon / 1000, noon / 1000);
  }
}

t.test("a hold dated in the future, as by a clock that was ahead, does not last longer", async (t) => {
  const folder = temporaryFolder(t);
  const { time, areLocked } = await backupOf(t, folder);
  emptyLock(folder);
  time.now -= limits.file_hold_ms + 1;
  t.equal(await areLocked(), false);
});

t.test("a backup that cannot create a hold logs it and continues", async (t) => {
  const warnings: string[] = [];
  const missing = join(temporaryFolder(t), "missing");
  const lock = await lockFiles(missing, { now: () => noon, warn: (line) => warnings.push(line) });
  t.equal(warnings.length, 1);
  t.match(warnings[0], /^files that a server removes during this backup may be missing in it: [^\n]+$/);
  await lock.renew();
  await lock.release();
});

t.test("[S3] a killed backup does not let the store grow until the next start", async (t) => {
  const opened = await openNewRealm(t);
  const file = join(opened.folder, "data.mdb");
  const grown = async () => {
    const before = statSync(file).size;
    for (let count = 0; count < 100; count++) {
      await opened.ask(commands.post("a", `message ${count}`));
      opened.checkpoint();
    }
    return statSync(file).size - before;
  };
  await grown();
  const bound = 2 * (await grown()) + 256 * 1024;
  const reader = new Program(
    t,
    process.execPath,
    ["--import=tsx", "test/store/dead-reader.ts", opened.folder],
    {},
    checkout,
  );
  await reader.printed(/reading/);
  await opened.ask(commands.post("a", "after it began"));
  await reader.end("SIGKILL");
  const leaked = await grown();
  t.ok(leaked > bound, `without a check the dead reader costs ${leaked} bytes`);
  opened.clock.advance(60_000);
  await opened.idle();
  const after = await grown();
  t.ok(after <= bound, `afterwards ${after} bytes, at most ${bound}`);
});

t.test("a copy gets the turns of its moment from the journal, although the server was restarted", async (t) => {
  const dataDir = temporaryFolder(t);
  const say = (owner: Client, content: string) => owner.say("general", "soup", content);
  const { owner, program } = await startProgram(t, dataDir);
  await say(owner, "before");
  const ports = journalPorts(dataDir, { now: Date.now, warn: (line) => t.fail(line) });
  const lock = await ports.lockJournal();
  const copies = temporaryFolder(t);
  const target = realmFolder(copies, 1);
  mkdirSync(target, { recursive: true });
  const store = openLmdb(realmFolder(dataDir, 1));
  await store.backup(target).finally(() => store.close());
  await say(owner, "after the copy");
  await program.end("SIGKILL");
  const again = await startProgram(t, dataDir);
  await ports.applyRecords(copies);
  const copy = openLmdb(target);
  const contents = copy.rows("messages", { limit: 100 }).map(({ row }) => row.content);
  await copy.close();
  t.strictSame(contents.slice(-2), ["before", "after the copy"]);
  await lock.release();
  t.equal((await again.program.end("SIGTERM")).code, 0);
});
