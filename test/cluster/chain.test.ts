/** The messages of a realm: what is encoded is read back, and whatever does not follow is damage. */
import fc from "fast-check";
import t from "tap";
import { decodeEnvelope, encodeEnvelope, encodeRecords, recordsIn } from "../../src/durability/cluster/envelope.ts";
import {
  type ChainHead,
  emptyChain,
  headAt,
  LogChain,
  type StreamMessage,
} from "../../src/durability/cluster/log-chain.ts";
import { brokenModule } from "../support/broken-checkout.ts";
import { seedOf } from "../support/seed.ts";

/** A claim, three messages with records, a large record in parts, and another claim. */
function history(): StreamMessage[] {
  const messages: StreamMessage[] = [];
  let head: ChainHead = emptyChain;
  const add = (bytes: Uint8Array) => {
    const message = { sequence: head.sequence + 3, bytes };
    messages.push(message);
    head = headAt(message);
  };
  const next = () => ({ storeVersion: 8, epoch: head.epoch, position: head.position + 1, before: head.hash });
  const claim = () =>
    encodeEnvelope({ ...next(), kind: "claim", epoch: head.epoch + 1, part: 0, parts: 1 }, Buffer.of());
  add(claim());
  add(encodeRecords(next(), [Buffer.from("one"), Buffer.from("two")]));
  add(encodeRecords(next(), [Buffer.from("three")]));
  for (const [part, text] of ["fo", "ur"].entries()) {
    add(encodeEnvelope({ ...next(), kind: "part", part, parts: 2 }, Buffer.from(text)));
  }
  add(encodeEnvelope({ ...next(), kind: "part", part: 0, parts: 2 }, Buffer.from("given up")));
  add(claim());
  add(encodeRecords(next(), [Buffer.from("five")]));
  return messages;
}

function read(messages: readonly StreamMessage[], head: ChainHead | null = emptyChain) {
  const chain = new LogChain(7, head);
  const records = messages.flatMap((message) => chain.take(message));
  return { head: chain.head, records };
}

t.test("the records of a realm are read in order, also large ones, without what an owner left undone", async (t) => {
  const { records, head } = read(history());
  const found = records.map(({ position, realmId, bytes }) => [position, realmId, Buffer.from(bytes).toString()]);
  t.strictSame(found, [
    [1, 7, "one"],
    [2, 7, "two"],
    [3, 7, "three"],
    [4, 7, "four"],
    [5, 7, "five"],
  ]);
  t.match(head, { epoch: 2, position: 5, sequence: 24, storeVersion: 8 });
});

t.test("a reader may begin with any message that begins a record", async (t) => {
  const positions = read(history().slice(3), null).records.map(({ position }) => position);
  t.strictSame(positions, [4, 5]);
  t.throws(() => read(history().slice(4), null), { name: "JournalDamaged", message: /it is part 1/ });
});

t.test("a message that was changed, lost, doubled or moved is found by its hash", async (t) => {
  const messages = history();
  for (let index = 0; index < messages.length - 1; index++) {
    const without = messages.toSpliced(index, 1);
    t.throws(() => read(without), { name: "JournalDamaged" }, `without message ${index}`);
    const again = messages.toSpliced(index, 0, messages[index] as StreamMessage);
    t.throws(() => read(again), { name: "JournalDamaged" }, `message ${index} twice`);
    const { sequence, bytes } = messages[index] as StreamMessage;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      t.throws(() => read(messages.with(index, { sequence, bytes: changed })), { name: "JournalDamaged" });
    }
  }
});

t.test("records of an owner that was replaced are damage, also under a right hash", async (t) => {
  const messages = history();
  const { head } = read(messages);
  const stale = encodeRecords({ storeVersion: 8, epoch: 1, position: 6, before: head.hash }, [Buffer.from("stale")]);
  t.throws(() => read([...messages, { sequence: 30, bytes: stale }]), { message: /it has epoch 1, not 2/ });
  const skipped = encodeRecords({ storeVersion: 8, epoch: 2, position: 7, before: head.hash }, [Buffer.from("seven")]);
  t.throws(() => read([...messages, { sequence: 30, bytes: skipped }]), { message: /it has position 7, not 6/ });
});

t.test("any records are read as they were written, and any other bytes are rejected", async (t) => {
  const head = fc.record({
    storeVersion: fc.nat(0xffff),
    epoch: fc.maxSafeNat(),
    position: fc.maxSafeNat(),
    before: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  });
  const records = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
  const listed = (found: readonly Uint8Array[]) => found.map((bytes) => Buffer.from(bytes).toString("hex"));
  fc.assert(
    fc.property(head, records, fc.nat(), (given, written, cut) => {
      const bytes = encodeRecords(given, written);
      const { body, before, ...found } = decodeEnvelope(bytes);
      t.strictSame(
        { ...found, before: [...before] },
        { ...given, kind: "records", part: 0, parts: 1, before: [...given.before] },
      );
      t.strictSame(listed(recordsIn(body)), listed(written));
      const rest = bytes.subarray(0, cut % bytes.length);
      try {
        t.ok(recordsIn(decodeEnvelope(rest).body).length < written.length);
      } catch (error) {
        t.equal((error as Error).name, "JournalDamaged");
      }
    }),
    { seed: seedOf(t), numRuns: 100 },
  );
});

t.test("a program without the check of hashes is found by a byte that rots", async (t) => {
  const messages = history();
  const rotten = messages.map((message, index) => {
    if (index !== 2) return message;
    const bytes = Buffer.from(message.bytes);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    return { ...message, bytes };
  });
  const readBy = (Reader: typeof LogChain) => () => {
    const chain = new Reader(7, emptyChain);
    for (const message of rotten) chain.take(message);
  };
  t.throws(readBy(LogChain), { name: "JournalDamaged", message: /the hash differs/ });
  const broken = await brokenModule<{ LogChain: typeof LogChain }>(
    t,
    [
      {
        file: "src/durability/cluster/log-chain.ts",
        from: "Buffer.compare(before, this.#head.hash) !== 0",
        to: "false",
      },
    ],
    "src/durability/cluster/log-chain.ts",
  );
  t.doesNotThrow(readBy(broken.LogChain), "it takes the damage for what was written");
});
