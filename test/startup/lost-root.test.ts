/**
 * A start never deletes an organization (M1): however the root database was lost, the next start has every message and
 * the owner's key, or is rejected with one line and changes nothing. A new organization is created only where there is
 * no trace of one.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { RootStore } from "../../src/store/root.ts";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { Program, runCli, startProgram } from "../support/process.ts";
import { readZuliprc, startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";
import { spareFiles } from "../support/spare-files.ts";

interface Kept {
  readonly dataDir: string;
  readonly key: string;
  readonly messageId: number;
}

const template = temporaryFolder(t);

/** The data folder of a stopped server, with two organizations and a message. */
const left: Promise<Kept> = (async () => {
  const dataDir = join(template, "data");
  const { owner, stop } = await startTestServer(t, { dataDir });
  const made = await runCli(
    t,
    dataDir,
    ..."create-realm sales --email eve@example.com --host shop.example.net".split(" "),
  );
  if (made.code !== 0) throw new Error(made.stderr);
  const messageId = await owner.say("general", "kept", "here to stay");
  await stop();
  // Copied faster without them; a server that stops soon has not written them yet.
  for (const name of Object.keys(spareFiles)) rmSync(join(dataDir, name), { force: true });
  return { dataDir, key: owner.account?.key ?? "", messageId };
})();

async function leftFolder(t: Teardown): Promise<Kept> {
  const kept = await left;
  const dataDir = join(temporaryFolder(t), "data");
  cpSync(kept.dataDir, dataDir, { recursive: true });
  return { ...kept, dataDir };
}

/** Checks that the next start has all data. */
async function hasEverything(t: Test, { dataDir, key, messageId }: Kept): Promise<void> {
  const { owner, stop, url } = await startTestServer(t, { dataDir });
  t.equal(owner.account?.key, key, "the owner's key");
  t.equal((await owner.get(`/messages/${messageId}`)).body.raw_content, "here to stay");
  const account = { ...readZuliprc(join(dataDir, "zuliprc.sales")), userId: 2 };
  for (const host of ["sales.example.org", "shop.example.net"]) {
    const eve = await new HostClient(new Client(url, account), host).get("/users/me");
    t.match(eve.body, { email: "eve@example.com", role: 100 }, host);
  }
  t.ok((await owner.say("general", "kept", "and on")) > messageId);
  await stop();
}

function everyFile(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, path, name }) => join(parentPath ?? path, name)).sort();
  // The start itself creates its lock, and its reserve for a full disk.
  const kept = paths.filter((path) => !/(lock|lock\.mdb|reserved-space|reserve)$/.test(path));
  return Object.fromEntries(kept.map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]));
}

/** Checks for one line, exit code 78, and no change. */
async function isRejected(t: Test, dataDir: string, why: RegExp): Promise<void> {
  const before = everyFile(dataDir);
  const { code, stdout, stderr } = await new Program(t, process.execPath, ["colloquy.mjs"], {
    DATA_DIR: dataDir,
    PORT: "0",
  }).exited;
  t.strictSame({ code, stdout }, { code: 78, stdout: "" });
  t.match(stderr, /^colloquy: [^\n]+\n$/);
  t.match(stderr, why);
  t.strictSame(everyFile(dataDir), before);
}

function changeRealm(dataDir: string, id: number, work: (lmdb: ReturnType<typeof openLmdb>) => void) {
  const lmdb = openLmdb(join(dataDir, "realms", String(id)));
  lmdb.transaction(() => work(lmdb));
  return lmdb.close();
}

async function forgetRows(dataDir: string, ids: readonly number[]): Promise<void> {
  const { open } = await import("lmdb");
  const root = open<unknown, (string | number)[]>({ path: join(dataDir, "root"), encoding: "json" });
  for (const id of ids) root.removeSync(["realm", id]);
  await root.close();
}

const rootOf = (dataDir: string) => join(dataDir, "root");
const rootFile = (dataDir: string) => join(dataDir, "root", "data.mdb");

/** Ways to lose the root database. */
const losses: Readonly<Record<string, (dataDir: string) => void | Promise<void>>> = {
  "was removed": (dataDir) => rmSync(rootOf(dataDir), { recursive: true }),
  "has only LMDB's lock file": (dataDir) => rmSync(rootFile(dataDir)),
  "was truncated to zero bytes": (dataDir) => truncateSync(rootFile(dataDir)),
  "was truncated to one page": (dataDir) => truncateSync(rootFile(dataDir), 4096),
  "lost all but its first two pages": (dataDir) => truncateSync(rootFile(dataDir), 8192),
  "was overwritten": (dataDir) => writeFileSync(rootFile(dataDir), Buffer.alloc(32_768)),
  "was made anew": async (dataDir) => {
    rmSync(rootOf(dataDir), { recursive: true });
    await RootStore.make(dataDir).close();
  },
  "lost its rows": (dataDir) => forgetRows(dataDir, [1, 2]),
  "lost the row of the first organization": (dataDir) => forgetRows(dataDir, [1]),
  "lost the row of the second organization": (dataDir) => forgetRows(dataDir, [2]),
};

for (const [how, lose] of Object.entries(losses)) {
  t.test(`[M1] a start rebuilds a root that ${how}`, async (t) => {
    const kept = await leftFolder(t);
    await lose(kept.dataDir);
    await hasEverything(t, kept);
    await hasEverything(t, { ...kept });
  });
}

t.test("[M1] commands other than the server leave a lost root to the next start", async (t) => {
  const kept = await leftFolder(t);
  truncateSync(rootFile(kept.dataDir));
  const backup = join(temporaryFolder(t), "backup");
  for (const args of [
    ["create-realm", "third", "--email", "ann@example.com"],
    ["backup", backup],
    ["check"],
    ["new-key", "owner@localhost"],
  ]) {
    const { code, stderr } = await runCli(t, kept.dataDir, ...args);
    t.equal(code, 1);
    t.match(stderr, /^colloquy: [^\n]+data\.mdb is empty\. Start the server: [^\n]+\n$/, args[0] ?? "");
  }
  await hasEverything(t, kept);
});

/** Faults that make it impossible to identify an organization when the root is lost. */
const doubts: Readonly<Record<string, (dataDir: string) => void | Promise<void>>> = {
  "has no identity": (dataDir) => changeRealm(dataDir, 2, (realm) => realm.remove("meta", "identity")),
  "is a copy of another one": (dataDir) => {
    rmSync(join(dataDir, "realms", "2"), { recursive: true });
    cpSync(join(dataDir, "realms", "1"), join(dataDir, "realms", "2"), { recursive: true });
  },
  "is empty": (dataDir) => truncateSync(join(dataDir, "realms", "2", "data.mdb")),
  "is damaged": (dataDir) => writeFileSync(join(dataDir, "realms", "2", "data.mdb"), Buffer.alloc(8192)),
  "has its files only": (dataDir) => {
    rmSync(join(dataDir, "realms", "2", "data.mdb"));
    mkdirSync(join(dataDir, "realms", "2", "files"));
  },
};

for (const [how, doubt] of Object.entries(doubts)) {
  t.test(`[M1] a start is rejected when the root is lost and an organization ${how}`, async (t) => {
    const { dataDir } = await leftFolder(t);
    await doubt(dataDir);
    rmSync(rootOf(dataDir), { recursive: true });
    await isRejected(t, dataDir, /root\/data\.mdb is missing, and \S+realms\/2 does not say which organization it is/);
  });
}

t.test("[M1] a start is rejected when an organization missing from the root cannot be identified", async (t) => {
  const { dataDir } = await leftFolder(t);
  await changeRealm(dataDir, 1, (realm) => {
    realm.remove("meta", "identity");
    realm.remove("realm", "realm");
  });
  await forgetRows(dataDir, [1]);
  await isRejected(t, dataDir, /root\/data\.mdb does not list \S+realms\/1, and \S+realms\/1 does not say/);
});

t.test("[D4] a start is rejected when two organizations claim one address", async (t) => {
  const { dataDir } = await leftFolder(t);
  await changeRealm(dataDir, 2, (realm) =>
    realm.put("meta", "identity", { value: { id: 2, label: "", hosts: [], createdAt: 0 } }),
  );
  rmSync(rootOf(dataDir), { recursive: true });
  await isRejected(t, dataDir, /realms\/2 and \S+realms\/1 have the same label or host/);
});

/** Faults of the first organization's folder, although the root lists it. */
const absences: Readonly<Record<string, (folder: string) => void>> = {
  "is gone": (folder) => rmSync(folder, { recursive: true }),
  "lost its store": (folder) => rmSync(join(folder, "data.mdb")),
  "has an empty store": (folder) => truncateSync(join(folder, "data.mdb")),
  "has a store without a head": (folder) => writeFileSync(join(folder, "data.mdb"), Buffer.alloc(65_536)),
};

for (const [how, damage] of Object.entries(absences)) {
  t.test(`[M1] a start is rejected when the folder of the first organization ${how}`, async (t) => {
    const { dataDir } = await leftFolder(t);
    damage(join(dataDir, "realms", "1"));
    await isRejected(
      t,
      dataDir,
      /realms\/1\/data\.mdb is (missing|empty|damaged): it must hold an organization\. Stop the server, .* restore a backup\./,
    );
  });
}

t.test("[M1] another organization without its data is not recreated, and the first one is served", async (t) => {
  const kept = await leftFolder(t);
  const store = join(kept.dataDir, "realms", "2", "data.mdb");
  rmSync(store);
  const { owner } = await startTestServer(t, { dataDir: kept.dataDir });
  t.equal((await owner.get(`/messages/${kept.messageId}`)).status, 200);
  t.not((await new HostClient(owner, "sales.example.org").get("/server_settings")).status, 200);
  t.notOk(existsSync(store));
});

t.test("files that are no trace of an organization do not prevent creating one", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const folder of ["lost+found", "realms/1", "realms/founding-0123456789ab", "root", "outbox"]) {
    mkdirSync(join(dataDir, folder), { recursive: true });
  }
  for (const file of ["realms/1/lock.mdb", "realms/founding-0123456789ab/data.mdb", "root/lock.mdb", "lock"]) {
    writeFileSync(join(dataDir, file), "");
  }
  const { owner, stop } = await startTestServer(t, { dataDir });
  t.equal((await owner.get("/users/me")).body.user_id, 2);
  await stop();
  t.strictSame(readdirSync(join(dataDir, "realms")), ["1"], "unfinished folders were removed");
});

t.test("[D4] create-realm takes an id that neither a row nor a folder has, whatever the root lost", async (t) => {
  const kept = await leftFolder(t);
  await forgetRows(kept.dataDir, [2]);
  const made = await runCli(t, kept.dataDir, "create-realm", "third", "--email", "ann@example.com");
  t.match(made, { code: 0, stderr: /^colloquy: the root did not list [^\n]+realms\/2: its row was restored\n$/ });
  t.strictSame(readdirSync(join(kept.dataDir, "realms")).sort(), ["1", "2", "3"]);
  await hasEverything(t, kept);
  const { owner } = await startTestServer(t, { dataDir: kept.dataDir });
  const { body } = await new HostClient(owner, "third.example.org").anonymous().get("/server_settings");
  t.equal(body.realm_name, "third");
});

t.test("[M1] the server rebuilds the root of a folder that it served, and logs it", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const { owner, program } = await startProgram(t, dataDir);
  const id = await owner.say("general", "kept", "here to stay");
  await program.end("SIGKILL");
  rmSync(rootOf(dataDir), { recursive: true });
  const again = await startProgram(t, dataDir);
  t.equal((await again.owner.get(`/messages/${id}`)).body.raw_content, "here to stay");
  t.ok(await again.program.complained(/"msg":"[^"]*realms\/1: its row was restored"/));
});
