/**
 * A disk that another program fills in a race with the server (M5). Whoever wins is up to the machine, so only the deep
 * tier plays it; the simulation fills disks at any moment. Skipped with a message where mounting is not permitted.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { auditRealm } from "../support/audit.ts";
import { everything } from "../support/kept-messages.ts";
import { startProgram } from "../support/process.ts";
import { diskFor, kept, post, refused, watched } from "./full-disk-support.ts";
import { unlessKilled } from "./kill-load.ts";

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
  const lmdb = openLmdb(join(disk.dataDir, "realms", "1"));
  t.teardown(() => lmdb.close());
  t.strictSame(auditRealm(lmdb), []);
});
