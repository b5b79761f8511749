/**
 * Copies, restores and checks of a data folder (architecture, E1; cli backup, restore, check): a copy is whole whatever happens
 * meanwhile, a restored one voids the queues of before, and the check finds what is wrong.
 */
import { join } from "node:path";
import t from "tap";
import { RealmHost, realmFolder } from "../../src/runtime/realm-host.ts";
import { backupFolder, checkFolder, restoreFolder } from "../../src/store/backup.ts";
import { type Environment, openEnvironment } from "../../src/store/environment.ts";
import { RootStore } from "../../src/store/root.ts";
import { backupPorts } from "../support/backup-ports.ts";
import { commands, dump, generalId, type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";
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

/** A data folder with one realm, which is open, as while a server runs. */
async function running(t: Teardown): Promise<Folder & { readonly opened: OpenRealm }> {
  const folder = openFolder(t, temporaryFolder(t));
  const opened = await openFounded(t, { folder: realmFolder(folder.dataDir, 1) });
  await opened.ask(commands.post("a", "one"));
  await opened.ask(commands.direct([ownerId], "two"));
  await opened.ask(commands.register(ownerId, "q1"));
  await opened.idle();
  folder.root.putRealm({ id: 1, label: "", hosts: [], createdAt: 0, dueHint: null });
  return { ...folder, opened };
}

async function withRealm(dataDir: string, work: (environment: Environment) => void): Promise<void> {
  const environment = openEnvironment(realmFolder(dataDir, 1));
  try {
    work(environment);
  } finally {
    await environment.close();
  }
}

t.test("[E1] a restored backup has everything but a new epoch and no queues", async (t) => {
  const { root, dataDir, opened } = await running(t);
  const target = join(temporaryFolder(t), "copy");
  await backupFolder(root, dataDir, target, backupPorts);
  const copy = openFolder(t, target);
  await restoreFolder(copy.root, target);
  t.strictSame(await checkFolder(copy.root, target), []);
  await withRealm(target, (environment) => {
    const expected = dump(opened.environment);
    t.equal(expected["queues"]?.length, 1);
    t.strictSame(dump(environment), { ...expected, queues: [] });
    t.not(environment.get("meta", "epoch")?.value, opened.realm.epoch);
  });
  await opened.ask(commands.post("a", "later"));
  t.equal(opened.environment.count("messages"), 3, "the original goes on");
});

t.test("[architecture] a realm that is made while the backup runs is whole in it, or not in it at all", async (t) => {
  const { root, dataDir } = await running(t);
  const other = await openFounded(t, { folder: realmFolder(dataDir, 2) });
  const target = join(temporaryFolder(t), "copy");
  const copying = backupFolder(root, dataDir, target, backupPorts);
  root.putRealm({ id: 2, label: "two", hosts: [], createdAt: 0, dueHint: null });
  await copying;
  t.equal(other.environment.count("users"), 2);
  const copy = openFolder(t, target);
  await restoreFolder(copy.root, target);
  t.strictSame(await checkFolder(copy.root, target), []);
});

/** Ways in which a store can be wrong, and what the check says of each. */
const damages: Readonly<Record<string, { readonly harm: (environment: Environment) => void; readonly found: RegExp }>> =
  {
    "a message without its conversation": {
      harm: (environment) => environment.remove("conversations", conversationOf(environment)),
      found: /message 1 has no conversation/,
    },
    "a message that its conversation does not list": {
      harm: (environment) => environment.remove("conversationMessages", [conversationOf(environment), 1]),
      found: /message 1 is not in its conversation/,
    },
    "a message that its channel does not list": {
      harm: (environment) => environment.remove("channelMessages", [generalId, 1]),
      found: /message 1 is not in its channel/,
    },
    "a list that names a message that is not there": {
      harm: (environment) => environment.remove("messages", 1),
      found: /1 messages, 2 entries of conversations/,
    },
  };

function conversationOf(environment: Environment): number {
  return environment.get("messages", 1)?.conversationId ?? 0;
}

for (const [what, { harm, found }] of Object.entries(damages)) {
  t.test(`[M2] the check finds ${what}`, async (t) => {
    const { root, dataDir, opened } = await running(t);
    t.strictSame(await checkFolder(root, dataDir), []);
    opened.environment.transaction(() => harm(opened.environment));
    t.match((await checkFolder(root, dataDir)).join("\n"), found);
  });
}

t.test("[M8] a host that is closed and opened again leaves nothing undone and loses nothing", async (t) => {
  const { root, dataDir, opened } = await running(t);
  const before = dump(opened.environment);
  await opened.realm.close();
  const host = new RealmHost({
    dataDir,
    root,
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
  await withRealm(dataDir, (environment) => t.strictSame(dump(environment), before));
});
