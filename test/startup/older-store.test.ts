/**
 * The upgrade of a data folder that an older program wrote (test/store/fixtures/README.md): everything is served as
 * that program served it, wherever the first start is interrupted.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { openEnvironment } from "../../src/store/environment.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { contentsOf } from "../../src/store/seal.ts";
import { askAll, type OlderStore, unpackStore } from "../support/older-store.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { traced, tracingObstacle } from "../support/strace.ts";

const fixture = "version-7.tar.gz";
const stores = ["root", "realms/1", "realms/2"] as const;

async function rootVersion(dataDir: string): Promise<number> {
  const root = open<Buffer, string[]>({ path: join(dataDir, "root"), encoding: "binary" });
  const sealed = root.get(["version"]) as Buffer;
  const { start, end } = contentsOf(sealed);
  const version = Number(sealed.toString("utf8", start, end));
  await root.close();
  return version;
}

/** Of each store, in the order of `stores`. */
async function versionsIn(dataDir: string): Promise<number[]> {
  const versions = [await rootVersion(dataDir)];
  for (const realm of stores.slice(1)) {
    const environment = openEnvironment(join(dataDir, realm));
    versions.push(environment.get("meta", "version")?.value as number);
    await environment.close();
  }
  return versions;
}

const upgraded = stores.map(() => storeVersion);

/** Asks everything, writes something, and stops. */
async function requireAll(t: Test, { dataDir, accounts, answers }: OlderStore): Promise<void> {
  const { program, url, owner } = await startProgram(t, dataDir);
  t.strictSame(await askAll(url, accounts), answers);
  t.ok((await owner.say("kitchen", "lunch", "still hungry")) > 0);
  t.equal((await program.end("SIGTERM")).code, 0);
  t.strictSame(await versionsIn(dataDir), upgraded);
}

t.test("[operations, Start, stop, exit codes] a store of version 7 is upgraded at the first start", async (t) => {
  const older = unpackStore(t, fixture);
  t.strictSame(await versionsIn(older.dataDir), [7, 7, 7]);
  await requireAll(t, older);
  t.ok(existsSync(join(older.dataDir, "journal")));
});

/** Where the upgrade is interrupted, one after the other: at the flush of a store, by its number. */
const interruptions = [
  { store: "root", flush: 1, versions: [7, 7, 7] },
  { store: "realms/1", flush: 1, versions: [8, 7, 7] },
  { store: "realms/1", flush: 2, versions: [8, 7, 7] },
] as const;

t.test("[M2] an upgrade that is killed at any of its flushes is completed by a later start", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not traced: ${reason}`, { skip: reason });
    return;
  }
  const older = unpackStore(t, fixture);
  const { dataDir } = older;
  for (const { store, flush, versions } of interruptions) {
    const kill = ["-P", join(dataDir, store, "data.mdb"), "-e", `inject=fdatasync:signal=SIGKILL:when=${flush}`];
    const program = traced(t, { dataDir, file: join(temporaryFolder(t), "trace"), flags: kill });
    t.equal((await program.exited).signal, "SIGKILL", `${store}, flush ${flush}`);
    t.strictSame(await versionsIn(dataDir), versions);
  }
  await requireAll(t, older);
});
