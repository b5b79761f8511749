/**
 * A disk that is really full (M5): a tmpfs of a few megabytes that another program fills. Skipped with a message where mounting is not permitted.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { journalFolder } from "../../src/durability/journal/apply-journal.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import { uploaded } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { everything } from "../support/kept-messages.ts";
import { runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import type { SmallDisk } from "../support/small-disk.ts";
import { untilSpareFilesAreWhole } from "../support/spare-files.ts";
import { diskFor, kept, mebibyte, post, refused, watched } from "./full-disk-support.ts";

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
    const lmdb = openLmdb(join(dataDir, "realms", "1"));
    const turn = turnNumberIn(lmdb);
    await lmdb.close();
    if (turn === endOfJournal(dataDir)) return;
    await new Promise((resolve) => setTimeout(resolve, limits.checkpoint_interval_ms / 3));
  }
}

/**
 * Fills the disk for a server that runs. It releases its reserved space when it looks, and the other program uses that space,
 * too.
 */
async function fillBeside(disk: SmallDisk, owner: Client, leaveBytes = 0): Promise<void> {
  // A reserved space that is still being written would not be released.
  await untilSpareFilesAreWhole(disk.dataDir);
  await untilStored(disk);
  do {
    disk.fill(leaveBytes);
    await untilSeen(owner);
  } while (kept(disk, "reserved-space"));
  disk.fill(leaveBytes);
  // A look of its own may have found the place of the reserved space.
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
    t.strictSame(
      [kept(disk, "reserved-space"), kept(disk, "reserve")],
      [false, true],
      "the reserve is for a start only",
    );
    t.strictSame((await everything(owner)).map(({ content }) => content).includes("refused"), false);
    disk.giveRoom();
    await untilSeen(owner);
    t.equal((await post(owner, `with ${leaveBytes} bytes of space`)).status, 200);
  }
  t.equal((await everything(owner)).length, 3);
  t.equal((await program.end("SIGTERM")).code, 0);
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
