/** The checksums of rows (architecture, Encoding). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t from "tap";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { checkSeal, contentsOf, seal } from "../../src/store/codec.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { commands, crashImage, OpenRealm, openNewRealm } from "../support/runtime.ts";

const tables = Object.keys(rowFields) as TableName[];

type Change = (table: string, key: string | number, bytes: Buffer) => Buffer;

/** Changes the bytes of every row, bypassing the program. */
async function rewrite(folder: string, change: Change): Promise<void> {
  const root = open<Buffer, string>({ path: folder, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  for (const table of tables) {
    const rows = root.openDB<Buffer, string>({ name: table, encoding: "binary" });
    for (const { key, value } of [...rows.getRange({})]) rows.putSync(key, change(table, key, value));
  }
  await root.close();
}

function unsealed(bytes: Buffer): Buffer {
  const { start, end } = contentsOf(bytes);
  return Buffer.from(bytes.subarray(start, end));
}

t.test("a row without a checksum is damaged", async (t) => {
  const founded = await openNewRealm(t);
  await founded.ask(commands.post("a", "one"));
  const image = crashImage(t, founded.folder);
  await rewrite(image, (table, _key, bytes) => (table === "messages" ? unsealed(bytes) : bytes));
  const lmdb = openLmdb(image);
  t.teardown(() => lmdb.close());
  const message = `${join(image, "data.mdb")} is damaged: the row 1 of table messages has no checksum. Stop the server`;
  t.throws(() => lmdb.get("messages", 1), new RegExp(message));
});

t.test("the checksum of a row of any length finds every changed bit", async (t) => {
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
  t.equal(seal("messages", 1, Buffer.from("short")).toString("hex"), "c173686f727446571742", "as it is on disk");
});

t.test("a store with rows but without its version row is rejected, because ids would start again", async (t) => {
  const founded = await openNewRealm(t);
  for (const missing of ["format", "counters"]) {
    const image = crashImage(t, founded.folder);
    const lmdb = openLmdb(image);
    lmdb.transaction(() => lmdb.remove("meta", missing));
    await lmdb.close();
    t.throws(() => new OpenRealm(t, { folder: image }), /its version or its counters are missing, while table/);
  }
});

t.test("[M6] a table whose name was damaged is reported, and not taken for one without rows", async (t) => {
  const founded = await openNewRealm(t);
  await founded.ask(commands.post("a", "one"));
  for (const table of ["channels", "messages", "topicNames"]) {
    const image = crashImage(t, founded.folder);
    const file = join(image, "data.mdb");
    const bytes = readFileSync(file);
    const name = Buffer.from(`${table}\0`, "latin1");
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) {
      const last = at + table.length - 1;
      bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last);
    }
    writeFileSync(file, bytes);
    const damage = /data\.mdb is damaged: it has a table of an unknown name, "/;
    t.throws(() => openLmdb(image), damage, table);
    t.throws(() => new OpenRealm(t, { folder: image }), damage, table);
  }
});
