/** The record of a turn: what is encoded is read back, and anything else is rejected (docs/adr/0009-journal.md, 1). */
import fc from "fast-check";
import t from "tap";
import { decodeRecord, RecordEncoder, RecordPack, unpacked } from "../../src/durability/journal/record.ts";
import { nameOfKey, orderedKey } from "../../src/store/codec.ts";
import { seedOf } from "../support/seed.ts";

const number = fc.oneof(
  fc.nat(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
);
const text = fc.string({ unit: "binary", minLength: 1, maxLength: 100 });
const key = fc.oneof(number, text, fc.array(fc.oneof(number, text), { minLength: 1, maxLength: 4 }));
const bytes = fc.option(fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 120, maxLength: 140 })), { nil: null });
const table = fc.record({
  name: fc.stringMatching(/^[a-zA-Z]{1,30}$/),
  rows: fc.array(fc.tuple(key, bytes), { minLength: 1, maxLength: 20 }),
});
const record = fc.record({
  turn: fc.maxSafeNat(),
  at: fc.maxSafeNat(),
  tables: fc.array(table, { minLength: 1, maxLength: 5 }),
});

type GivenRecord = typeof record extends fc.Arbitrary<infer Value> ? Value : never;

/** A record, and the writes that are read from it. */
function encoded(encoder: RecordEncoder, { turn, at, tables }: GivenRecord) {
  const written = tables.map(({ name, rows }) => ({
    name,
    written: rows.map(([key, bytes]) => ({ ordered: orderedKey(key), bytes })),
  }));
  const writes = tables.flatMap(({ name, rows }) =>
    rows.map(([key, bytes]) => ({ table: name, key: nameOfKey(key), bytes: bytes && [...bytes] })),
  );
  return { bytes: new Uint8Array(encoder.encode(turn, at, written)), expected: { turn, at, writes } };
}

function listed(bytes: Uint8Array) {
  const { writes, ...head } = decodeRecord(bytes);
  return { ...head, writes: writes.map((write) => ({ ...write, bytes: write.bytes && [...write.bytes] })) };
}

t.test("[M1] a record contains the turn: number, time, and each row's table, key and bytes", async (t) => {
  const encoder = new RecordEncoder();
  const property = fc.property(record, (given) => {
    const { bytes, expected } = encoded(encoder, given);
    if (JSON.stringify(listed(bytes)) !== JSON.stringify(expected)) throw new Error("it reads differently");
  });
  fc.assert(property, { seed: seedOf(t), numRuns: 300 });
  t.pass("as it was written");
});

t.test("[S3] a record larger than the encoder's buffer is whole, and so is the next one", async (t) => {
  const encoder = new RecordEncoder();
  const big = new Uint8Array(3_000_000).fill(7);
  const encode = (turn: number, bytes: Uint8Array) =>
    new Uint8Array(encoder.encode(turn, 0, [{ name: "files", written: [{ ordered: turn, bytes }] }]));
  const [first, second] = [encode(1, big), encode(2, new Uint8Array([1]))];
  t.ok(Buffer.compare(decodeRecord(first).writes[0]?.bytes ?? big.subarray(1), big) === 0);
  t.strictSame([...(decodeRecord(second).writes[0]?.bytes ?? [])], [1]);
});

t.test("[M1] a record that is cut off, or of another format, is rejected", async (t) => {
  const { bytes } = encoded(new RecordEncoder(), {
    turn: 1,
    at: 2,
    tables: [{ name: "meta", rows: [["key", new Uint8Array(200)]] }],
  });
  for (let length = 0; length < bytes.length; length++) {
    // Without any row it is a whole record of a turn that wrote nothing, which none is.
    if (length === 17) continue;
    t.throws(() => decodeRecord(bytes.subarray(0, length)), { name: "JournalDamaged" }, `${length} bytes`);
  }
  t.throws(() => decodeRecord(Uint8Array.from(bytes, (byte, index) => (index === 0 ? 2 : byte))), {
    name: "JournalDamaged",
    message: /format 2, not 1: a newer program/,
  });
});

t.test("[M7] a pack gives the records back in order; what is added after some were taken comes next", async (t) => {
  const lengths = fc.array(fc.nat({ max: 100_000 }), { minLength: 1, maxLength: 20 });
  const property = fc.property(lengths, fc.nat({ max: 20 }), (given, taken) => {
    const pack = new RecordPack();
    const records = given.map((length, index) => new Uint8Array(length).fill(index + 1));
    const sizes = records.map((record) => pack.add(record));
    const bytes = sizes.slice(0, taken).reduce((sum, size) => sum + size, 0);
    const first = [...unpacked(pack.take(bytes))];
    pack.add(new Uint8Array([255]));
    const all = [...first, ...unpacked(pack.take(pack.bytes))];
    const same = [...records, new Uint8Array([255])].every(
      (record, index) => Buffer.compare(record, all[index] ?? new Uint8Array([0, 0])) === 0,
    );
    if (!same || pack.bytes !== 0) throw new Error("the records differ");
  });
  fc.assert(property, { seed: seedOf(t), numRuns: 60 });
  t.pass("in order");
});
