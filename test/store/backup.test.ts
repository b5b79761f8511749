/**
 * Backup, restore and check of a data folder (architecture, E1; cli backup, restore, check): a copy is complete
 * whatever happens meanwhile, a restored one invalidates earlier queues, and the check finds every fault.
 */
import { join } from "node:path";
import t from "tap";
import { RealmHost, realmFolder } from "../../src/runtime/realm-host.ts";
import { backupFolder, checkFolder, restoreFolder } from "../../src/store/backup.ts";
import { type Lmdb, openLmdb } from "../../src/store/lmdb.ts";
import { RootStore } from "../../src/store/root.ts";
import { backupPorts } from "../support/backup-ports.ts";
import { PromptDurability } from "../support/manual-durability.ts";
import { commands, dump, generalId, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

interface Folder {
  readonly dataDir: string;
  readonly root: RootStore;
}

function openFolder(t: Teardown, dataDir: string): Folder {
  const root = RootStore.open(dataDir);
  t.teardown(() => root.close());
  return { dataDir, root };
}

/** A data folder with one open realm, as while a server runs. */
async function running(t: Teardown): Promise<Folder & { readonly opened: OpenRealm }> {
  const folder = openFolder(t, temporaryFolder(t));
  const opened = await openNewRealm(t, { folder: realmFolder(folder.dataDir, 1) });
  await opened.ask(commands.post("a", "one"));
  await opened.ask(commands.direct([ownerId], "two"));
  await opened.ask(commands.register(ownerId, "q1"));
  await opened.idle();
  opened.checkpoint();
  folder.root.putRealm({ id: 1, label: "", hosts: [], createdAt: 0, dueHint: null });
  return { ...folder, opened };
}

async function withRealm(dataDir: string, work: (lmdb: Lmdb) => void): Promise<void> {
  const lmdb = openLmdb(realmFolder(dataDir, 1));
  try {
    work(lmdb);
  } finally {
    await lmdb.close();
  }
}

t.test("[E1] a restored backup has everything except the epoch and the queues, which are new", async (t) => {
  const { root, dataDir, opened } = await running(t);
  const target = join(temporaryFolder(t), "copy");
  await backupFolder(root, dataDir, target, backupPorts(dataDir));
  const copy = openFolder(t, target);
  await restoreFolder(copy.root, target);
  t.strictSame(await checkFolder(copy.root, target), []);
  await withRealm(target, (lmdb) => {
    const expected = dump(opened.lmdb);
    t.equal(expected["queues"]?.length, 1);
    t.strictSame(dump(lmdb), { ...expected, queues: [] });
    t.not(lmdb.get("meta", "epoch")?.value, opened.realm.epoch);
  });
  await opened.ask(commands.post("a", "later"));
  t.equal(opened.lmdb.count("messages"), 3, "the original continues");
});

t.test("a realm created while the backup runs is complete in it, or absent", async (t) => {
  const { root, dataDir } = await running(t);
  const other = await openNewRealm(t, { folder: realmFolder(dataDir, 2) });
  other.checkpoint();
  const target = join(temporaryFolder(t), "copy");
  const copying = backupFolder(root, dataDir, target, backupPorts(dataDir));
  root.putRealm({ id: 2, label: "two", hosts: [], createdAt: 0, dueHint: null });
  await copying;
  t.equal(other.lmdb.count("users"), 2);
  const copy = openFolder(t, target);
  await restoreFolder(copy.root, target);
  t.strictSame(await checkFolder(copy.root, target), []);
});

/** Faults of a store, and what the check reports for each. */
const damages: Readonly<Record<string, { readonly damage: (lmdb: Lmdb) => void; readonly found: RegExp }>> = {
  "a message without its conversation": {
    damage: (lmdb) => lmdb.remove("conversations", conversationOf(lmdb)),
    found: /message 1 has no conversation/,
  },
  "a message that its conversation does not list": {
    damage: (lmdb) => lmdb.remove("conversationMessages", [conversationOf(lmdb), 1]),
    found: /message 1 is not in its conversation/,
  },
  "a message that its channel does not list": {
    damage: (lmdb) => lmdb.remove("channelMessages", [generalId, 1]),
    found: /message 1 is not in its channel/,
  },
  "a list that names a message that is not there": {
    damage: (lmdb) => lmdb.remove("messages", 1),
    found: /1 messages, 2 entries of conversations/,
  },
};

function conversationOf(lmdb: Lmdb): number {
  return lmdb.get("messages", 1)?.conversationId ?? 0;
}

for (const [what, { damage, found }] of Object.entries(damages)) {
  t.test(`[M2] the check finds ${what}`, async (t) => {
    const { root, dataDir, opened } = await running(t);
    t.strictSame(await checkFolder(root, dataDir), []);
    opened.lmdb.transaction(() => damage(opened.lmdb));
    opened.checkpoint();
    t.match((await checkFolder(root, dataDir)).join("\n"), found);
  });
}

t.test("[M8] closing and reopening a host leaves nothing undone and loses nothing", async (t) => {
  const { root, dataDir, opened } = await running(t);
  const before = dump(opened.lmdb);
  await opened.realm.close();
  const durability = new PromptDurability(opened.clock);
  const host = new RealmHost({
    dataDir,
    root,
    durability,
    clock: opened.clock,
    alarm: {
      bug: (error) => t.fail(String(error)),
      fatal: (error) => {
        throw error;
      },
      warn: () => undefined,
    },
    acceptsWrites: () => true,
    onOpen: () => undefined,
  });
  host.openDue();
  t.equal([...host.openRealms].length, 1);
  await host.close();
  await durability.close();
  await withRealm(dataDir, (lmdb) => t.strictSame(dump(lmdb), before));
});
