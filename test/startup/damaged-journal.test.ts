/** A journal that cannot be read back: the start is rejected with one line that names the file, and nothing is changed. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const isSegment = (name: string) => name.endsWith(".journal");

t.test("[M5] a start with a damaged or incomplete journal is rejected with one line and exit code 78", async (t) => {
  const dataDir = temporaryFolder(t);
  const { program, owner } = await startProgram(t, dataDir);
  for (let round = 0; round < 3; round++) await owner.say("general", "t", `text ${round}`);
  await program.end("SIGKILL");
  const folder = join(dataDir, "journal");
  const [segment = ""] = readdirSync(folder).filter(isSegment);
  const file = join(folder, segment);
  const whole = readFileSync(file);

  const damaged = Buffer.from(whole);
  // The first record's bytes, behind the segment's and the frame's header.
  damaged.fill(0xff, 120, 128);
  for (const [what, spoil] of [
    ["a record is damaged", () => writeFileSync(file, damaged)],
    ["a segment is missing", () => rmSync(file)],
  ] as const) {
    spoil();
    await t.rejects(startProgram(t, dataDir), { message: /colloquy: [^\n]*journal[^\n]*restore a backup/ }, what);
    writeFileSync(file, whole, { mode: 0o600 });
  }
  const again = await startProgram(t, dataDir);
  t.equal(
    (await again.owner.get("/messages", { anchor: "newest", num_before: 9, num_after: 0 })).body.messages.length,
    3,
  );
  t.equal((await again.program.end("SIGTERM")).code, 0);
});
