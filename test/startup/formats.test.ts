/**
 * Data of a newer program, and data that no release wrote, is rejected with one line and left unchanged; data of an
 * older release is upgraded.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { seal } from "../../src/store/codec.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { formatMark, migrateRow, migrateStore, requireMark, storeVersion } from "../../src/store/migrations.ts";
import { Program, runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

type MetaRow = "format" | "version";

/** Writes one of the rows and removes the other. Before the first release the version was in the row `version`. */
async function setRoot(dataDir: string, row: MetaRow, version: number): Promise<void> {
  const root = open<Buffer, string[]>({ path: join(dataDir, "root"), encoding: "binary" });
  for (const name of ["format", "version"]) root.removeSync([name]);
  root.putSync([row], seal("root", [row], Buffer.from(String(version))));
  await root.close();
}

async function changeRealm(dataDir: string, work: (lmdb: Lmdb) => void): Promise<void> {
  const lmdb = openLmdb(join(dataDir, "realms", "1"));
  lmdb.transaction(() => work(lmdb));
  await lmdb.close();
}

function setRealm(dataDir: string, row: MetaRow, version: number): Promise<void> {
  return changeRealm(dataDir, (lmdb) => {
    for (const name of ["format", "version"]) lmdb.remove("meta", name);
    lmdb.put("meta", row, { value: version });
  });
}

function digest(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

async function stoppedServer(t: Test): Promise<string> {
  const dataDir = temporaryFolder(t);
  const { program } = await startProgram(t, dataDir);
  t.equal((await program.end("SIGTERM")).code, 0);
  return dataDir;
}

const newer = storeVersion + 1;
const tooNew = `has version ${newer}, this program knows ${storeVersion}: use the newer program`;
const fromBefore = "was written before the first release, and no release reads it: start anew";

t.test("data of a newer program, or from before the first release, is rejected with exit code 78", async (t) => {
  const dataDir = await stoppedServer(t);
  const isUntouched = async (part: string, reason: string) => {
    const before = digest(join(dataDir, part, "data.mdb"));
    const environment = { DATA_DIR: dataDir, PORT: "0" };
    const { code, stdout, stderr } = await new Program(t, process.execPath, ["colloquy.mjs"], environment).exited;
    t.strictSame([code, stdout, stderr], [78, "", `colloquy: ${reason}\n`]);
    const listed = await runCli(t, dataDir, "list-users");
    t.match(listed, { code: 78, stdout: "" });
    t.match(listed.stderr, /^colloquy: [^\n]+\n$/);
    t.equal(digest(join(dataDir, part, "data.mdb")), before, `${part} is as it was`);
  };

  await setRealm(dataDir, "format", newer);
  await isUntouched("realms/1", `an organization's data ${tooNew}`);
  await setRealm(dataDir, "version", 8);
  await isUntouched("realms/1", `an organization's data ${fromBefore}`);
  await setRoot(dataDir, "format", newer);
  await isUntouched("root", `the data ${tooNew}`);
  for (const version of [1, 8]) {
    await setRoot(dataDir, "version", version);
    await isUntouched("root", `the data ${fromBefore}`);
  }

  await setRealm(dataDir, "format", storeVersion);
  await setRoot(dataDir, "format", storeVersion);
  const again = await startProgram(t, dataDir);
  t.equal((await again.owner.get("/users/me")).status, 200);
});

t.test("a backup from before the first release is neither verified nor restored", async (t) => {
  const dataDir = await stoppedServer(t);
  const backup = join(temporaryFolder(t), "backup");
  t.equal((await runCli(t, dataDir, "backup", backup)).code, 0);
  const file = join(backup, "manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { readonly format: string };
  t.equal(manifest.format, formatMark);
  for (const [format, reason] of [
    [1, fromBefore],
    [`colloquy-${newer}`, tooNew],
  ]) {
    writeFileSync(file, JSON.stringify({ ...manifest, format }));
    for (const command of [["backup", "--verify"], ["restore"]]) {
      const { code, stdout, stderr } = await runCli(t, join(temporaryFolder(t), "new"), ...command, backup);
      t.strictSame([code, stdout, stderr], [78, "", `colloquy: ${backup} ${reason}\n`]);
    }
  }
});

t.test("a mark of this program or an older release is known, and no other", async (t) => {
  requireMark("it", formatMark);
  for (const mark of [1, 8, undefined, null, "", "colloquy-0", "colloquy-x"]) {
    t.throws(() => requireMark("it", mark), { name: "UnknownFormat", message: `it ${fromBefore}` });
  }
  t.throws(() => requireMark("it", `colloquy-${newer}`), { name: "UnknownFormat", message: `it ${tooNew}` });
});

t.test("[M2] the steps from an older version run in one transaction, which a failure takes back", async (t) => {
  const lmdb = openLmdb(temporaryFolder(t));
  t.teardown(() => lmdb.close());
  lmdb.transaction(() => lmdb.put("meta", "format", { value: 1 }));
  const steps = {
    1: (store: Lmdb) => store.put("meta", "first", { value: "ran" }),
    2: (store: Lmdb) => store.put("meta", "second", { value: store.get("meta", "first")?.value }),
  };
  t.throws(() => migrateStore(lmdb, 1, { steps, to: 4 }), /no migration of a store from version 3/);
  t.strictSame(lmdb.keys("meta", { limit: 9 }), ["format"]);
  migrateStore(lmdb, 1, { steps, to: 3 });
  t.equal(lmdb.get("meta", "second")?.value, "ran");
  t.equal(lmdb.get("meta", "format")?.value, 3);
});

t.test("a row is upgraded from the version that wrote it", async (t) => {
  const steps = {
    1: (row: Record<string, unknown>) => ({ ...row, second: 2 }),
    2: (row: Record<string, unknown>) => ({ ...row, third: row["second"] }),
  };
  t.strictSame(migrateRow("users", 1, { id: 1 }, { steps, to: 3 }), { id: 1, second: 2, third: 2 });
  t.strictSame(migrateRow("users", 3, { id: 1 }, { steps, to: 3 }), { id: 1 });
  t.throws(() => migrateRow("users", 0, {}, { steps, to: 3 }), /no migration from version 0/);
  t.throws(() => migrateRow("users", 4, {}, { steps, to: 3 }), /newer than this program/);
});
