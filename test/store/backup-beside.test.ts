/**
 * Backups beside a server that works (architecture, Files; cli backup): a copy has every file that its rows claim, whatever is uploaded
 * and removed meanwhile, and one that was killed leaves nothing that lets the store grow.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { areFilesHeld, holdFiles } from "../../src/store/file-hold.ts";
import { FileStore } from "../../src/store/files.ts";
import { attachmentsOf, uploaded } from "../support/attachments.ts";
import { checkout, Program, runCli } from "../support/process.ts";
import { commands, openFounded } from "../support/runtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const backups = Number(process.env["BACKUPS"] ?? 3);

t.test("[architecture, Files] no backup beside uploads and removals lacks a file that its rows claim", async (t) => {
  const server = await startTestServer(t);
  const { owner, dataDir } = server;
  let isOver = false;
  let removed = 0;
  const churn = async (lane: number) => {
    for (let count = 0; !isOver; count++) {
      const { url } = await uploaded(owner, `file ${lane} ${count}`);
      const mine = (await attachmentsOf(owner)).find(({ path_id: path }) => url.endsWith(path));
      t.equal((await owner.delete(`/attachments/${mine.id}`)).status, 200);
      removed++;
    }
  };
  for (let count = 0; count < 20; count++) await uploaded(owner, `a file that stays ${count}`);
  const lanes = [1, 2, 3].map(churn);
  for (let count = 0; count < backups; count++) {
    const folder = join(temporaryFolder(t), "copy");
    const made = await runCli(t, dataDir, "backup", folder);
    t.strictSame([made.code, made.stdout, made.stderr], [0, `backup is at ${folder}\n`, ""]);
    const target = join(temporaryFolder(t), "restored");
    t.equal((await runCli(t, target, "restore", folder)).code, 0);
    t.strictSame((await runCli(t, target, "check")).stdout, "no problems\n");
    t.ok(readdirSync(join(target, "realms", "1", "files", "uploads")).length >= 20);
  }
  isOver = true;
  await Promise.all(lanes);
  t.ok(removed > backups, `${removed} files came and went`);
  t.notOk(existsSync(join(dataDir, "realms", "1", "files.hold")), "nothing is held any more");
});

t.test("[architecture, Files] what is removed while a backup copies goes when it is done", async (t) => {
  const realmFolder = temporaryFolder(t);
  const folder = join(realmFolder, "files");
  const areHeld = () => areFilesHeld(realmFolder);
  const name = `uploads/${"1".repeat(32)}.bin`;
  const store = new FileStore({ folder, acceptsWrites: () => true, areHeld, report: (error) => t.fail(String(error)) });
  await store.write([{ name, bytes: Buffer.from("soup") }]);
  store.settle([name], true);
  const release = await holdFiles(realmFolder);
  store.discard(name);
  store.discardHeldBack();
  await store.sweep(() => ({ has: () => false }));
  await store.idle();
  t.equal((await store.read(name))?.toString(), "soup", "neither a removal nor a sweep takes it");
  await release();
  store.discardHeldBack();
  await store.idle();
  t.equal(await store.read(name), null);
});

t.test("[architecture, Files] a backup that was killed holds no files", async (t) => {
  const folder = temporaryFolder(t);
  t.equal(await areFilesHeld(folder), false);
  const release = await holdFiles(folder);
  t.equal(await areFilesHeld(folder), true);
  const hold = join(folder, "files.hold");
  const holder = readFileSync(hold, "utf8");
  writeFileSync(hold, holder.slice(0, 10));
  t.equal(await areFilesHeld(folder), true, "it is being written");
  writeFileSync(hold, JSON.stringify({ ...JSON.parse(holder), startedAt: "1" }));
  t.equal(await areFilesHeld(folder), false, "another process has its id");
  await release();
});

t.test("[S3] a backup that was killed does not let the store grow until the next start", async (t) => {
  const opened = await openFounded(t);
  const file = join(opened.folder, "data.mdb");
  const grown = async () => {
    const before = statSync(file).size;
    for (let count = 0; count < 100; count++) await opened.ask(commands.post("a", `message ${count}`));
    return statSync(file).size - before;
  };
  await grown();
  const bound = 2 * (await grown()) + 256 * 1024;
  const reader = new Program(
    t,
    process.execPath,
    ["--import=tsx", "test/store/dead-reader.ts", opened.folder],
    {},
    checkout,
  );
  await reader.printed(/reading/);
  await opened.ask(commands.post("a", "after it began"));
  await reader.end("SIGKILL");
  const leaked = await grown();
  t.ok(leaked > bound, `while nobody looks, the dead reader costs ${leaked} bytes`);
  opened.clock.advance(60_000);
  await opened.idle();
  const after = await grown();
  t.ok(after <= bound, `then ${after} bytes, at most ${bound}`);
});
