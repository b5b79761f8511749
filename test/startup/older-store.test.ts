/**
 * The upgrade of a data folder that an older program wrote (test/store/fixtures/README.md): everything is served as
 * that program served it, wherever the first start is interrupted.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { openEnvironment } from "../../src/store/environment.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { contentsOf, sealedSince } from "../../src/store/seal.ts";
import { askAll, type OldAnswer, type OlderStore, saidThen, unpackStore } from "../support/older-store.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { traced, tracingObstacle } from "../support/strace.ts";

/** Every version before the present one. */
const versions = Array.from({ length: storeVersion - 1 }, (_, index) => index + 1);
const stores = ["root", "realms/1", "realms/2"] as const;

async function rootVersion(dataDir: string): Promise<number> {
  const root = open<Buffer, string[]>({ path: join(dataDir, "root"), encoding: "binary" });
  const sealed = root.get(["version"]) as Buffer;
  const { start, end } = contentsOf(sealed);
  const version = Number(sealed.toString("utf8", start, end));
  await root.close();
  return version;
}

/** Of each store, in the order of `stores`. */
async function versionsIn(dataDir: string): Promise<number[]> {
  const versions = [await rootVersion(dataDir)];
  for (const realm of stores.slice(1)) {
    const environment = openEnvironment(join(dataDir, realm));
    versions.push(environment.get("meta", "version")?.value as number);
    await environment.close();
  }
  return versions;
}

const upgraded = stores.map(() => storeVersion);

/** Asks everything, writes something, and stops. */
async function requireAll(t: Test, { dataDir, accounts, answers }: OlderStore, version: number): Promise<void> {
  const { program, url, owner } = await startProgram(t, dataDir);
  const now = await askAll(url, accounts);
  for (const [index, then] of answers.entries()) requireSame(t, now[index], then, version);
  t.ok((await owner.say("kitchen", "lunch", "still hungry")) > 0);
  t.equal((await program.end("SIGTERM")).code, 0);
  t.strictSame(await versionsIn(dataDir), upgraded);
}

/** Older stores say of few messages that they are unread: the others count as read. */
const readStateSince = 3;

function requireSame(t: Test, now: OldAnswer | undefined, then: OldAnswer, version: number): void {
  if (then.value === null || then.value["result"] === "error") return;
  if (version >= readStateSince) {
    t.strictSame(saidThen(now, then), then, then.asked);
    return;
  }
  if (!then.asked.includes("unread")) {
    t.strictSame(withoutReadFlags(saidThen(now, then)), withoutReadFlags(then), then.asked);
    return;
  }
  const wereUnread = version === 1 ? [] : idsIn(then);
  t.ok(
    idsIn(now).every((id) => wereUnread.includes(id)),
    `${then.asked}: nobody finds old messages unread`,
  );
}

function idsIn(answer: OldAnswer | undefined): number[] {
  const messages = (answer?.value?.["messages"] ?? []) as readonly { readonly id: number }[];
  return messages.map(({ id }) => id);
}

function withoutReadFlags(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key === "flags" && Array.isArray(value) ? value.filter((flag) => flag !== "read") : value,
  );
}

for (const version of versions) {
  t.test(
    `[operations, Start, stop, exit codes] a store of version ${version} is upgraded at the first start`,
    async (t) => {
      const older = unpackStore(t, version);
      if (version >= sealedSince) t.strictSame(await versionsIn(older.dataDir), [version, version, version]);
      await requireAll(t, older, version);
      t.ok(existsSync(join(older.dataDir, "journal")));
    },
  );
}

/** Where the upgrade is interrupted, one after the other: at the flush of a store, by its number. */
const interruptions = [
  { store: "root", flush: 1, versions: [7, 7, 7] },
  { store: "realms/1", flush: 1, versions: [8, 7, 7] },
  { store: "realms/1", flush: 2, versions: [8, 7, 7] },
] as const;

t.test("[M2] an upgrade that is killed at any of its flushes is completed by a later start", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not traced: ${reason}`, { skip: reason });
    return;
  }
  const older = unpackStore(t, 7);
  const { dataDir } = older;
  for (const { store, flush, versions } of interruptions) {
    const kill = ["-P", join(dataDir, store, "data.mdb"), "-e", `inject=fdatasync:signal=SIGKILL:when=${flush}`];
    const program = traced(t, { dataDir, file: join(temporaryFolder(t), "trace"), flags: kill });
    t.equal((await program.exited).signal, "SIGKILL", `${store}, flush ${flush}`);
    t.strictSame(await versionsIn(dataDir), versions);
  }
  await requireAll(t, older, 7);
});

/** Of the organization's store, one start after the other. An upgrade from version 1 has a dozen in all. */
const killedFlushes = [1, 2, 4] as const;

t.test("[M2] an upgrade over all versions continues after kills at some of its flushes", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not traced: ${reason}`, { skip: reason });
    return;
  }
  const older = unpackStore(t, 1);
  const path = join(older.dataDir, "realms/1/data.mdb");
  for (const flush of killedFlushes) {
    const flags = ["-P", path, "-e", `inject=fdatasync:signal=SIGKILL:when=${flush}`];
    const program = traced(t, { dataDir: older.dataDir, file: join(temporaryFolder(t), "trace"), flags });
    t.equal((await program.exited).signal, "SIGKILL", `flush ${flush}`);
  }
  await requireAll(t, older, 1);
});
