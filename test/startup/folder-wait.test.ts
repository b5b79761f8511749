/** A start with WAIT_FOR_LOCK_SECONDS: it waits until the data folder is released. upgrade.test.ts has the whole change. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { BadConfig, readConfig } from "../../src/app/config.ts";
import { openWhenReleased, StoppedWaiting } from "../../src/app/start-checks.ts";
import { FolderLock } from "../../src/store/folder-lock.ts";
import { DataFolderInUse } from "../../src/store/root.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Program } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

/** A folder whose lock this process has. */
function lockedFolder(t: Test) {
  const dataDir = temporaryFolder(t);
  const lock = FolderLock.take(dataDir);
  t.teardown(() => lock.release());
  return { dataDir, lock };
}

function waiting(dataDir: string, seconds: number, hasStopped = () => false) {
  const clock = new ManualClock(0);
  const said: string[] = [];
  const log = { warn: () => undefined };
  const onWaiting = (why: string) => said.push(why);
  const opened = openWhenReleased(dataDir, { seconds, clock, log, onWaiting, hasStopped });
  // Handled where it is awaited.
  opened.catch(() => undefined);
  const look = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(limits.data_folder_wait_look_ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { opened, said, clock, look };
}

t.test("a start waits, and opens the folder once it is released", async (t) => {
  const { dataDir, lock } = lockedFolder(t);
  const { opened, said, look } = waiting(dataDir, 60);
  for (let count = 0; count < 5; count++) await look();
  t.strictSame(said, [`process ${process.pid} is running on this data folder`], "it says so once");
  t.notOk(existsSync(join(dataDir, "root")), "nothing was written");
  lock.release();
  await look();
  const root = await opened;
  t.type(root.token, "string", "it is the owner");
  root.unlock();
  await root.close();
});

t.test("a start that waited in vain names who has the folder", async (t) => {
  const { dataDir } = lockedFolder(t);
  const now = waiting(dataDir, 0);
  await t.rejects(now.opened, new DataFolderInUse(`process ${process.pid} is running on this data folder`));
  t.strictSame(now.said, [], "without the setting it does not wait");
  const later = waiting(dataDir, 1);
  for (let waitedMs = 0; waitedMs < 1000; waitedMs += limits.data_folder_wait_look_ms) await later.look();
  await t.rejects(later.opened, { message: `process ${process.pid} is running on this data folder, after 1 s, too` });
  t.strictSame(readdirSync(dataDir), ["lock"]);
});

t.test("a start that is stopped while it waits opens nothing", async (t) => {
  const { dataDir } = lockedFolder(t);
  let hasStopped = false;
  const { opened, look } = waiting(dataDir, 60, () => hasStopped);
  await look();
  hasStopped = true;
  await look();
  await t.rejects(opened, StoppedWaiting);
});

t.test("SIGTERM ends a process that waits", async (t) => {
  const { dataDir } = lockedFolder(t);
  mkdirSync(join(dataDir, "outbox"));
  const program = new Program(t, process.execPath, ["colloquy.mjs"], {
    DATA_DIR: dataDir,
    PORT: "0",
    WAIT_FOR_LOCK_SECONDS: "60",
  });
  await program.printed(/^Prepared: process \d+ is running on this data folder, and this one serves when that one/m);
  t.match(await program.end("SIGTERM"), { code: 0, stderr: "" });
  t.strictSame(readdirSync(dataDir).sort(), ["lock", "outbox"]);
});

t.test("[S3] a start waits at most data_folder_wait_seconds_max", async (t) => {
  const max = limits.data_folder_wait_seconds_max;
  t.equal(readConfig({}).waitForLockSeconds, 0);
  t.equal(readConfig({ WAIT_FOR_LOCK_SECONDS: String(max) }).waitForLockSeconds, max);
  t.throws(() => readConfig({ WAIT_FOR_LOCK_SECONDS: String(max + 1) }), BadConfig);
});
