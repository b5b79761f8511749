/**
 * Names that become paths: what somebody has changed in an archive, a backup or a store leads nowhere else, and a restore
 * takes only files and folders.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { uploadName } from "../../schemas/files.ts";
import { checksumOf } from "../../src/durability/archive/base-copy.ts";
import { readBase, writeManifest } from "../../src/durability/archive/base-manifest.ts";
import {
  archivedFiles,
  baseFolder,
  erasedFile,
  identityFile,
  publishJson,
} from "../../src/durability/archive/layout.ts";
import { pruneArchive } from "../../src/durability/archive/prune.ts";
import { restoreArchive } from "../../src/durability/archive/restore-archive.ts";
import { verifyFiles } from "../../src/store/backup-manifest.ts";
import { dataFile } from "../../src/store/data-file.ts";
import { fileIn } from "../../src/store/files.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { formatMark } from "../../src/store/migrations.ts";
import { realmFolder } from "../../src/store/realm-folders.ts";
import { restoreBackup } from "../../src/store/restore.ts";
import { basesOf } from "../archive/archive-support.ts";
import { complete, startArchived } from "../archive/archived-server.ts";
import { uploaded } from "../support/attachments.ts";
import { temporaryFolder } from "../support/server.ts";

const otherNames = [
  "uploads/../../../outside.bin",
  "/etc/passwd",
  "uploads/",
  "..",
  `uploads/${"0".repeat(32)}.bin/..`,
  `uploads/${"0".repeat(32)}.bin\n`,
  `uploads\\${"0".repeat(32)}.bin`,
];

t.test("[S1] a name that no file of the server has does not become a path", async (t) => {
  for (const name of otherNames)
    t.throws(() => fileIn("/data", name), /is not a valid file name/, JSON.stringify(name));
  t.equal(fileIn("/data", `uploads/${"0".repeat(32)}.bin`), `/data/uploads/${"0".repeat(32)}.bin`);
  for (const id of ["../../outside", 0, -1, 1.5, Number.NaN] as number[]) {
    for (const path of [realmFolder, archivedFiles, erasedFile]) t.throws(() => path("/data", id), /is not the id/);
    if (id !== 0) t.throws(() => baseFolder("/archive", 1, id), /is not a number/);
  }
});

/** An archive with an uploaded file, of a server that has ended. */
async function archiveOf(t: Test): Promise<string> {
  const server = await startArchived(t);
  await uploaded(server.owner, "soup");
  await complete(server);
  await server.program.end("SIGKILL");
  return server.archive;
}

t.test("a tampered archive writes nothing outside the data folder", async (t) => {
  const archive = await archiveOf(t);
  const [base] = basesOf(archive);
  if (base === undefined) throw new Error("no base");
  const { generation, number } = base;
  const folder = baseFolder(archive, generation, number);
  const place = temporaryFolder(t);
  const restored = () => restoreArchive(archive, join(place, "restored"), "latest");

  const store = realmFolder(folder, 1);
  const lmdb = openLmdb(store);
  const name = uploadName("../../../../../outside");
  const row = { id: 77, ownerId: 2, file: "../../../../../outside", name: "x", pathName: "x", size: 4, createdAt: 1 };
  lmdb.transaction(() => {
    lmdb.put("attachments", 77, { ...row, image: null, unclaimedSince: null, sha256: null });
  });
  await lmdb.close();
  const source = join(archivedFiles(archive, 1), name);
  mkdirSync(dirname(source), { recursive: true });
  writeFileSync(source, "evil");
  const copy = dataFile(store);
  const changed = { bytes: readFileSync(copy).length, checksum: checksumOf(copy) };
  const { generation: _generation, number: _number, ...manifest } = base;
  writeManifest(folder, { ...manifest, realms: base.realms.map((realm) => ({ ...realm, ...changed })) });
  const { problems } = await restored();
  t.ok(
    problems.some((line) => line.includes("outside.bin") && line.includes("is not the name of a file")),
    problems.join("\n"),
  );
  for (let up = join(place, "restored"); up !== "/"; up = dirname(up)) {
    t.notOk(existsSync(join(up, "outside.bin")), up);
  }

  const [first] = base.realms;
  writeManifest(folder, {
    ...manifest,
    realms: [{ ...first, id: "../../../outside" as never } as typeof first & object],
  });
  t.throws(() => readBase(archive, generation, number), /names an organization that cannot be/);
});

t.test("a tampered note of a removal removes nothing outside the archive", async (t) => {
  const place = temporaryFolder(t);
  const archive = join(place, "archive");
  const kept = join(place, "kept");
  writeFileSync(kept, "kept");
  mkdirSync(archivedFiles(archive, 1), { recursive: true });
  for (const note of [
    { generation: 1, base: 1, from: 0, files: ["1/../../../kept"] },
    { generation: 1, base: 1, from: 0, files: ["../kept"] },
    { generation: "../..", base: 1, from: 0, files: [] },
  ]) {
    publishJson(join(archive, "removing.json"), note);
    t.throws(() => pruneArchive(archive, 0), / is not (a|the) /);
    t.ok(existsSync(kept));
  }
});

t.test("a restore rejects a folder with a link, and writes nothing", async (t) => {
  const place = temporaryFolder(t);
  const secret = join(place, "secret");
  writeFileSync(secret, "of this machine");
  for (const [index, link] of ["zuliprc", "realms/1/files/uploads/x.bin", "realms/1/files"].entries()) {
    const backup = join(place, `backup-${index}`);
    mkdirSync(join(backup, "root"), { recursive: true });
    writeFileSync(join(backup, "root", "data.mdb"), "");
    mkdirSync(dirname(join(backup, link)), { recursive: true });
    symlinkSync(link === "realms/1/files" ? place : secret, join(backup, link));
    const target = join(place, "restored");
    const tools = { applyRecords: () => Promise.resolve() };
    await t.rejects(restoreBackup(backup, target, tools), {
      message: `${join(backup, link)} is neither a file nor a folder. Remove it.`,
    });
    t.notOk(existsSync(target));
  }
  const archive = join(place, "archive");
  mkdirSync(archivedFiles(archive, 1), { recursive: true });
  symlinkSync(secret, join(archivedFiles(archive, 1), "x.bin"));
  writeFileSync(identityFile(archive), JSON.stringify({ format: formatMark }));
  await t.rejects(restoreArchive(archive, join(place, "restored"), "latest"), /is neither a file nor a folder/);
});

t.test("a manifest that names a file elsewhere makes nobody read it", async (t) => {
  const place = temporaryFolder(t);
  writeFileSync(join(place, "secret"), "");
  mkdirSync(join(place, "backup"));
  const file = { path: "../secret", bytes: 0, sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU" };
  const manifest = {
    format: formatMark,
    programVersion: "",
    storeVersion: 1,
    createdAt: "",
    realms: [],
    files: [file],
  };
  t.strictSame(await verifyFiles(join(place, "backup"), manifest), ["../secret cannot be read: ENOENT"]);
});
