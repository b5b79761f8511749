/**
 * Fail closed (M5): below the watermark or over the quota, writes are rejected with 503 while reads and volatile
 * requests work. A reserved space file is allocated in advance and released before the disk is full; nothing waits for it.
 */
import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { DiskSpace, ReservedSpace } from "../../src/store/disk-space.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";
import { spareFiles, untilSpareFilesAreWhole } from "../support/spare-files.ts";

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

interface SpaceOptions {
  readonly freeBytesMin?: number;
  readonly storeBytesMax?: number | null;
}

function spaceOf(t: Teardown, folder: string, options: SpaceOptions = {}) {
  let now = 0;
  const space = new DiskSpace({
    folder,
    freeBytesMin: options.freeBytesMin ?? 0,
    storeBytesMax: options.storeBytesMax ?? null,
    monotonic: () => now,
  });
  t.teardown(() => space.close());
  return {
    close: () => space.close(),
    acceptsAfter(milliseconds: number): boolean {
      now += milliseconds;
      return space.acceptsWrites();
    },
  };
}

function storeOf(t: Teardown, bytes: number): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "realms", "1"), { recursive: true });
  writeFileSync(join(folder, "realms", "1", "data.mdb"), Buffer.alloc(bytes));
  return folder;
}

t.test("[M5] when less than STORE_FREE_BYTES_MIN is free, writes get 503, reads work", async (t) => {
  const { owner, dataDir } = await startTestServer(t, { environment: { STORE_FREE_BYTES_MIN: "900000000000000" } });
  const refusal = {
    result: "error",
    code: "STORE_REFUSES_WRITES",
    msg: "The server is out of disk space and does not accept changes",
  };
  const writes = [
    owner.post("/messages", { type: "channel", to: "general", topic: "a", content: "x" }),
    owner.post("/users", { email: "x@example.com", password: "correct horse battery", full_name: "X" }),
    owner.post("/channels/create", { name: "new", subscribers: [] }),
    owner.post("/users/me/subscriptions", { subscriptions: [{ name: "new" }] }),
    owner.delete("/users/me/subscriptions", { subscriptions: ["general"] }),
    owner.post("/streams/1/delete_topic", { topic_name: "a" }),
    owner.post("/register"),
  ];
  for (const answer of await Promise.all(writes)) t.match(answer, { status: 503, body: refusal });
  const others = [
    owner.get("/server_settings"),
    owner.get("/users/me"),
    owner.get("/users/me/subscriptions"),
    owner.get("/messages", { anchor: "newest", num_before: 10, num_after: 0 }),
    owner.post("/users/me/presence", { status: "active" }),
    owner.post("/typing", { type: "channel", op: "start", stream_id: 1, topic: "a" }),
  ];
  for (const answer of await Promise.all(others)) t.match(answer, { status: 200, body: { result: "success" } });
  const { body } = await owner.get("/messages", { anchor: "newest", num_before: 10, num_after: 0 });
  t.strictSame(body.messages, []);
  t.notOk(existsSync(join(dataDir, "reserved-space")), "no reserved space where there is no space for it");
});

t.test("[M5] the reserved space and the reserve occupy their full size; one cut short is written again", async (t) => {
  const folder = temporaryFolder(t);
  const reservedSpace = join(folder, "reserved-space");
  writeFileSync(reservedSpace, "cut short");
  t.ok(spaceOf(t, folder).acceptsAfter(0));
  await untilSpareFilesAreWhole(folder);
  for (const [name, bytes] of Object.entries(spareFiles)) {
    t.ok(statSync(join(folder, name)).blocks * 512 >= bytes, `${name} is not sparse`);
  }
});

t.test("10 ms: the look that begins to write the reserved space does not wait for it", async (t) => {
  const folder = temporaryFolder(t);
  t.ok(spaceOf(t, folder).acceptsAfter(0));
  const written = statSync(join(folder, "reserved-space"), { throwIfNoEntry: false })?.size ?? 0;
  t.ok(written < limits.store_reserved_bytes, `${written} bytes are written when it returns`);
});

t.test("[M5] a server that stops while it writes the reserved space leaves no part of it", async (t) => {
  const folder = temporaryFolder(t);
  const space = spaceOf(t, folder);
  t.ok(space.acceptsAfter(0));
  await space.close();
  t.strictSame(readdirSync(folder), []);
  t.ok(space.acceptsAfter(10));
  await new Promise(setImmediate);
  t.strictSame(readdirSync(folder), [], "nothing is written after the end");
});

t.test("[M5] a reserved space that is released while it is written is written again once there is space", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "reserved-space");
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  // The clock stands still: only a failure would be tried again after a minute.
  const reservedSpace = new ReservedSpace(folder, () => 0);
  t.teardown(() => reservedSpace.close());
  const turn = () => new Promise(setImmediate);
  reservedSpace.keep();
  while (size() === 0) await turn();
  reservedSpace.release();
  t.notOk(existsSync(path), "its space is free");
  while (size() < limits.store_reserved_bytes) {
    reservedSpace.keep();
    await turn();
  }
});

t.test(
  "[M5] a watermark just above the free space rejects writes, one below accepts; between them is no reserved space",
  async (t) => {
    const folder = temporaryFolder(t);
    const margin = 1024 * 1024 * 1024;
    t.notOk(spaceOf(t, folder, { freeBytesMin: freeBytes(folder) + margin }).acceptsAfter(0));
    t.ok(spaceOf(t, folder, { freeBytesMin: Math.max(0, freeBytes(folder) - margin) }).acceptsAfter(0));
    t.notOk(existsSync(join(folder, "reserved-space")));
  },
);

t.test("[M5] writes are rejected while all stores together exceed the quota, measured each second", async (t) => {
  const folder = storeOf(t, 1000);
  t.ok(spaceOf(t, folder, { storeBytesMax: 1000 }).acceptsAfter(0), "at the bound");
  const space = spaceOf(t, folder, { storeBytesMax: 999 });
  t.notOk(space.acceptsAfter(0), "one byte over");
  writeFileSync(join(folder, "realms", "1", "data.mdb"), Buffer.alloc(10));
  t.notOk(space.acceptsAfter(500));
  t.ok(space.acceptsAfter(600), "there is space again");
});

t.test(
  "[S3] store_sizes_per_look: the quota of many stores is measured in passes, holding up no request",
  async (t) => {
    const folder = temporaryFolder(t);
    const count = 2 * limits.store_sizes_per_look + 1;
    const fileOf = (id: number) => join(folder, "realms", String(id), "data.mdb");
    for (let id = 1; id <= count; id++) {
      mkdirSync(dirname(fileOf(id)), { recursive: true });
      writeFileSync(fileOf(id), "x");
    }
    const space = spaceOf(t, folder, { storeBytesMax: count });
    t.ok(space.acceptsAfter(0), "at the bound");
    const threeLooks = () => [1001, 10, 10].map((milliseconds) => space.acceptsAfter(milliseconds));
    writeFileSync(fileOf(1), "xx");
    t.strictSame(threeLooks(), [true, true, false], "known with the third look");
    writeFileSync(fileOf(1), "x");
    t.strictSame(threeLooks(), [false, false, true], "there is space again");
  },
);

t.test(
  "[M5] writes are rejected when the folder cannot be inspected, which is logged and does not throw",
  async (t) => {
    t.notOk(spaceOf(t, join(temporaryFolder(t), "gone")).acceptsAfter(10));
  },
);
