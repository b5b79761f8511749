/**
 * Rows become bytes and come back the same, whatever is in them; what this program cannot understand it refuses (architecture,
 * Encoding; pitfalls 1.6, 1.7). What cannot come back must not be written: see the list at the end.
 */
import fc from "fast-check";
import { pack } from "msgpackr";
import t from "tap";
import { type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import { decodeRow, encodeRow } from "../../src/store/codec.ts";
import { migrateRow, rowVersions } from "../../src/store/migrations.ts";
import { seedOf } from "../support/seed.ts";

const tables = Object.keys(rowFields) as TableName[];

/** Plain data as rows hold it: no undefined, no -0, no half characters, no key that a prototype has. */
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

t.test(
  "[architecture, Encoding] every table's rows come back as they were: nested, emoji, numbers of any size",
  (t) => {
    const seed = seedOf(t);
    for (const table of tables) {
      const row = fc.record(Object.fromEntries(rowFields[table].map((field) => [field, value])));
      const property = fc.property(row, (given) => {
        const back = decodeRow(table, encodeRow(table, given as unknown as RowOf<typeof table>));
        if (!Object.is(JSON.stringify(back), JSON.stringify(given))) {
          throw new Error(`${JSON.stringify(given)} came back as ${JSON.stringify(back)}`);
        }
        deepSame(back, given);
      });
      fc.assert(property, { seed, numRuns: 60 });
      t.pass(table);
    }
    t.end();
  },
);

/** JSON hides infinities and the difference of -0: compared value by value. */
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

t.test("[records] what is absent is null when it comes back, and what no field names is not written", (t) => {
  const row = { id: 1, label: undefined, name: "x", extra: "gone" } as unknown as RowOf<"realm">;
  t.strictSame(decodeRow("realm", encodeRow("realm", row)), {
    id: 1,
    label: null,
    name: "x",
    createdAt: null,
    settings: null,
    userDefaults: null,
    deactivatedAt: null,
  });
  t.end();
});

t.test("[records] fields that were appended later are null in rows of before", (t) => {
  const [, ...fields] = rowFields.users;
  const older = pack([rowVersions.users, 7]);
  const row = decodeRow("users", older);
  t.equal(row.id, 7);
  for (const field of fields) t.equal(row[field], null, field);
  t.end();
});

t.test("[issue, Runtime and store] a row of a newer version is refused with a message, for every table", (t) => {
  for (const table of tables) {
    const newer = pack([rowVersions[table] + 1, ...rowFields[table].map(() => 1)]);
    t.throws(() => decodeRow(table, newer), new RegExp(`${table}.*newer than this program`), table);
  }
  t.end();
});

t.test("[issue, Runtime and store] an older row without a migration is refused, never guessed at", (t) => {
  t.throws(() => migrateRow("users", 0, {}), /no migration from version 0/);
  t.strictSame(migrateRow("users", rowVersions.users, { id: 1 }), { id: 1 }, "today's version needs none");
  t.end();
});

t.test("[pitfalls 1.7] bytes that are no row are refused: empty, cut off, too long, of another codec", (t) => {
  const good = encodeRow("topicNames", { id: 70_000 });
  t.strictSame(decodeRow("topicNames", good), { id: 70_000 });
  const bad: Record<string, Uint8Array> = {
    empty: Buffer.alloc(0),
    "cut off": good.subarray(0, good.length - 1),
    "too long": Buffer.concat([good, Buffer.from([1])]),
    "another codec": Buffer.from([0xc1, 1, 2, 3]),
    "no list": pack({ id: 1 }),
    "a list without a version": pack(["x", 1]),
    text: Buffer.from("hello"),
  };
  for (const [what, bytes] of Object.entries(bad)) t.throws(() => decodeRow("topicNames", bytes), what);
  t.end();
});

t.test("[pitfalls 1.7] a decoded row does not share memory with the bytes, which the next read overwrites", (t) => {
  const bytes = encodeRow("meta", { value: { text: "abc", blob: Buffer.from([1, 2, 3]) } });
  const row = decodeRow("meta", bytes) as { value: { text: string; blob: Buffer } };
  bytes.fill(0);
  t.strictSame([...row.value.blob], [1, 2, 3]);
  t.equal(row.value.text, "abc");
  t.end();
});

t.test("[pitfalls 1.7] what cannot be encoded throws; what would come back changed is known", (t) => {
  t.throws(() => encodeRow("meta", { value: Symbol("no") }));
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  t.throws(() => encodeRow("meta", { value: cyclic }));
  const back = (given: unknown) => decodeRow("meta", encodeRow("meta", { value: given })).value;
  // Why the doors clean what clients send: these would make memory and disk differ (M9).
  t.ok(
    ["\ufffd", "\ufffd\ufffd\ufffd", "\ud800"].includes(String(back("\ud800"))),
    "half characters: as the decoder likes",
  );
  t.ok(Object.is(back(-0), 0), "minus zero");
  t.end();
});

t.test("[D7] a person of an older store may not change other people's addresses", (t) => {
  t.strictSame(migrateRow("users", 1, { id: 1 }), { id: 1, canChangeUserEmails: false });
  t.end();
});
