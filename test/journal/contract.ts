/** What every journal promises (src/durability/journal/journal.ts). An implementation passes this suite with its own `JournalPlace`. */
import type { Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Journal, Recorded, RecordNumber } from "../../src/durability/journal/journal.ts";

/** Where the records of a journal are. One journal is open at a time. */
export interface JournalPlace {
  /** The organizations that share the journal; several by default. */
  readonly realms?: readonly number[];
  open(): Promise<Journal>;
  /** What would be found after a crash at this moment. */
  readBack(): Promise<readonly Recorded[]>;
}

/** Waits for records to become durable: a journal has one listener. */
export class DurableWatch {
  readonly #journal: Journal;
  readonly #waiting: { readonly position: RecordNumber; readonly resolve: () => void }[] = [];
  /** `durable` as it was at each notice. */
  readonly notices: RecordNumber[] = [];

  /** @param onNotice called before those who wait */
  constructor(journal: Journal, onNotice: () => void = () => undefined) {
    this.#journal = journal;
    journal.onDurable(() => {
      this.notices.push(journal.durable);
      onNotice();
      for (const { position, resolve } of this.#waiting) if (position <= journal.durable) resolve();
    });
  }

  until(position: RecordNumber): Promise<void> {
    if (position <= this.#journal.durable) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ position, resolve }));
  }
}

/** Bytes that differ from record to record, as far as they have room for it. */
export function sampleRecord(number: number, bytes: number): Uint8Array {
  const block = Uint8Array.from({ length: 251 }, (_, index) => (number * 31 + index * 7) & 0xff);
  return Buffer.alloc(bytes, block);
}

/** Short for comparisons: large values make the messages of failing tests unreadable. */
export function describeRecord({ position, realmId, bytes }: Recorded): string {
  return `${position} of realm ${realmId}: ${bytes.length} bytes, ${Buffer.from(bytes.subarray(0, 16)).toString("hex")}`;
}

const threeRealms: readonly number[] = [1, 2, 3];

/** Appends records of the sizes, and returns what must be read back. */
export function appendAll(journal: Journal, sizes: readonly number[], realms = threeRealms): Recorded[] {
  return sizes.map((size) => {
    const bytes = sampleRecord(journal.appended + 1, size);
    const realmId = realms[journal.appended % realms.length] ?? 0;
    return { position: journal.append(realmId, bytes), realmId, bytes };
  });
}

export function sameRecords(t: Test, found: readonly Recorded[], expected: readonly Recorded[], message: string): void {
  t.strictSame(found.map(describeRecord), expected.map(describeRecord), message);
  const isSame = found.every(({ bytes }, index) => Buffer.compare(bytes, expected[index]?.bytes ?? Buffer.of()) === 0);
  t.ok(isSame, `${message}: every byte`);
}

const smallSizes = [0, 1, 7, 8, 9, 100, 255, 256, 1000];

export function journalContract(t: Test, create: (t: Test) => JournalPlace): void {
  positions(t, create);
  durability(t, create);
  sizes(t, create);
  endings(t, create);
}

function positions(t: Test, create: (t: Test) => JournalPlace): void {
  t.test("[M7] a journal numbers the records of all organizations from 1, without gaps, across openings", async (t) => {
    const place = create(t);
    const expected: Recorded[] = [];
    for (let opening = 0; opening < 3; opening++) {
      const journal = await place.open();
      t.equal(journal.appended, expected.length, "continues after the last record");
      t.equal(journal.durable, expected.length);
      expected.push(...appendAll(journal, smallSizes, place.realms));
      t.equal(journal.appended, expected.length);
      await journal.close();
    }
    const found = expected.map(({ position }) => position);
    t.strictSame(
      found,
      expected.map((_, index) => index + 1),
    );
    sameRecords(t, await place.readBack(), expected, "in order");
  });

  t.test("[M7] a journal keeps one order over a thousand organizations", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const expected = appendAll(
      journal,
      Array.from({ length: 3000 }, (_, index) => index % 50),
      place.realms ?? Array.from({ length: 1000 }, (_, index) => index + 1),
    );
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "all of them");
  });
}

function durability(t: Test, create: (t: Test) => JournalPlace): void {
  t.test("[M1] a record is announced as durable only when a crash would not lose it", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const watch = new DurableWatch(journal);
    const expected: Recorded[] = [];
    for (let round = 0; round < 10; round++) {
      expected.push(...appendAll(journal, smallSizes.slice(round % smallSizes.length), place.realms));
      await watch.until(journal.appended - (round % 3));
      const announced = journal.durable;
      const found = await place.readBack();
      t.ok(found.length >= announced, `${announced} are announced, ${found.length} are there`);
    }
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "all of them");
  });

  t.test("[M1] records that are appended together become durable, also when the work throws", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const watch = new DurableWatch(journal);
    const expected: Recorded[] = [];
    const append = () => expected.push(...appendAll(journal, smallSizes, place.realms));
    journal.together(append);
    await watch.until(journal.appended);
    append();
    await watch.until(journal.appended);
    const works = () => {
      append();
      throw new Error("a bug");
    };
    t.throws(() => journal.together(works), /a bug/);
    await watch.until(journal.appended);
    journal.together(() => {
      append();
      // A server may be stopped during a turn.
      void journal.close();
    });
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "all of them");
  });

  t.test("[M1] a journal announces in turns of the event loop of their own, when more is durable", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const watch = new DurableWatch(journal);
    for (let round = 0; round < 20; round++) {
      const before = journal.durable;
      for (let index = 0; index < 500; index++) {
        appendAll(journal, [100], place.realms);
        if (journal.durable !== before) t.fail("durable grew during append");
      }
      t.ok(journal.durable < journal.appended, "nothing is durable at once");
      await watch.until(journal.appended);
    }
    t.strictSame(
      watch.notices,
      [...new Set(watch.notices)].toSorted((a, b) => a - b),
      "each notice is news",
    );
    t.equal(watch.notices.at(-1), journal.appended);
    await journal.close();
  });

  t.test("[M1] a caller may use the memory of a record again after it was appended", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const memory = Buffer.alloc(limits.journal_ring_bytes / 4);
    const expected = [10, 2000, memory.length, 10, memory.length, 2000].map((size, index) => {
      const record = memory.subarray(0, size).fill(index + 1);
      const realmId = place.realms?.[0] ?? index;
      return { position: journal.append(realmId, record), realmId, bytes: Uint8Array.from(record) };
    });
    memory.fill(0xee);
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "as they were appended");
  });

  t.test("[S3] a journal counts the bytes that are not durable yet", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const watch = new DurableWatch(journal);
    t.equal(journal.unflushedBytes, 0);
    appendAll(journal, [100, 0, 3000], place.realms);
    t.equal(journal.unflushedBytes, 3100);
    await watch.until(3);
    t.equal(journal.unflushedBytes, 0);
    await journal.close();
  });
}

function sizes(t: Test, create: (t: Test) => JournalPlace): void {
  t.test("[M7] large records keep their place between small ones", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const segment = limits.journal_segment_bytes;
    const ring = limits.journal_ring_bytes / 8;
    const sizes = [5, ring, 5, ring + 1, ring + 1, 5, segment - 200, 5, segment, 5, 2 * segment];
    const expected = appendAll(journal, sizes, place.realms);
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "in order");
  });

  t.test("[S3] a journal takes more at once than its memory for handing over holds, and keeps the order", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const watch = new DurableWatch(journal);
    const bytes = 3 * limits.journal_ring_bytes;
    const expected = appendAll(
      journal,
      Array.from({ length: 300 }, (_, index) => (index % 2 === 0 ? Math.floor(bytes / 150) : 10)),
      place.realms,
    );
    await watch.until(expected.length);
    t.equal(journal.unflushedBytes, 0);
    expected.push(...appendAll(journal, [10, 20], place.realms));
    await journal.close();
    sameRecords(t, await place.readBack(), expected, "in order");
  });

  t.test("[S3] journal_record_bytes_max: a record of this size is written, a larger one is rejected", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const record = Buffer.alloc(limits.journal_record_bytes_max + 1, 5);
    t.throws(() => journal.append(place.realms?.[0] ?? 1, record), { message: /journal_record_bytes_max/ });
    t.equal(journal.append(place.realms?.[0] ?? 1, record.subarray(1)), 1, "the rejected record has no position");
    await journal.close();
    const found = await place.readBack();
    const lengths = found.map(({ bytes }) => bytes.length);
    t.strictSame(lengths, [limits.journal_record_bytes_max]);
  });
}

function endings(t: Test, create: (t: Test) => JournalPlace): void {
  t.test("[M1] a journal that closes makes everything durable that was appended, and takes no more", async (t) => {
    const place = create(t);
    const journal = await place.open();
    const expected = appendAll(
      journal,
      Array.from({ length: 2000 }, () => 5000),
      place.realms,
    );
    const closing = journal.close();
    t.throws(() => journal.append(place.realms?.[0] ?? 1, Buffer.of(1)), { message: /closed/ });
    t.equal(journal.close(), closing, "closing twice is closing once");
    await closing;
    t.equal(journal.durable, expected.length);
    sameRecords(t, await place.readBack(), expected, "all of them");
  });

  t.test("[M1] a journal keeps what is not released, and continues the positions of what is", async (t) => {
    const place = create(t);
    let journal = await place.open();
    const sizes = Array.from({ length: 40 }, () => Math.floor(limits.journal_segment_bytes / 5));
    const expected = appendAll(journal, sizes, place.realms);
    await new DurableWatch(journal).until(expected.length);
    journal.release(25);
    await journal.close();
    const kept = await place.readBack();
    const first = kept[0]?.position ?? Number.POSITIVE_INFINITY;
    t.ok(first > 1 && first <= 26, `it kept the records from ${first} on`);
    sameRecords(t, kept, expected.slice(first - 1), "the rest is whole");

    journal = await place.open();
    t.equal(journal.appended, 40);
    journal.release(40);
    await journal.close();
    journal = await place.open();
    t.equal(journal.append(place.realms?.[0] ?? 1, Buffer.of(1)), 41);
    await journal.close();
  });
}
