/**
 * Copies that survive a power cut (M1): when `backup` and `restore` report success, the kernel was asked to flush every
 * file and folder of the copy. Skipped with a message where strace is missing or not permitted.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { uploaded } from "../support/attachments.ts";
import { Program, runCli } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { tracingObstacle } from "../support/strace.ts";

/** Every file and folder inside, and the folder itself, without the lock files. */
function entriesOf(folder: string): string[] {
  const isLock = (name: string) => name === "lock" || name.endsWith("lock.mdb");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !isLock(name));
  return [folder, ...names.map((name) => join(folder, name))].sort();
}

t.test("[M1] a backup and a restored folder are flushed before the command reports success", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not traced: ${reason}`, { skip: reason });
    return;
  }
  const { owner, dataDir } = await startTestServer(t);
  await uploaded(owner, "kept");
  const folder = temporaryFolder(t);
  const [backup, copy] = [join(folder, "backup"), join(folder, "copy")];
  for (const [target, home, ...args] of [
    [backup, dataDir, "backup", backup],
    [copy, copy, "restore", backup],
  ] as const) {
    const trace = join(folder, `trace-${args[0]}`);
    const flags = ["-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace];
    const traced = [...flags, process.execPath, "colloquy.mjs", ...args];
    const { code, stderr } = await new Program(t, "strace", traced, { DATA_DIR: home }).exited;
    t.strictSame([code, stderr], [0, ""]);
    const paths = [...readFileSync(trace, "utf8").matchAll(/sync\(\d+<([^>]+)>/g)].map(([, path]) => path);
    t.ok(paths.includes(target), "the folder itself");
    // A renamed file keeps what was flushed before.
    const flushed = new Set(paths.map((path) => path?.replace("/restoring/", "/")));
    const missing = entriesOf(target).filter((path) => !flushed.has(path));
    t.strictSame(missing, [], args[0]);
    t.ok(flushed.has(folder), "its own name, too");
    t.ok(
      entriesOf(target).some((path) => path.includes("/files/")),
      "it contains an uploaded file",
    );
  }
  t.equal((await runCli(t, copy, "check")).code, 0);
});
