/**
 * Keys of all tables (pitfalls 1.5): what is written is read, texts of about 64 units and what a client could hide in
 * them included. The library keeps fewer characters in longer texts.
 */
import fc from "fast-check";
import t from "tap";
import type { KeyOf, TableName } from "../../schemas/records.ts";
import { compareKeys, isReadable, keyEncoder, longKeysOf, nameOfKey } from "../../src/store/codec.ts";
import { prepared } from "../../src/store/lmdb.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { temporaryFolder } from "../support/server.ts";

const seed = 1;

const plain = fc.constantFrom("a", "é", "漢", "🍎", "\u200c", "\u200d", "\u001b", " ");
const hidden = fc.constantFrom(..."\0\u0001\u0002\u0003\u0004\u0005\u0010\u007f", "\ud800", "\udc00");
/** Mostly of 62 to 66 UTF-16 units. */
const text = fc
  .tuple(
    fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 130 }), fc.integer({ min: 58, max: 66 })),
    fc.array(fc.oneof(plain, hidden, fc.string({ unit: "binary", maxLength: 2 })), { maxLength: 4 }),
    fc.integer({ min: 0, max: 66 }),
  )
  .map(
    ([length, some, at]) =>
      `${"x".repeat(Math.min(at, length))}${some.join("")}${"y".repeat(Math.max(0, length - at))}`,
  );
const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });

/** Tables with a text in their keys. */
type TextTable = { [T in TableName]: KeyOf<T> extends number | readonly number[] ? never : T }[TableName];

/** A text with a NUL would look like two, so no key has two texts. */
type Texts<K> = K extends readonly [infer First, ...infer Rest]
  ? [...(First extends string ? [First] : []), ...Texts<Rest>]
  : [];
type TwoTextTable = { [T in TableName]: Texts<KeyOf<T>>["length"] extends 0 | 1 ? never : T }[TableName];
const twoTextTables: readonly TwoTextTable[] = [];

/** The compiler asks for each of them, and that its keys are like these. */
const textKeys: { readonly [T in TextTable]: fc.Arbitrary<KeyOf<T>> } = {
  addressConfirmationRequests: fc.tuple(text, number),
  addressConfirmations: text,
  alertWords: fc.tuple(number, text),
  apiKeys: text,
  attachmentFiles: text,
  botStorage: fc.tuple(number, text),
  directNames: text,
  emailChangeRequests: fc.tuple(number, number, text),
  emailChanges: text,
  idempotency: fc.tuple(number, text),
  idempotencyAges: fc.tuple(number, number, text),
  invitationAddresses: fc.tuple(text, number),
  invitationKeys: text,
  linkSecrets: fc.constant("unsubscribe"),
  logins: fc.tuple(number, text),
  meta: text,
  navigationViews: fc.tuple(number, text),
  passwordResetRequests: fc.tuple(number, number, text),
  passwordResets: text,
  setup: fc.constant("owner"),
  pushTokens: fc.tuple(number, text),
  queues: text,
  reactions: fc.tuple(number, number, text),
  realm: text,
  realmDomains: text,
  realmPictures: fc.constantFrom("icon", "logo", "night_logo"),
  searchPostings: fc.tuple(number, text, number),
  searchState: text,
  searchTopics: fc.tuple(text, number),
  sessions: text,
  snapshots: text,
  topicNames: fc.tuple(number, text),
  topicPolicies: fc.tuple(number, text, number),
  userTopics: fc.tuple(number, number, text),
};
/** The other tables have keys of these shapes. */
const numberKeys = {
  messages: number,
  channelMessages: fc.tuple(number, number),
  readWatermarks: fc.tuple(number, number, number),
};
const keys = Object.entries({ ...textKeys, ...numberKeys }) as [TableName, fc.Arbitrary<KeyOf<TableName>>][];

function read(key: unknown): unknown {
  // As LMDB: amid other bytes.
  const name = Buffer.from(`\u0007${nameOfKey(key)}zz`, "latin1");
  return keyEncoder.readKey(name, 1, name.length - 2);
}

t.test("[pitfalls 1.5] a key of any table is read as it was written, or rejected before it is written", async (t) => {
  t.strictSame(twoTextTables satisfies readonly never[], [], "the compiler knows of none");
  for (const [table, arbitrary] of keys) {
    let rejected = 0;
    const property = fc.property(arbitrary, (key) => {
      if (isReadable(key)) {
        prepared(table, key, {} as never);
        return compareKeys(read(key), key) === 0 && JSON.stringify(read(key)) === JSON.stringify(key);
      }
      rejected++;
      t.throws(() => prepared(table, key, {} as never), /would not be read as it is written/);
      return prepared(table, key, null).bytes === null;
    });
    fc.assert(property, { seed, numRuns: 200 });
    if (arbitrary === text) t.ok(rejected > 0, `${table}: some were rejected`);
  }
});

t.test("[pitfalls 1.5] the key that a row was written under is among those that its bytes can stand for", async () => {
  const key = fc.tuple(fc.array(number, { maxLength: 2 }), text, fc.array(number, { maxLength: 2 }));
  const property = fc.property(key, ([before, word, after]) => {
    const list = [...before, word, ...after];
    // A lone surrogate is lost, in the checksum, too.
    if (isReadable(list) || /\p{Cs}/u.test(word)) return true;
    return longKeysOf(nameOfKey(list)).some((found) => JSON.stringify(found) === JSON.stringify(list));
  });
  fc.assert(property, { seed, numRuns: 2000 });
});

t.test("[pitfalls 1.5] LMDB returns a key that cannot be read as its bytes, to find and remove its row", async (t) => {
  const tables = new LmdbTables(temporaryFolder(t));
  t.teardown(() => tables.close());
  const long = "x".repeat(70);
  const others = [1, 2, 3, 4].map((code) => `${long}${String.fromCharCode(code)}y`);
  const words = [...others, `${long}\u0004`, `${long}\0y`, `${long}\0\u0010abcdefghij`, "short\0", `${long}z`];
  tables.transaction(() => {
    for (const word of words) tables.write("topicNames", [1, word], Buffer.from(word));
  });
  const found = [...tables.range("topicNames", {})];
  t.equal(found.length, words.length);
  for (const { key, value } of found) {
    const word = value.toString();
    const isPlain = word === "short\0" || word === `${long}z`;
    t.strictSame(Array.isArray(key) ? key : "bytes", isPlain ? [1, word] : "bytes");
    t.equal(nameOfKey(key), nameOfKey([1, word]));
    t.strictSame(tables.get("topicNames", key)?.toString(), word);
  }
  t.strictSame(
    [...tables.keys("topicNames", { start: found[2]?.key })].map(nameOfKey),
    found.slice(2).map(({ key }) => nameOfKey(key)),
    "a range may start at one",
  );
  tables.transaction(() => {
    for (const { key } of found) tables.write("topicNames", key, null);
  });
  t.equal(tables.count("topicNames"), 0);
});
