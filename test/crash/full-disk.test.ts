/**
 * A disk that is really full (M5): a tmpfs of a few megabytes that another program fills, slowly or in a race with the
 * server. Skipped with a message where mounting is not permitted.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { journalFolder } from "../../src/durability/journal/settle-folder.ts";
import { openEnvironment } from "../../src/store/environment.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import { uploaded } from "../support/attachments.ts";
import { auditRealm } from "../support/audit.ts";
import type { Client } from "../support/client.ts";
import { everything } from "../support/kept-messages.ts";
import { runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { untilSpareFilesAreWhole } from "../support/spare-files.ts";
import { unlessKilled } from "./kill-load.ts";

const mebibyte = 1024 * 1024;
const watched = { STORE_FREE_BYTES_MIN: String(8 * mebibyte) };
const refused = { status: 503, body: { result: "error", code: "STORE_REFUSES_WRITES" } };

function diskFor(t: Test, mebibytes: number): SmallDisk | null {
  const disk = SmallDisk.mount(t, mebibytes);
  if (disk instanceof SmallDisk) return disk;
  t.pass(`no small disk: ${disk}`, { skip: disk });
  return null;
}

function kept(disk: SmallDisk, name: string): boolean {
  return existsSync(join(disk.dataDir, name));
}

function post(client: Client, content: string) {
  return client.post("/messages", { type: "channel", to: "general", topic: "t", content });
}

/** The server looks at its disk once in 5 ms at most. */
const lookMsMax = 10;

/** Asks until the server must have looked at the disk as it is now. */
async function untilSeen({ url }: Client): Promise<void> {
  const changedAt = performance.now();
  for (let sentAt = changedAt; sentAt - changedAt <= lookMsMax; ) {
    sentAt = performance.now();
    await (await fetch(`${url}/health`)).text();
  }
}

/** Null while the server writes. */
function endOfJournal(dataDir: string): number | null {
  try {
    return recoverJournal(journalFolder(dataDir), null).end;
  } catch {
    return null;
  }
}

/** Resolves when the store has everything: no checkpoint is under way, which would end a server whose disk gets full. */
async function untilStored({ dataDir }: SmallDisk): Promise<void> {
  for (;;) {
    const environment = openEnvironment(join(dataDir, "realms", "1"));
    const turn = turnNumberIn(environment);
    await environment.close();
    if (turn === endOfJournal(dataDir)) return;
    await new Promise((resolve) => setTimeout(resolve, limits.checkpoint_interval_ms / 3));
  }
}

/**
 * Fills the disk for a server that runs. It releases its ballast when it looks, and the other program uses that space,
 * too.
 */
async function fillBeside(disk: SmallDisk, owner: Client, leaveBytes = 0): Promise<void> {
  // A ballast that is still being written would not be released.
  await untilSpareFilesAreWhole(disk.dataDir);
  await untilStored(disk);
  do {
    disk.fill(leaveBytes);
    await untilSeen(owner);
  } while (kept(disk, "ballast"));
  disk.fill(leaveBytes);
  // A look of its own may have found the place of the ballast.
  await untilSeen(owner);
}

t.test("[M5] while the disk is full only reads work, and writes again when space returns", async (t) => {
  const disk = diskFor(t, 96);
  if (disk === null) return;
  const { program, owner } = await startProgram(t, disk.dataDir, watched);
  t.equal((await post(owner, "before")).status, 200);
  for (const leaveBytes of [4 * mebibyte, 0]) {
    await fillBeside(disk, owner, leaveBytes);
    t.match(await post(owner, "refused"), refused);
    t.match(await owner.post("/register"), refused);
    t.equal((await owner.get("/users/me")).status, 200);
    t.equal((await owner.post("/typing", { type: "channel", op: "start", stream_id: 1, topic: "t" })).status, 200);
    t.strictSame([kept(disk, "ballast"), kept(disk, "reserve")], [false, true], "the reserve is for a start only");
    t.strictSame((await everything(owner)).map(({ content }) => content).includes("refused"), false);
    disk.giveRoom();
    await untilSeen(owner);
    t.equal((await post(owner, `with ${leaveBytes} bytes of space`)).status, 200);
  }
  t.equal((await everything(owner)).length, 3);
  t.equal((await program.end("SIGTERM")).code, 0);
});

t.test("[M5] a disk filled in a race gives no false 200 but an exit, and a start that serves reads", async (t) => {
  const disk = diskFor(t, 64);
  if (disk === null) return;
  // This server does not check the free space, so it always loses the race.
  const { program, owner } = await startProgram(t, disk.dataDir, { STORE_FREE_BYTES_MIN: "0" });
  const acknowledged: string[] = [];
  const wrong: number[] = [];
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    for (let count = 0; ; count++) {
      const content = `l${lane}-${count} ${"x".repeat(5000)}`;
      const work = post(owner, content).then(({ status }) => {
        if (status === 200) acknowledged.push(content);
        else wrong.push(status);
      });
      if (acknowledged.length === 200) disk.fill();
      if (!(await unlessKilled(work))) return;
      if (acknowledged.length > 200) disk.fill();
    }
  });
  await Promise.all(lanes);
  t.equal((await program.exited).signal, "SIGKILL", "it ended itself");
  t.strictSame(wrong, [], "every response was true");

  disk.fill();
  t.ok(disk.freeBytes < 64 * 1024, `${disk.freeBytes} bytes free`);
  for (const start of ["the first start", "one more"]) {
    const again = await startProgram(t, disk.dataDir, watched);
    t.notOk(kept(disk, "reserve"), "given back");
    t.match(again.program.stdout, /changes are rejected until there is more space/, `${start} says so`);
    const stored = new Set((await everything(again.owner)).map(({ content }) => content));
    const found = acknowledged.filter((content) => !stored.has(content));
    t.strictSame(found, [], `${start}: all ${acknowledged.length} acknowledged messages exist`);
    t.match(await post(again.owner, "refused"), refused);
    await again.program.end("SIGKILL");
    // As after an orderly stop, so that the next start finds no file that it could overwrite.
    rmSync(join(disk.dataDir, "server.pid"));
    disk.fill();
  }
  disk.giveRoom();
  const last = await startProgram(t, disk.dataDir, watched);
  t.equal((await post(last.owner, "on")).status, 200);
  t.equal((await last.program.end("SIGTERM")).code, 0);
  const environment = openEnvironment(join(disk.dataDir, "realms", "1"));
  t.teardown(() => environment.close());
  t.strictSame(auditRealm(environment), []);
});

t.test("a backup from a full disk to another disk is complete", async (t) => {
  const disk = diskFor(t, 96);
  if (disk === null) return;
  const { owner } = await startProgram(t, disk.dataDir, watched);
  await uploaded(owner, "soup");
  await fillBeside(disk, owner);
  t.match(await post(owner, "refused"), refused);
  disk.fill();
  const folder = join(temporaryFolder(t), "copy");
  const made = await runCli(t, disk.dataDir, "backup", folder);
  const unnoted = `colloquy: the backup is complete, but its time could not be noted in ${join(disk.dataDir, "last-backup.json")}: ENOSPC\n`;
  t.strictSame([made.code, made.stdout, made.stderr], [0, `backup is at ${folder}\n`, unnoted]);
  t.notOk(readdirSync(disk.dataDir).some((name) => name.startsWith("last-backup")));
  t.strictSame((await runCli(t, disk.dataDir, "backup", "--verify", folder)).stderr, "");
  t.equal(readdirSync(join(folder, "realms", "1", "files", "uploads")).length, 1);
});

t.test("[M5] a start without any disk space logs it and exits with 75", async (t) => {
  const disk = diskFor(t, 16);
  if (disk === null) return;
  disk.fill();
  await t.rejects(startProgram(t, disk.dataDir, watched), /colloquy: the disk of DATA_DIR=[^\n]+ is full[^\n]+\n$/);
});

t.test("a data folder that is not writable gives one clear line and exit code 78", async (t) => {
  const disk = diskFor(t, 64);
  if (disk === null) return;
  const { program } = await startProgram(t, disk.dataDir, watched);
  t.equal((await program.end("SIGTERM")).code, 0);
  disk.makeReadOnly();
  await t.rejects(startProgram(t, disk.dataDir, watched), /^[^\n]*colloquy: DATA_DIR="[^"]+" cannot be used: EROFS\n$/);
});
