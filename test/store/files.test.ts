/**
 * Files next to the store (architecture, Files): complete or absent, private, found only by generated names, and swept
 * when no row claims them, also after a crash between the file and the turn. Backups contain them, and the check
 * reports missing ones.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { avatarFiles, fileNameShape } from "../../schemas/files.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { backupFolder, checkFolder, restoreFolder } from "../../src/store/backup.ts";
import { FileStore, filesFolder, listFiles } from "../../src/store/files.ts";
import { RootStore } from "../../src/store/root.ts";
import { backupPorts } from "../support/backup-ports.ts";
import { OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

const bytes = Buffer.from("the bytes of a picture");
const id = (digit: number) => String(digit).repeat(32);
const nameOf = (digit: number) => `avatars/${id(digit)}.png`;

function openFiles(t: Test) {
  const folder = join(temporaryFolder(t), "files");
  const reported: unknown[] = [];
  const store = new FileStore({ folder, acceptsWrites: () => true, report: (error) => reported.push(error) });
  return { folder, store, reported };
}

t.test("a written file can be read, and a missing one is null", async (t) => {
  const { store, folder } = openFiles(t);
  t.equal(await store.read(nameOf(1)), null, "not even the folder exists");
  t.equal(
    await store.write([
      { name: nameOf(1), bytes },
      { name: `emoji/${id(2)}.gif`, bytes },
    ]),
    true,
  );
  t.strictSame(await store.read(nameOf(1)), bytes);
  t.strictSame(await store.read(`emoji/${id(2)}.gif`), bytes);
  t.equal(await store.read(nameOf(3)), null);
  t.strictSame((await listFiles(folder)).sort(), [nameOf(1), `emoji/${id(2)}.gif`], "no temporary files are left");
  t.equal(store.bytes, 2 * bytes.length);
});

t.test("[S2] no other account on the machine can read files or folders", async (t) => {
  const { store, folder } = openFiles(t);
  await store.write([{ name: nameOf(1), bytes }]);
  t.equal(statSync(join(folder, nameOf(1))).mode & 0o777, 0o600);
  t.equal(statSync(join(folder, "avatars")).mode & 0o777, 0o700);
  t.equal(statSync(folder).mode & 0o777, 0o700);
});

t.test("[S1] a name that could lead to another path is rejected", async (t) => {
  const { store, folder } = openFiles(t);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "..", "secret.png"), "secret");
  const bad = [
    "../secret.png",
    "avatars/../../secret.png",
    `avatars/${id(1)}`,
    `/${id(1)}.png`,
    `${id(1)}.png`,
    "",
    `avatars/${id(1)}.png\n`,
    `avatars/${id(1)}.png\0`,
    `a/b/${id(1)}.png`,
    `avatars\\${id(1)}.png`,
  ];
  for (const name of bad) {
    t.notOk(fileNameShape.test(name), JSON.stringify(name));
    await t.rejects(store.read(name), /not a valid file name/);
    t.throws(() => store.write([{ name, bytes }]), /not a valid file name/);
  }
});

t.test("[M5] several files are written all or none, and a failure leaves no temporary file", async (t) => {
  const { store, folder } = openFiles(t);
  // A folder in place of the second file: it cannot be replaced by a rename.
  mkdirSync(join(folder, nameOf(2), "occupied"), { recursive: true });
  await t.rejects(
    store.write([
      { name: nameOf(1), bytes },
      { name: nameOf(2), bytes },
    ]),
  );
  t.strictSame(await listFiles(folder), [nameOf(2)]);
  t.equal(await store.read(nameOf(1)), null);
  t.equal(store.bytes, 0);
});

t.test("after the turn, the files that it claimed stay and the others are removed", async (t) => {
  const { store, folder } = openFiles(t);
  await store.write([{ name: nameOf(1), bytes }]);
  await store.write([{ name: nameOf(2), bytes }]);
  store.confirm([nameOf(1)], true);
  store.confirm([nameOf(2)], false);
  await store.idle();
  t.strictSame(await listFiles(folder), [nameOf(1)]);
  store.discard(nameOf(1));
  store.discard(nameOf(1));
  store.discard(nameOf(3));
  await store.idle();
  t.strictSame(await listFiles(folder), []);
  t.equal(store.bytes, 0);
});

t.test("a sweep removes unclaimed files, and none that is being written", async (t) => {
  const { store, folder, reported } = openFiles(t);
  await store.write([{ name: nameOf(1), bytes }]);
  mkdirSync(join(folder, "emoji"), { recursive: true });
  for (const name of [nameOf(2), `${nameOf(3)}.part`, `emoji/${id(4)}.gif`, nameOf(5)]) {
    writeFileSync(join(folder, name), bytes);
  }
  const before = store.bytes;
  await store.sweep(() => new Set([nameOf(5)]));
  t.strictSame((await listFiles(folder)).sort(), [nameOf(1), nameOf(5)], "unsettled, and claimed");
  t.equal(store.bytes, before + bytes.length, "earlier files are counted");
  store.confirm([nameOf(1)], false);
  await store.idle();
  await store.sweep(() => new Set());
  t.strictSame(await listFiles(folder), []);
  t.strictSame(reported, []);
});

/** A realm whose owner has an uploaded picture. */
async function withAvatar(t: Teardown, folder: string): Promise<OpenRealm & { readonly names: readonly string[] }> {
  const opened = await openNewRealm(t, { folder });
  const names = await idempotencyKey(opened, 1);
  return Object.assign(opened, { names });
}

async function idempotencyKey(opened: OpenRealm, digit: number): Promise<readonly string[]> {
  const file = `${id(digit)}.png`;
  const names = avatarFiles(`1/${file}`);
  await opened.realm.files.write(names.map((name) => ({ name, bytes })));
  await opened.ask(command({ actor: "user", id: ownerId }, "user.avatar.set", { file }, ownerId));
  opened.realm.files.confirm(names, true);
  return names;
}

function present(realm: string): string[] {
  return readdirSync(join(filesFolder(realm), "avatars"))
    .map((name) => `avatars/${name}`)
    .sort();
}

t.test("[M5] the bytes for the quota are those of existing files, whatever changes while a sweep counts", async (t) => {
  const before = openFiles(t);
  const old = Array.from({ length: 200 }, (_, index) => `avatars/${String(index + 1000).padStart(32, "0")}.png`);
  await before.store.write(old.map((name) => ({ name, bytes })));
  const { folder } = before;
  const store = new FileStore({ folder, acceptsWrites: () => true, report: (error) => t.fail(String(error)) });
  const gone = (await listFiles(folder)).slice(-5);
  const sweeping = store.sweep(() => {
    // The list has been read: these are removed before they are counted.
    for (const name of gone) store.discard(name);
    return new Set([...old, nameOf(4)]);
  });
  // And this one is added while the list is read.
  t.equal(await store.write([{ name: nameOf(4), bytes }]), true);
  store.confirm([nameOf(4)], true);
  await sweeping;
  await store.idle();
  t.equal(store.bytes, (old.length - gone.length + 1) * bytes.length);
  store.discard(old.find((name) => !gone.includes(name)) ?? "");
  await store.idle();
  t.equal(store.bytes, (old.length - gone.length) * bytes.length);
});

t.test("after a crash between a file and its turn, the next start sweeps the file", async (t) => {
  const folder = temporaryFolder(t);
  const { names, realm } = await withAvatar(t, folder);
  await realm.close();
  for (const orphan of [nameOf(7), `${nameOf(8)}.part`]) writeFileSync(join(filesFolder(folder), orphan), bytes);
  const again = await reopen(t, folder);
  t.strictSame(present(folder), [...names].sort());
  t.equal(again.files.bytes, 2 * bytes.length);
});

t.test("after a crash between a turn and the removal of its released files, the next start removes them", async (t) => {
  const folder = temporaryFolder(t);
  const { names, realm } = await withAvatar(t, folder);
  await realm.close();
  for (const name of avatarFiles(`1/${id(6)}.png`)) writeFileSync(join(filesFolder(folder), name), bytes);
  await reopen(t, folder);
  t.strictSame(present(folder), [...names].sort());
});

async function reopen(t: Teardown, folder: string) {
  const { realm } = new OpenRealm(t, { folder });
  await realm.files.idle();
  return realm;
}

t.test("[M1] files released by a turn are removed only after its flush", async (t) => {
  const folder = temporaryFolder(t);
  const opened = await withAvatar(t, folder);
  const next = await idempotencyKey(opened, 2);
  await opened.realm.files.idle();
  t.strictSame(present(folder), [...next].sort());
  t.strictSame(opened.bugs, []);
});

t.test(
  "[E1] a backup contains the files that its rows claim, whatever is released meanwhile, and a restore brings them back",
  async (t) => {
    const dataDir = temporaryFolder(t);
    const root = RootStore.open(dataDir);
    t.teardown(() => root.close());
    const opened = await withAvatar(t, realmFolder(dataDir, 1));
    opened.checkpoint();
    root.putRealm({ id: 1, label: "", hosts: [], createdAt: 0, dueHint: null });
    const target = join(temporaryFolder(t), "copy");
    const ports = backupPorts(dataDir);
    const settle = async (folder: string) => {
      // The rows are copied, the files are not.
      await idempotencyKey(opened, 2);
      await opened.realm.files.idle();
      await ports.applyRecords(folder);
    };
    t.strictSame(await backupFolder(root, dataDir, target, { ...ports, applyRecords: settle }), []);
    const copy = RootStore.open(target);
    t.teardown(() => copy.close());
    await restoreFolder(copy, target);
    t.strictSame(await checkFolder(copy, target), []);
    const kept = present(realmFolder(target, 1));
    t.ok(kept.length >= 2);
    t.equal(statSync(join(filesFolder(realmFolder(target, 1)), kept[0] ?? "")).mode & 0o077, 0, "and private");
  },
);

t.test("a claimed file that is missing is reported with its row", async (t) => {
  const dataDir = temporaryFolder(t);
  const root = RootStore.open(dataDir);
  t.teardown(() => root.close());
  const opened = await withAvatar(t, realmFolder(dataDir, 1));
  const { names, realm } = opened;
  opened.checkpoint();
  root.putRealm({ id: 1, label: "", hosts: [], createdAt: 0, dueHint: null });
  t.strictSame(await checkFolder(root, dataDir), []);
  const [small = "", medium = ""] = names;
  rmSync(join(filesFolder(realmFolder(dataDir, 1)), medium));
  const params = { name: "moving", file: `${id(9)}.gif`, stillFile: `${id(9)}-still.png` };
  await realm.dispatcher.ask(command({ actor: "realm" }, "emoji.add", params, ownerId));
  opened.checkpoint();
  t.ok(existsSync(join(filesFolder(realmFolder(dataDir, 1)), small)));
  t.strictSame(await checkFolder(root, dataDir), [
    `realm 1: user 2: the file ${medium} is missing`,
    `realm 1: custom emoji 1: the file emoji/${id(9)}.gif is missing`,
    `realm 1: custom emoji 1: the file emoji/${id(9)}-still.png is missing`,
  ]);
});
