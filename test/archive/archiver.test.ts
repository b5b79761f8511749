/** When the archive is written, what waits for it, and what happens while it cannot be written. */
import { mkdirSync, rmSync } from "node:fs";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { Archiver } from "../../src/durability/archive/archiver.ts";
import { type ErasedNote, readErased } from "../../src/durability/archive/layout.ts";
import { until } from "./archive-support.ts";
import { World } from "./archived-journal.ts";

/** Timers that fire when a test says so. */
class Timers {
  readonly set = new Map<() => void, number>();

  readonly after = (milliseconds: number, callback: () => void) => {
    this.set.set(callback, milliseconds);
    return () => void this.set.delete(callback);
  };

  fire(): void {
    const due = [...this.set.keys()];
    this.set.clear();
    for (const callback of due) callback();
  }
}

interface Given {
  readonly hasSpace?: () => boolean;
  readonly erased?: readonly ErasedNote[];
}

function archiverOf(t: Test, world: World, { hasSpace = () => true, erased = [] }: Given = {}) {
  const timers = new Timers();
  const lines: string[] = [];
  const log = { warn: (line: string) => void lines.push(line), error: (line: string) => void lines.push(line) };
  const archiver = new Archiver({
    archive: world.archive,
    dataDir: world.dataDir,
    journal: world.journalFolder,
    keptDays: null,
    baseHours: 24,
    durable: world.end,
    waitingBytes: 0,
    clock: { now: Date.now, after: timers.after },
    hasSpace,
    realms: () => [],
    erased: () => erased,
    onErased: () => undefined,
    revision: () => 1,
    log,
  });
  t.teardown(async () => {
    const closed = archiver.close();
    timers.fire();
    await closed;
  });
  /** As the journal does when a record is durable. */
  const write = (count: number, recordBytes = 100) => {
    world.write(count);
    archiver.appended(recordBytes);
    archiver.durableUpTo(world.end);
  };
  return { archiver, timers, lines, write };
}

t.test("[D254] an archive sets one timer after a record, and none while nothing is written", async (t) => {
  const world = new World(t);
  const { archiver, timers, lines, write } = archiverOf(t, world);
  write(1);
  await until(() => archiver.keepsAfter === 0 && timers.set.size === 1);
  for (let count = 0; count < 10; count++) write(1);
  t.strictSame([...timers.set.values()], [limits.archive_interval_ms], "the same one");
  timers.fire();
  await until(() => archiver.keepsAfter === world.end);
  t.equal(timers.set.size, 0);
  t.strictSame(lines, []);
});

t.test("an archive notes the organizations that were erased", async (t) => {
  const world = new World(t);
  const erased = [
    { id: 2, at: 5 },
    { id: 7, at: 6 },
  ];
  const { lines } = archiverOf(t, world, { erased });
  await until(() => readErased(world.archive).length === erased.length || lines.length > 0);
  t.strictSame([readErased(world.archive), lines], [erased, []]);
});

t.test(
  "[S3] while an archive cannot be written, records wait for it up to archive_backlog_bytes_max; then the journal goes on without it, and it begins again",
  async (t) => {
    const world = new World(t);
    rmSync(world.archive, { recursive: true });
    const { archiver, timers, lines, write } = archiverOf(t, world);
    await until(() => lines.length === 1);
    t.match(
      lines[0],
      /^the archive \S+ cannot be written: there is no folder \S+\. Up to 256 MiB of changes wait for it/,
    );
    write(1, limits.archive_backlog_bytes_max - 1000);
    t.equal(archiver.keepsAfter, 0, "at the bound they wait");
    write(1, 1000);
    t.equal(archiver.keepsAfter, Number.POSITIVE_INFINITY, "the journal may forget them");
    t.match(lines[1], /^the archive \S+ has a gap because of more than 256 MiB of changes: times from now on/);
    world.release(world.end);
    for (let failures = 1; failures < 9; failures++) {
      const [pause = 0] = timers.set.values();
      t.ok(pause <= limits.archive_retry_ms_max, `it is tried again after ${pause} ms`);
      timers.fire();
      await until(() => timers.set.size === 1);
    }
    t.equal(lines.length, 2, "nothing is said twice");
    mkdirSync(world.archive);
    timers.fire();
    await until(() => archiver.keepsAfter === world.end);
    t.match(lines[2], /^the archive \S+ is written again$/);
    write(3);
    timers.fire();
    await until(() => archiver.keepsAfter === world.end);
    t.equal(lines.length, 3);
  },
);

t.test("[M5] a nearly full disk of the data folder ends the wait for an archive that cannot be written", async (t) => {
  const world = new World(t);
  rmSync(world.archive, { recursive: true });
  let hasSpace = true;
  const { archiver, lines, write } = archiverOf(t, world, { hasSpace: () => hasSpace });
  await until(() => lines.length === 1);
  write(1);
  t.equal(archiver.keepsAfter, 0);
  hasSpace = false;
  write(1);
  t.equal(archiver.keepsAfter, Number.POSITIVE_INFINITY);
  t.match(lines[1], /has a gap because of the full disk/);
});

t.test("a stop copies the last records, but does not wait long for an archive", async (t) => {
  const world = new World(t);
  const { archiver, write } = archiverOf(t, world);
  write(2);
  await archiver.close();
  t.equal(archiver.keepsAfter, world.end);
  const broken = new World(t);
  rmSync(broken.archive, { recursive: true });
  const other = archiverOf(t, broken);
  other.write(1);
  await until(() => other.lines.length === 1);
  await other.archiver.close();
  t.equal(other.archiver.keepsAfter, 0, "the next start copies the rest");
});
