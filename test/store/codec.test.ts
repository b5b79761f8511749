/**
 * Rows are encoded and decoded without change, whatever their content; rows that this program cannot read are rejected
 * (architecture, Encoding; pitfalls 1.6, 1.7). The last tests list values that cannot be decoded and must not be
 * written.
 */
import fc from "fast-check";
import { Packr, pack } from "msgpackr";
import t from "tap";
import { type RowOf, rowFields, rowVersions, type TableName } from "../../schemas/records.ts";
import { decodeRow, encodeRow, seal } from "../../src/store/codec.ts";
import { DamagedRow } from "../../src/store/damage.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

const tables = Object.keys(rowFields) as TableName[];

/** Plain data as rows hold it: no undefined, no -0, no lone surrogates, no key that a prototype has. */
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "🍎", "👩‍👩‍👧‍👦", "e\u0301", "\u0000", "ﷺ".repeat(60)),
);
const number = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, -(2 ** 53)),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.constantFrom(1.5, 1e300, Number.MIN_VALUE, Number.POSITIVE_INFINITY),
);
const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const name = fc.string({ unit: "grapheme", minLength: 1 }).filter((key) => key !== "__proto__");
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("any"), { maxLength: 20 }),
    fc.dictionary(name, tie("any"), { maxKeys: 20, noNullPrototype: true }),
  ),
})).any;

t.test("every table's rows decode as they were encoded: nested, emoji, numbers of any size", async (t) => {
  const seed = seedOf(t);
  for (const table of tables) {
    const row = fc.record(Object.fromEntries(rowFields[table].map((field) => [field, value])));
    const property = fc.property(row, (given) => {
      const back = decodeRow(table, 1, encodeRow(table, 1, given as unknown as RowOf<typeof table>));
      if (!Object.is(JSON.stringify(back), JSON.stringify(given))) {
        throw new Error(`${JSON.stringify(given)} was decoded as ${JSON.stringify(back)}`);
      }
      deepSame(back, given);
    });
    fc.assert(property, { seed, numRuns: 60 });
    t.pass(table);
  }
});

t.test("every table's rows are the bytes that the general encoder makes of their lists", async (t) => {
  const seed = seedOf(t);
  const general = new Packr({ useRecords: false, variableMapSize: true });
  const key = fc.oneof(fc.integer(), fc.tuple(fc.nat(), fc.string({ unit: "grapheme" })));
  // Texts on both sides of each length at which their head or the way of writing them changes.
  const lengths = [0, 31, 32, 40, 41, 85, 86, 255, 256, 257, 4096, 9000, 65_535, 65_536, 70_000];
  const long = fc
    .tuple(fc.constantFrom("a", "é", "ﷺ", "🍎"), fc.constantFrom(...lengths))
    .map(([unit, length]) => unit.repeat(length));
  const other = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.date({ noInvalidDate: true }), fc.constant(undefined));
  const longList = fc.constantFrom(15, 16, 65_535, 65_536).map((length) => new Array<number>(length).fill(7));
  const field = fc.oneof(
    { weight: 40, arbitrary: value },
    { weight: 3, arbitrary: long },
    { weight: 3, arbitrary: other },
    longList,
  );
  for (const table of tables) {
    const fields: readonly string[] = rowFields[table];
    const row = fc.record(Object.fromEntries(fields.map((name) => [name, field])), { requiredKeys: [] });
    const property = fc.property(key, row, (key, given: Readonly<Record<string, unknown>>) => {
      const list = [rowVersions[table], ...fields.map((name) => given[name] ?? null)];
      const bytes = encodeRow(table, key, given as unknown as RowOf<typeof table>);
      if (seal(table, key, general.pack(list)).compare(bytes) !== 0) throw new Error(JSON.stringify(given));
    });
    fc.assert(property, { seed, numRuns: 60 });
    t.pass(table);
  }
});

t.test("[M6] a row that cannot be encoded leaves nothing behind in those before and after it", async (t) => {
  const before = encodeRow("meta", "m", { value: "before" });
  t.throws(() => encodeRow("meta", "m", { value: ["x".repeat(5000), Symbol("no")] }));
  const after = encodeRow("meta", "m", { value: "after" });
  t.strictSame(decodeRow("meta", "m", before), { value: "before" });
  t.strictSame(decodeRow("meta", "m", after), { value: "after" });
});

/** JSON hides infinities and the sign of zero, so values are compared one by one. */
function deepSame(one: unknown, other: unknown): void {
  if (typeof one === "object" && one !== null && typeof other === "object" && other !== null) {
    const [first, second] = [Object.entries(one), Object.entries(other)];
    if (first.length !== second.length || Array.isArray(one) !== Array.isArray(other)) throw new Error("shape");
    first.forEach(([key, inner], index) => {
      if (second[index]?.[0] !== key) throw new Error(`key ${key}`);
      deepSame(inner, second[index]?.[1]);
    });
  } else if (!Object.is(one, other)) {
    throw new Error(`${String(one)} is not ${String(other)}`);
  }
}

t.test("an absent field decodes as null, and an undeclared field is not encoded", async (t) => {
  const row = { id: 1, label: undefined, name: "x", extra: "gone" } as unknown as RowOf<"realm">;
  t.strictSame(decodeRow("realm", "realm", encodeRow("realm", "realm", row)), {
    id: 1,
    label: null,
    name: "x",
    createdAt: null,
    settings: null,
    userDefaults: null,
    deactivatedAt: null,
  });
});

t.test("fields appended later decode as null in older rows", async (t) => {
  const [, ...fields] = rowFields.users;
  const older = seal("users", 7, pack([rowVersions.users, 7]));
  const row = decodeRow("users", 7, older);
  t.equal(row.id, 7);
  for (const field of fields) t.equal(row[field], null, field);
});

t.test("a row of a newer version is rejected with a message, for every table", async (t) => {
  for (const table of tables) {
    const newer = seal(table, 1, pack([rowVersions[table] + 1, ...rowFields[table].map(() => 1)]));
    t.throws(() => decodeRow(table, 1, newer), new RegExp(`${table}.*newer than this program`), table);
  }
});

t.test(
  "[pitfalls 1.7] bytes that are not a row are rejected: empty, truncated, too long, of another codec",
  async (t) => {
    const good = encodeRow("topicNames", [1, "x"], { id: 70_000 });
    t.strictSame(decodeRow("topicNames", [1, "x"], good), { id: 70_000 });
    const sealedAs = (bytes: Uint8Array) => seal("topicNames", [1, "x"], bytes);
    const bad: Record<string, Uint8Array> = {
      empty: Buffer.alloc(0),
      "cut off": good.subarray(0, good.length - 1),
      "too long": Buffer.concat([good, Buffer.from([1])]),
      "another codec": Buffer.from([0xc1, 1, 2, 3]),
      "no seal": pack([1, 70_000]),
      "no list": sealedAs(pack({ id: 1 })),
      "a list without a version": sealedAs(pack(["x", 1])),
      "half a list": sealedAs(pack([1, 70_000]).subarray(0, -1)),
      "more than a list": sealedAs(Buffer.concat([pack([1, 70_000]), Buffer.from([1])])),
      text: Buffer.from("hello"),
    };
    for (const [what, bytes] of Object.entries(bad))
      t.throws(() => decodeRow("topicNames", [1, "x"], bytes), { name: "DamagedRow" }, what);
  },
);

t.test(
  "[pitfalls 1.7] a decoded row does not share memory with its bytes, which the next read overwrites",
  async (t) => {
    const bytes = encodeRow("meta", "m", { value: { text: "abc", blob: Buffer.from([1, 2, 3]) } });
    const row = decodeRow("meta", "m", bytes) as { value: { text: string; blob: Buffer } };
    bytes.fill(0);
    t.strictSame([...row.value.blob], [1, 2, 3]);
    t.equal(row.value.text, "abc");
  },
);

t.test("[pitfalls 1.7] a value that cannot be encoded throws; values that would change are known", async (t) => {
  t.throws(() => encodeRow("meta", "m", { value: Symbol("no") }));
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  t.throws(() => encodeRow("meta", "m", { value: cyclic }));
  const back = (given: unknown) => decodeRow("meta", "m", encodeRow("meta", "m", { value: given })).value;
  // Why transports sanitize client input: these values would make memory and disk differ (M9).
  t.ok(
    ["\ufffd", "\ufffd\ufffd\ufffd", "\ud800"].includes(String(back("\ud800"))),
    "lone surrogates are replaced or kept, depending on the decoder",
  );
  t.ok(Object.is(back(-0), 0), "minus zero");
});

t.test("a row with any bit flipped is rejected, and so is a row under another key or table", async (t) => {
  const row = { value: { text: "soup at noon", at: 1_700_000_000_000 } };
  const good = encodeRow("meta", "lunch", row);
  t.strictSame(decodeRow("meta", "lunch", good), row);
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bad = Buffer.from(good);
    bad[bit >> 3] = (bad[bit >> 3] as number) ^ (1 << (bit & 7));
    try {
      decodeRow("meta", "lunch", bad);
      t.fail(`bit ${bit} is flipped, and the row is accepted`);
    } catch (error) {
      if (!(error instanceof DamagedRow)) t.fail(String(error));
    }
  }
  t.throws(
    () => decodeRow("meta", "lunch", pack([rowVersions.meta, row.value])),
    /"lunch" of table meta has no checksum/,
  );
  t.throws(() => decodeRow("meta", "dinner", good), /the row "dinner" of table meta has a wrong checksum/);
  t.throws(() => decodeRow("queues", "lunch", good), DamagedRow);
});

t.test("every key has its own checksum, also after a round trip through LMDB", async (t) => {
  const keys: unknown[] = [0, 1, -1, 1.5, 2 ** 32, 2 ** 53, "", "a", "a\u0000b", "é🍎", "\ud800", "x".repeat(600)];
  keys.push([1, 2], [2, 1], [1, "a"], [1, "a", "b"], [1, "ab"], ["a", ""], [1, 2, 3]);
  const sums = keys.map((key) => seal("meta", key, Buffer.from("x")).toString("hex"));
  t.equal(new Set(sums).size, keys.length);
  const lmdb = openLmdb(temporaryFolder(t));
  t.teardown(() => lmdb.close());
  lmdb.transaction(() => {
    for (const key of keys) lmdb.put("meta", key as string, { value: JSON.stringify(key) });
  });
  const found: unknown[] = [];
  lmdb.each("meta", ({ value }) => found.push(value));
  t.same(new Set(found), new Set(keys.map((key) => JSON.stringify(key))));
  t.equal(lmdb.rows("meta", { limit: 99 }).length, keys.length);
});
