/**
 * The upgrade of stores without checksums (architecture, Encoding): every row gets one, wherever the work is
 * interrupted, and from then on a row without a checksum is damaged.
 */
import { join } from "node:path";
import { open } from "lmdb";
import { pack, unpack } from "msgpackr";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { rowFields, rowVersions, storedName, type TableName } from "../../schemas/records.ts";
import { type Environment, openEnvironment } from "../../src/store/environment.ts";
import { migrateEnvironment, storeVersion } from "../../src/store/migrations.ts";
import { RootStore } from "../../src/store/root.ts";
import { checkSeal, contentsOf, isSealed, seal, sealBytes, sealedSince } from "../../src/store/seal.ts";
import { commands, crashImage, dump, OpenRealm, openNewRealm } from "../support/runtime.ts";
import { temporaryFolder } from "../support/server.ts";

const tables = Object.keys(rowFields) as TableName[];

type Change = (table: string, key: string | number, bytes: Buffer) => Buffer;

/** Changes the bytes of every row, bypassing the program. */
async function rewrite(folder: string, change: Change): Promise<void> {
  const root = open<Buffer, string>({ path: folder, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  for (const table of tables) {
    const rows = root.openDB<Buffer, string>({ name: storedName(table), encoding: "binary" });
    for (const { key, value } of [...rows.getRange({})]) rows.putSync(key, change(table, key, value));
  }
  await root.close();
}

function unsealed(bytes: Buffer): Buffer {
  const { start, end } = contentsOf(bytes);
  return Buffer.from(bytes.subarray(start, end));
}

/** As version 6 wrote it: no checksums, and the event log counted without them. */
async function makeOld(folder: string): Promise<void> {
  const environment = openEnvironment(folder);
  const events = environment.count("events");
  await environment.close();
  await rewrite(folder, (table, key, bytes) => {
    const row = unpack(unsealed(bytes)) as unknown[];
    if (table === "meta" && key === "version") row[1] = sealedSince - 1;
    if (table === "meta" && key === "ledger") {
      const realmCounters = row[1] as { eventBytes: number };
      realmCounters.eventBytes -= events * sealBytes;
    }
    return pack(row);
  });
}

async function sealsIn(folder: string): Promise<{ readonly sealed: number; readonly plain: number }> {
  const found = { sealed: 0, plain: 0 };
  const root = open<Buffer, string>({ path: folder, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  for (const table of tables) {
    for (const { value } of root.openDB<Buffer, string>({ name: storedName(table), encoding: "binary" }).getRange({})) {
      found[isSealed(value) ? "sealed" : "plain"]++;
    }
  }
  await root.close();
  return found;
}

function eventBytesIn(environment: Environment): number {
  const realmCounters = environment.get("meta", "ledger")?.value as { readonly eventBytes: number } | undefined;
  return realmCounters?.eventBytes ?? 0;
}

t.test("[architecture, Encoding] a store of version 6 gets a checksum for every row, and loses nothing", async (t) => {
  const founded = await openNewRealm(t);
  for (const text of ["one", "two", "three"]) await founded.ask(commands.post("a", text));
  await founded.idle();
  const image = crashImage(t, founded.folder);
  const today = openEnvironment(image);
  const before = dump(today);
  const eventBytes = eventBytesIn(today);
  await today.close();
  await makeOld(image);
  t.equal((await sealsIn(image)).sealed, 0);

  const reopened = new OpenRealm(t, { folder: image });
  await reopened.idle();
  t.strictSame(dump(reopened.environment), before);
  t.equal(eventBytesIn(reopened.environment), eventBytes, "the event log's size includes the checksums");
  await reopened.realm.close();
  t.equal((await sealsIn(image)).plain, 0);
});

t.test("[M2] a store whose upgrade was interrupted can be read, and the upgrade is completed", async (t) => {
  const founded = await openNewRealm(t);
  await founded.ask(commands.post("a", "one"));
  await founded.idle();
  const image = crashImage(t, founded.folder);
  await makeOld(image);
  const environment = openEnvironment(image);
  const before = dump(environment);
  environment.transaction(() => {
    const slice = environment.sealRows("users", undefined, 1);
    t.equal(slice.bytesAdded, sealBytes);
    t.ok(slice.next !== undefined, "there is a second one");
  });
  t.strictSame(dump(environment), before, "both kinds of rows are read");
  await environment.close();
  const again = openEnvironment(image);
  migrateEnvironment(again, sealedSince - 1);
  t.equal(again.get("meta", "version")?.value, storeVersion);
  t.strictSame(dump(again), before);
  await again.close();
  t.equal((await sealsIn(image)).plain, 0);
});

t.test("[architecture, Encoding] from version 7 on a row without a checksum is damaged", async (t) => {
  const founded = await openNewRealm(t);
  await founded.ask(commands.post("a", "one"));
  const image = crashImage(t, founded.folder);
  await rewrite(image, (table, _key, bytes) => (table === "messages" ? unsealed(bytes) : bytes));
  const environment = openEnvironment(image);
  t.teardown(() => environment.close());
  const message = `${join(image, "data.mdb")} is damaged: the row 1 of table messages has no checksum. Stop the server`;
  t.throws(() => environment.get("messages", 1), new RegExp(message));
});

t.test("[architecture, Encoding] the checksum of a row of any length finds every changed bit", (t) => {
  for (let length = 0; length <= 40; length++) {
    const sealed = seal("messages", [7, "a"], Buffer.alloc(length, length));
    checkSeal("messages", [7, "a"], sealed);
    let found = 0;
    for (let bit = 0; bit < 8 * sealed.length; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8((changed[bit >>> 3] as number) ^ (1 << (bit & 7)), bit >>> 3);
      try {
        checkSeal("messages", [7, "a"], changed);
      } catch {
        found++;
      }
    }
    t.equal(found, 8 * sealed.length, `${length} bytes`);
  }
  t.equal(
    seal("messages", 1, Buffer.from("short")).toString("hex"),
    "c173686f727446571742",
    "as versions wrote it before",
  );
  t.end();
});

t.test("[S3] rows are sealed in slices of sealing_rows_per_slice", async (t) => {
  t.equal(limits.sealing_rows_per_slice, 20_000);
  const environment = openEnvironment(temporaryFolder(t));
  t.teardown(() => environment.close());
  environment.transaction(() => {
    for (let key = 1; key <= 5; key++) environment.put("mailbox", key, { sequence: key, command: {}, attempts: 0 });
  });
  const nexts: unknown[] = [];
  environment.transaction(() => {
    for (const limit of [4, 5, 6]) nexts.push(environment.sealRows("mailbox", undefined, limit).next);
    nexts.push(environment.sealRows("mailbox", 3, 2).next);
  });
  t.strictSame(nexts, [5, undefined, undefined, 5]);
});

t.test(
  "[start-up] a store with rows but without its version row is rejected, because ids would start again",
  async (t) => {
    const founded = await openNewRealm(t);
    for (const missing of ["version", "ledger"]) {
      const image = crashImage(t, founded.folder);
      const environment = openEnvironment(image);
      environment.transaction(() => environment.remove("meta", missing));
      await environment.close();
      t.throws(() => new OpenRealm(t, { folder: image }), /its version or its counters are missing, while table/);
    }
  },
);

t.test("[architecture, Encoding] only its owner upgrades the root of version 6", async (t) => {
  t.equal(rowVersions.meta, 1);
  const folder = temporaryFolder(t);
  const entry = { id: 1, label: "", hosts: [], createdAt: 5, dueHint: null };
  const old = open<unknown, (string | number)[]>({
    path: join(folder, "root"),
    overlappingSync: false,
    encoding: "json",
  });
  old.putSync(["version"], sealedSince - 1);
  old.putSync(["realm", 1], entry);
  const isOld = () => old.get(["version"]) === sealedSince - 1;

  const beside = RootStore.open(folder);
  t.strictSame(beside.realms(), [entry]);
  beside.putRealm({ ...entry, id: 2, label: "two" });
  t.ok(isOld(), "a server of version 6 may still use it");
  t.equal((old.get(["realm", 2]) as { label: string }).label, "two", "and reads what is written meanwhile");
  await old.close();

  const owner = RootStore.open(folder);
  owner.lock();
  beside.putRealm({ ...entry, id: 3, label: "three" });
  await beside.close();
  t.strictSame(
    owner.realms().map(({ id }) => id),
    [1, 2, 3],
  );
  owner.unlock();
  await owner.close();
  const raw = open<Buffer, (string | number)[]>({
    path: join(folder, "root"),
    overlappingSync: false,
    encoding: "binary",
  });
  const values = [...raw.getRange({})].map(({ value }) => value);
  t.ok(values.every(isSealed));
  t.equal(values.length, 4);
  raw.putSync(["realm", 2], Buffer.from(JSON.stringify(entry)));
  await raw.close();
  t.throws(() => RootStore.open(folder), /data\.mdb is damaged: the row \["realm",2\] of table root has no checksum/);
});
