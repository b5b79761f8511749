/**
 * How much of an organization's file a start checks: everything, unless it is large and only a process has ended since
 * it was opened.
 */
import { copyFileSync, mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { RealmHost } from "../../src/runtime/realm-host.ts";
import { dataFile } from "../../src/store/data-file.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { type OpenedEntry, PageChecks } from "../../src/store/page-checks.ts";
import { realmFolder } from "../../src/store/realm-folders.ts";
import { type RealmEntry, RootStore } from "../../src/store/root.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { PromptDurability } from "../support/manual-durability.ts";
import { crashImage, openNewRealm, startedAt } from "../support/runtime.ts";
import { temporaryFolder } from "../support/server.ts";

const pageBytes = 4096;
const leafKind = 2;
const crashed = { id: 1, dueHint: 0 };

/** A data folder with an organization whose file is large, but mostly empty, and has a damaged leaf. */
async function withDamagedLeaf(t: Test): Promise<{ readonly dataDir: string; readonly file: string }> {
  const dataDir = temporaryFolder(t);
  const folder = realmFolder(dataDir, 1);
  mkdirSync(folder, { recursive: true });
  const lmdb = openLmdb(folder);
  lmdb.transaction(() => {
    for (let id = 0; id < 2000; id++) lmdb.put("meta", `row ${id}`, { value: id });
  });
  await lmdb.close();
  const file = dataFile(folder);
  const bytes = readFileSync(file);
  let damaged = 0;
  for (let at = 0; at < bytes.length; at += pageBytes) {
    const page = bytes.subarray(at, at + pageBytes);
    if (page.readUInt16LE(18) !== leafKind || !page.includes("row ")) continue;
    page.writeUInt32LE(1);
    damaged++;
  }
  t.ok(damaged > 10, `${damaged} leaves have the number of another page`);
  writeFileSync(file, bytes);
  truncateSync(file, limits.store_checked_at_start_bytes_max + pageBytes);
  return { dataDir, file };
}

/** Whether a check finds the damage. */
function isFound(dataDir: string, entry: OpenedEntry, isWaitedFor = false): boolean {
  try {
    new PageChecks(dataDir).check(entry, isWaitedFor);
    return false;
  } catch (error) {
    if ((error as Error).name === "DamagedData") return true;
    throw error;
  }
}

t.test("a large file is checked completely after a crash, unless opened since the machine started", async (t) => {
  const { dataDir, file } = await withDamagedLeaf(t);
  const openedAs = new PageChecks(dataDir).markOf(crashed);
  t.match(openedAs, /^\S+ \d+:\d+:\d+$/);
  t.notOk(isFound(dataDir, { ...crashed, openedAs }), "only the process ended");
  t.notOk(isFound(dataDir, { id: 1, dueHint: null, openedAs: "another start" }), "it was closed");
  t.ok(isFound(dataDir, { ...crashed, openedAs: `another${openedAs?.slice(7)}` }), "the machine was started again");
  t.ok(isFound(dataDir, crashed), "an older program opened it");
  t.ok(isFound(dataDir, { ...crashed, openedAs: null }), "the system does not name its starts");
  t.ok(isFound(dataDir, crashed, true), "also if a request waits for it");

  copyFileSync(file, `${file}-copy`);
  renameSync(`${file}-copy`, file);
  t.ok(isFound(dataDir, { ...crashed, openedAs }), "the file is a copy");
});

t.test("a file of usual size is checked completely at each start", async (t) => {
  const { dataDir, file } = await withDamagedLeaf(t);
  truncateSync(file, limits.store_checked_at_start_bytes_max);
  const openedAs = new PageChecks(dataDir).markOf({ id: 1, dueHint: 0 });
  t.ok(isFound(dataDir, { id: 1, dueHint: 0, openedAs }), "only the process ended");
  t.ok(isFound(dataDir, { id: 1, dueHint: null, openedAs }), "it was closed");
  t.notOk(isFound(dataDir, { id: 1, dueHint: null, openedAs }, true), "a request waits, and it was closed");
});

t.test("a file is checked once for a start, and again when its organization was closed", async (t) => {
  const { dataDir, file } = await withDamagedLeaf(t);
  const openedAs = new PageChecks(dataDir).markOf(crashed);
  const checks = new PageChecks(dataDir);
  checks.check({ ...crashed, openedAs }, true);
  truncateSync(file, 3 * pageBytes);
  checks.check({ ...crashed, openedAs }, true);
  checks.forget(crashed);
  t.throws(() => checks.check({ ...crashed, openedAs }, true), { name: "DamagedData" });
});

t.test("a start that follows a short-lived one checks everything again", async (t) => {
  const dataDir = temporaryFolder(t);
  const root = RootStore.open(dataDir);
  t.teardown(() => root.close());
  const first = await openNewRealm(t);
  mkdirSync(realmFolder(dataDir, 1), { recursive: true });
  const file = dataFile(realmFolder(dataDir, 1));
  copyFileSync(dataFile(crashImage(t, first.folder)), file);
  truncateSync(file, limits.store_checked_at_start_bytes_max + pageBytes);
  const clock = new ManualClock(startedAt);
  const throwIt = (error: unknown): never => {
    throw error;
  };
  const alarm = { bug: throwIt, fatal: throwIt, warn: () => undefined };
  const entry = () => root.realms()[0] as RealmEntry;
  /** A start after a crash that left this note. */
  const start = (openedAs: string | null) => {
    root.putRealm({ id: 1, label: "", hosts: [], createdAt: 0, dueHint: 0, openedAs });
    const durability = new PromptDurability(clock);
    const ports = { acceptsWrites: () => true, onOpen: () => undefined };
    const host = new RealmHost({ dataDir, root, durability, clock, alarm, ...ports });
    host.openDue();
    return host;
  };
  const mark = new PageChecks(dataDir).markOf(crashed);

  const checked = start(null);
  t.equal(entry().openedAs, mark, "everything was checked");
  await checked.close();

  const trusted = start(mark);
  t.equal(entry().openedAs, null, "a part was checked: if the process ends now, the next start checks everything");
  clock.advance(limits.store_trusted_ms);
  t.equal(entry().openedAs, mark, "it has lived for a while");
  await trusted.close();
  t.not(entry().dueHint, 0, "it was closed");
});
