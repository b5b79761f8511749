/**
 * An interrupted restore (M1): whichever system call it is killed at, the next start has all data or is rejected with
 * one line, and never mistakes the folder for an empty one. Skipped with a message where strace is missing or not
 * permitted.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { uploaded } from "../support/attachments.ts";
import { Program, runCli } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { tracingObstacle } from "../support/strace.ts";

interface Backup {
  readonly folder: string;
  readonly key: string;
  readonly messageId: number;
}

async function backedUp(t: Test): Promise<Backup> {
  const { owner, dataDir, stop } = await startTestServer(t);
  await uploaded(owner, "kept");
  const messageId = await owner.say("general", "kept", "here to stay");
  const folder = join(temporaryFolder(t), "backup");
  const { code, stderr } = await runCli(t, dataDir, "backup", folder);
  t.strictSame([code, stderr], [0, ""]);
  await stop();
  return { folder, key: owner.account?.key ?? "", messageId };
}

/** Moments at which a restore is killed: the nth call of a kind (of one thread). */
const moments = [
  // Into the temporary folder: before it has any content, then after the copies; LMDB's own flush.
  ["fsync", 1],
  ["fsync", 4],
  ["fdatasync", 1],
  // Out of the temporary folder: files and organizations, then the root.
  ["rename", 1],
  ["rename", 2],
  ["rename", 3],
  ["rmdir", 1],
] as const;

/** @returns whether it was killed */
function restoreUntil(backup: string, dataDir: string, call: string, nth: number): boolean {
  const inject = ["-f", "-o", "/dev/null", "-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${nth}`];
  const { status } = spawnSync("strace", [...inject, process.execPath, "colloquy.mjs", "restore", backup], {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
  });
  return status !== 0;
}

t.test("[M1] a killed restore leaves all data, or a folder that every start rejects", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not killed: ${reason}`, { skip: reason });
    return;
  }
  const backup = await backedUp(t);
  let rejected = 0;
  for (const [call, nth] of moments) {
    const dataDir = join(temporaryFolder(t), "data");
    const what = `killed at ${call} ${nth}`;
    t.ok(restoreUntil(backup.folder, dataDir, call, nth), what);
    if (!existsSync(dataDir) || readdirSync(dataDir).every((name) => name === "lock")) {
      t.pass(`${what}: nothing had started`);
      continue;
    }
    if (await isWhole(t, dataDir, backup, what)) continue;
    rejected++;
    if (call !== "rename" || nth > 1) continue;
    const again = await runCli(t, dataDir, "restore", backup.folder);
    t.match(again.stderr, /^colloquy: [^\n]+ is not empty\n$/, "a new restore requires an empty folder");
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true });
    t.equal((await runCli(t, dataDir, "restore", backup.folder)).code, 0);
    t.ok(await isWhole(t, dataDir, backup, `${what}, then again`));
  }
  t.ok(rejected >= 5 && rejected < moments.length, `${rejected} of ${moments.length} left a partial restore`);
});

/** @returns false for a folder that every start rejects, as it should */
async function isWhole(t: Test, dataDir: string, { key, messageId }: Backup, what: string): Promise<boolean> {
  if (existsSync(join(dataDir, "restoring")) && !existsSync(join(dataDir, "root"))) {
    const given = { DATA_DIR: dataDir, PORT: "0" };
    const { code, stdout, stderr } = await new Program(t, process.execPath, ["colloquy.mjs"], given).exited;
    t.strictSame({ code, stdout }, { code: 78, stdout: "" }, what);
    t.match(stderr, /^colloquy: A restore into \S+ did not finish\. [^\n]+\n$/, what);
    return false;
  }
  const { owner, stop } = await startTestServer(t, { dataDir });
  t.equal(owner.account?.key, key, what);
  t.equal((await owner.get(`/messages/${messageId}`)).body.raw_content, "here to stay", what);
  await stop();
  t.equal((await runCli(t, dataDir, "check")).stdout, "no problems\n", what);
  t.notOk(readdirSync(dataDir).includes("restoring"));
  return true;
}

t.test("[M1] a backup can be restored into a mount point, which contains a folder of the file system", async (t) => {
  const disk = SmallDisk.mount(t, 96);
  if (!(disk instanceof SmallDisk)) {
    t.pass(`no disk of its own: ${disk}`, { skip: disk });
    return;
  }
  const backup = await backedUp(t);
  mkdirSync(join(disk.mountPoint, "lost+found"));
  const { code, stderr } = await runCli(t, disk.mountPoint, "restore", backup.folder);
  t.strictSame([code, stderr], [0, ""]);
  t.equal(statSync(join(disk.mountPoint, "zuliprc")).mode & 0o777, 0o600);
  t.ok(await isWhole(t, disk.mountPoint, backup, "on a disk of its own"));
});

t.test("[M1] a restore that fails leaves the folder as it was", async (t) => {
  const backup = await backedUp(t);
  rmSync(join(backup.folder, "realms", "1", "data.mdb"));
  const parent = temporaryFolder(t);
  const empty = temporaryFolder(t);
  const refuses = async (why: RegExp) => {
    for (const dataDir of [join(parent, "data"), empty]) {
      const { code, stderr } = await runCli(t, dataDir, "restore", backup.folder);
      t.equal(code, 1);
      t.match(stderr, why);
    }
  };
  await refuses(/^colloquy: \S+ is damaged: realms\/1\/data\.mdb cannot be read: ENOENT\. Use another backup\.\n$/);
  // As made by a version without manifests.
  rmSync(join(backup.folder, "manifest.json"));
  await refuses(/^colloquy: the backup lacks realm 1\n$/);
  t.strictSame(readdirSync(parent), []);
  t.strictSame(readdirSync(empty), ["lock"], "only a lock file that no process holds");
  const { owner } = await startTestServer(t, { dataDir: empty });
  t.match(readFileSync(join(empty, "zuliprc"), "utf8"), owner.account?.key);
});
