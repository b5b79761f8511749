/**
 * One process per data folder (start-up contract): a second process is rejected with a clear message, a dead owner is
 * replaced, however it died, and a reused process id is not mistaken for the owner.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { seal } from "../../src/store/codec.ts";
import { isRunning, thisProcess } from "../../src/store/data-lock.ts";
import { storeVersion, UnknownFormat } from "../../src/store/migrations.ts";
import { openDataFolder } from "../../src/store/open-data-folder.ts";
import { DataFolderInUse, RootStore } from "../../src/store/root.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

const holder = fileURLToPath(new URL("lock-holder.ts", import.meta.url));

interface Holder {
  readonly process: ChildProcess;
  /** What it printed: locked or rejected. */
  readonly said: string;
}

async function startHolder(t: Teardown, folder: string, title?: string): Promise<Holder> {
  const given = title === undefined ? [] : [title];
  const child = spawn(process.execPath, ["--import=tsx", holder, folder, ...given], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { process: child, said: line.toString().trim() };
}

function openRoot(t: Teardown, folder: string): RootStore {
  const root = RootStore.open(folder);
  t.teardown(() => root.close());
  return root;
}

t.test("a second process on the same folder is rejected, and the message names the owner", async (t) => {
  const folder = temporaryFolder(t);
  // Spaces and parentheses in the owner's name must not hide that it runs.
  const { process: owner, said } = await startHolder(t, folder, "a) S 1 (b");
  t.equal(said, "locked");
  t.match(readFileSync(`/proc/${owner.pid}/stat`, "latin1"), "(a) S 1 (b)");
  const root = openRoot(t, folder);
  t.throws(() => root.lock(), new DataFolderInUse(`process ${owner.pid} is running on this data folder`));
  owner.kill("SIGKILL");
  await once(owner, "exit");
  t.doesNotThrow(() => root.lock(), "a killed owner loses the folder");
});

t.test("of several processes that start at once, exactly one gets the folder", async (t) => {
  const folder = temporaryFolder(t);
  const holders = await Promise.all([1, 2, 3].map(() => startHolder(t, folder)));
  t.strictSame(holders.map(({ said }) => said).sort(), ["locked", "refused", "refused"]);
  for (const { process: child } of holders) {
    child.stdin?.end();
    await once(child, "exit");
  }
});

t.test("a process that unlocks releases the folder, and may lock it again", async (t) => {
  const root = openRoot(t, temporaryFolder(t));
  root.lock();
  root.lock();
  root.unlock();
  root.lock();
  t.pass("never refused");
});

t.test("an owner counts as running only with the same process id, start time and boot", async (t) => {
  const me = thisProcess();
  t.equal(me.pid, process.pid);
  t.ok(isRunning(me));
  t.notOk(isRunning({ ...me, startedAt: "1" }), "the same id, another process");
  const parent = { ...me, pid: process.ppid, startedAt: "1" };
  t.notOk(isRunning(parent), "a running process with another start time");
  t.notOk(isRunning({ ...parent, bootId: "another boot" }));
  t.notOk(isRunning({ ...me, pid: 2 ** 22 + 1 }), "no such process");
});

t.test("a data folder of a newer program is rejected before anything is changed", async (t) => {
  const folder = temporaryFolder(t);
  await RootStore.open(folder).close();
  const { open } = await import("lmdb");
  const raw = open<Buffer, string[]>({ path: `${folder}/root`, encoding: "binary" });
  raw.putSync(["format"], seal("root", ["format"], Buffer.from("99")));
  await raw.close();
  t.throws(
    () => RootStore.open(folder),
    new UnknownFormat(`the data has version 99, this program knows ${storeVersion}: use the newer program`),
  );
});

t.test("[M1] a root that a power cut left incomplete is recreated only if there are no organizations", async (t) => {
  const whole = temporaryFolder(t);
  await RootStore.open(whole).close();
  const pages = readFileSync(join(whole, "root", "data.mdb")).subarray(0, 8192);
  for (const missing of [0, 4096]) {
    const folder = temporaryFolder(t);
    const file = join(folder, "root", "data.mdb");
    mkdirSync(join(folder, "root"));
    const torn = Buffer.from(pages).fill(0, missing, missing + 512);
    writeFileSync(file, torn);
    t.throws(
      () => RootStore.open(folder),
      /data\.mdb is damaged\. Start the server/,
      "by a process that does not own the folder",
    );
    const root = await openDataFolder(folder, t.fail);
    t.strictSame(root.realms(), []);
    await root.close();
    writeFileSync(file, torn);
    mkdirSync(join(folder, "realms", "1"), { recursive: true });
    writeFileSync(join(folder, "realms", "1", "data.mdb"), "");
    await t.rejects(openDataFolder(folder, t.fail), { name: "DataFolderDamaged", message: /data\.mdb is damaged/ });
    t.ok(readFileSync(file).equals(torn));
  }
});

t.test("[D4] realms are listed in order of their ids, and an id is used once", async (t) => {
  const root = openRoot(t, temporaryFolder(t));
  t.strictSame(root.realms(), []);
  for (const label of ["", "b", "a"]) {
    const id = root.beginRealmCreation();
    root.finishRealmCreation({ id, label, hosts: [], createdAt: 0, dueHint: null });
  }
  const found = root.realms().map(({ id, label }) => [id, label]);
  t.strictSame(found, [
    [1, ""],
    [2, "b"],
    [3, "a"],
  ]);
});
