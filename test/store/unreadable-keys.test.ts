/**
 * Rows whose keys cannot be read (D265): an earlier version wrote them. Readers leave them out, and nothing else about
 * them may be wrong (M5); `check --repair` moves them to a file.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { RowOf, TableName } from "../../schemas/records.ts";
import { encodeRow } from "../../src/store/codec.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { setAsideUnreadable } from "../../src/store/unreadable-keys.ts";
import { temporaryFolder } from "../support/server.ts";

const long = "x".repeat(70);
const hidden = ["\0", "\u0001", "\u0002", "\u0003", "\u0004", "\0\u0010abcdefgh", "\0\u0010abcdefghij", "\0\0\0"];
const words = hidden.map((characters) => `${long}${characters}y`);

type Written = readonly [table: TableName, key: unknown, row: RowOf<TableName>];

const readable: readonly Written[] = [
  ["alertWords", [1, "soup"], { word: "soup" }],
  ["alertWords", [1, `${long}z`], { word: `${long}z` }],
  ["alertWords", [2, "bread"], { word: "bread" }],
];
const unreadable: readonly Written[] = [
  ...words.map((word) => ["alertWords", [1, word], { word }] as const),
  ["invitationAddresses", [`${long}\u0001@example.com`, 7], {}],
  ["invitationAddresses", [`\u0001${long}\0@example.com`, 8], {}],
];

async function write(folder: string, rows: readonly Written[], change = (bytes: Uint8Array) => bytes): Promise<void> {
  const tables = new LmdbTables(folder);
  tables.transaction(() => {
    for (const [table, key, row] of rows)
      tables.write(table, key, change(encodeRow(table, key as never, row as never)));
  });
  await tables.close();
}

async function filled(t: Test): Promise<string> {
  const folder = temporaryFolder(t);
  await write(folder, [...readable, ...unreadable]);
  return folder;
}

t.test("[D265] a reader leaves rows out whose keys cannot be read, and says which they are", async (t) => {
  const lmdb = openLmdb(await filled(t));
  t.teardown(() => lmdb.close());
  const expected = ["soup", `${long}z`, "bread"];
  const found = lmdb.rows("alertWords", { limit: 100 }).map(({ row }) => row.word);
  t.strictSame(found, expected);
  const visited: string[] = [];
  lmdb.each("alertWords", ({ word }) => visited.push(word));
  t.strictSame(visited, expected);
  const problems: unknown[] = [];
  for (const table of ["alertWords", "invitationAddresses"] as const)
    lmdb.verify(table, (error) => problems.push(error));
  t.strictSame(problems, []);
  const lines = lmdb.unreadableRows;
  t.equal(lines.length, unreadable.length);
  for (const [table, key] of unreadable)
    t.ok(lines.some((line) => line.startsWith(`the row ${JSON.stringify(key)} of table ${table} is left out`)));
});

t.test("[M5] a row whose key cannot be read and whose checksum is wrong is damaged", async (t) => {
  for (const row of unreadable) {
    const folder = temporaryFolder(t);
    await write(folder, [row], (bytes) => {
      bytes[1] = (bytes[1] as number) ^ 1;
      return bytes;
    });
    const lmdb = openLmdb(folder);
    t.throws(() => lmdb.rows(row[0], { limit: 1 }), { name: "DamagedData", message: /wrong checksum/ });
    await lmdb.close();
    t.strictSame(await setAsideUnreadable(folder, "now", t.fail), []);
  }
});

t.test("[D265] such rows can be removed under the key that they were written under, but not written", async (t) => {
  const folder = await filled(t);
  const lmdb = openLmdb(folder);
  t.teardown(() => lmdb.close());
  lmdb.transaction(() => {
    for (const [table, key] of unreadable) {
      t.throws(() => lmdb.put(table, key as never, {} as never), /would not be read as it is written/);
      lmdb.remove(table, key as never);
    }
  });
  t.equal(lmdb.count("alertWords"), 3);
  t.equal(lmdb.count("invitationAddresses"), 0);
});

t.test("[D265] check --repair moves them to a file that only the owner reads, and no other row", async (t) => {
  const folder = await filled(t);
  let removals = 0;
  const lines = await setAsideUnreadable(folder, "2026-11-28T12:00:00.000Z", () => removals++);
  t.equal(lines.length, unreadable.length);
  t.equal(removals, 1);
  const file = join(folder, "set-aside.jsonl");
  t.equal(statSync(file).mode & 0o777, 0o600);
  const kept = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const shown = kept.map(({ at, table, key, row }) => JSON.stringify([at, table, key, row])).sort();
  t.strictSame(shown, unreadable.map((row) => JSON.stringify(["2026-11-28T12:00:00.000Z", ...row])).sort());
  const lmdb = openLmdb(folder);
  t.equal(lmdb.rows("alertWords", { limit: 100 }).length, 3);
  t.equal(lmdb.count("alertWords"), 3);
  t.strictSame(lmdb.unreadableRows, []);
  await lmdb.close();
  t.strictSame(await setAsideUnreadable(folder, "later", t.fail), [], "nothing is left");
});

t.test("[S3] check_rows_reported_max: no more rows are named", async (t) => {
  const folder = temporaryFolder(t);
  const many = Array.from({ length: limits.check_rows_reported_max + 1 }, (_, index): Written => {
    const word = `${long}\0${index}`;
    return ["alertWords", [1, word], { word }];
  });
  await write(folder, many);
  t.notOk(existsSync(join(folder, "set-aside.jsonl")));
  const lmdb = openLmdb(folder);
  t.strictSame(lmdb.rows("alertWords", { limit: 100 }), []);
  t.equal(lmdb.unreadableRows.length, limits.check_rows_reported_max);
  await lmdb.close();
});
