/**
 * A start on a full disk after a kill that left far more in the journal than the disk has space for (M5): it recovers,
 * or says that it cannot, and nothing is lost. Skipped with a message where mounting is not permitted.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { brokenCheckout } from "../support/broken-checkout.ts";
import { everything } from "../support/kept-messages.ts";
import { Program, startProgram } from "../support/process.ts";
import { SmallDisk } from "../support/small-disk.ts";

const mebibyte = 1024 * 1024;
const watched = { STORE_FREE_BYTES_MIN: String(8 * mebibyte) };
const posts = 600;
const lanes = 16;

function journalBytes(dataDir: string): number {
  const folder = join(dataDir, "journal");
  const segments = readdirSync(folder).filter((name) => name.endsWith(".journal"));
  return segments.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** The program, with checkpoints that wait as on a busy disk. */
function withLateCheckpoints(t: Test): string {
  const file = "schemas/limits/common.ts";
  return brokenCheckout(t, [
    { file, from: "checkpoint_interval_ms: 300,", to: "checkpoint_interval_ms: 3_600_000," },
    { file, from: "checkpoint_bytes: 8 *", to: "checkpoint_bytes: 64 *" },
    { file, from: "checkpoint_memory_bytes: 8 *", to: "checkpoint_memory_bytes: 64 *" },
  ]);
}

/** Posts without a checkpoint, and kills the server. @returns what was acknowledged */
async function leaveBacklog(t: Test, dataDir: string): Promise<string[]> {
  const { program, owner } = await startProgram(t, dataDir, watched, withLateCheckpoints(t));
  const texts: string[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let count = lane; count < posts; count += lanes) {
        const content = `${count} ${"x".repeat(9_990)}`;
        await owner.say("general", "t", content);
        texts.push(content);
      }
    }),
  );
  await program.end("SIGKILL");
  return texts;
}

t.test("[M5] a start on a full disk with a large backlog loses nothing, and works once there is space", async (t) => {
  const disk = SmallDisk.mount(t, 192);
  if (typeof disk === "string") {
    t.pass(`not possible here: ${disk}`, { skip: disk });
    return;
  }
  const { dataDir } = disk;
  const texts = await leaveBacklog(t, dataDir);
  if (!t.ok(journalBytes(dataDir) > 10 * mebibyte, `the journal has ${journalBytes(dataDir)} bytes`)) return;

  // Another program takes what the server had kept for itself, too.
  for (const kept of ["reserved-space", "reserve"]) rmSync(join(dataDir, kept), { force: true });
  disk.fill();
  for (const start of ["the first", "another"]) {
    const environment = { DATA_DIR: dataDir, PORT: "0", ...watched };
    const { code, stderr } = await new Program(t, process.execPath, ["colloquy.mjs"], environment).exited;
    t.equal(code, 75, `${start} start`);
    t.match(stderr, /^(?:.*\n)?colloquy: the disk of DATA_DIR=[^\n]+ is full[^\n]+\n$/);
    disk.fill();
  }
  disk.giveRoom();
  const last = await startProgram(t, dataDir, watched);
  const stored = new Set((await everything(last.owner)).map(({ content }) => content));
  const found = texts.filter((content) => !stored.has(content));
  t.strictSame(found, [], "everything that was acknowledged is there");
  t.ok((await last.owner.say("general", "t", "on")) > 0);
  t.equal((await last.program.end("SIGTERM")).code, 0);
});
