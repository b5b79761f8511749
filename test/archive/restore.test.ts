/** Moments that are restored from an archive: exactly what was there, whatever happened afterwards. */
import { copyFileSync, existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { erasedFile } from "../../src/durability/archive/layout.ts";
import { attachmentsOf, fetchFile, linkTo, uploaded } from "../support/attachments.ts";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { basesOf, recordsOf, restoreTo, until } from "./archive-support.ts";
import {
  type ArchivedServer,
  complete,
  contentsOf,
  moment,
  post,
  startArchived,
  startRestored,
} from "./archived-server.ts";

t.test("a moment is restored with its messages, changes, marks, files and organizations after a kill", async (t) => {
  const server = await startArchived(t);
  const { owner, archive, dataDir } = server;
  const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "ann@example.org", "--site", server.url);
  t.equal(made.code, 0, made.stderr);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
  const annAt = (url: string) => new HostClient(new Client(url, { email, key, userId: 2 }), "sales.example.org");
  const ann = annAt(server.url);
  await post(ann, "sales one");
  await until(() => basesOf(archive).some(({ realms }) => realms.some(({ id }) => id === 2)));

  const file = await uploaded(owner, "the soup of the day");
  const [kept, edited, deleted] = [
    await post(owner, `kept ${linkTo(file)}`),
    await post(owner, "before the edit"),
    await post(owner, "not deleted yet"),
  ];
  t.equal((await owner.post("/messages/flags", { messages: [kept], op: "add", flag: "starred" })).status, 200);
  const noon = await moment();
  t.equal((await owner.patch(`/messages/${edited}`, { content: "after the edit" })).status, 200);
  t.equal((await owner.delete(`/messages/${deleted}`)).status, 200);
  t.equal((await owner.delete(`/messages/${kept}`)).status, 200);
  t.equal((await owner.post("/messages/flags", { messages: [edited], op: "add", flag: "starred" })).status, 200);
  const [attachment] = await attachmentsOf(owner);
  t.equal((await owner.delete(`/attachments/${attachment.id}`)).status, 200);
  const laterFile = await uploaded(owner, "later");
  await post(owner, `later ${linkTo(laterFile)}`);
  await post(ann, "sales two");
  await complete(server);
  await server.program.end("SIGKILL");

  const restored = await startRestored(t, archive, noon);
  t.strictSame(await contentsOf(restored.owner), [`kept ${linkTo(file)}`, "before the edit", "not deleted yet"]);
  const starred = await restored.owner.get("/messages", {
    anchor: "newest",
    num_before: 10,
    num_after: 0,
    narrow: JSON.stringify([{ operator: "is", operand: "starred" }]),
  });
  const ids = starred.body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(ids, [kept]);
  t.equal((await fetchFile(restored.owner, file.url)).bytes.toString(), "the soup of the day");
  t.equal((await fetchFile(restored.owner, laterFile.url)).status, 404);
  t.strictSame(await contentsOf(annAt(restored.url)), ["sales one"]);
  await restored.program.end("SIGTERM");

  const latest = await startRestored(t, archive, "latest");
  t.strictSame(await contentsOf(latest.owner), ["after the edit", `later ${linkTo(laterFile)}`]);
  t.strictSame(await contentsOf(annAt(latest.url)), ["sales one", "sales two"]);
});

t.test("an organization that was erased is in moments before, and in none after", async (t) => {
  const server = await startArchived(t);
  const { archive, dataDir } = server;
  const cli = async (...args: string[]) => t.strictSame((await runCli(t, dataDir, ...args)).stderr, "");
  await cli("create-realm", "sales", "--email", "ann@example.org", "--site", server.url);
  const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
  const annAt = (url: string) => new HostClient(new Client(url, { email, key, userId: 2 }), "sales.example.org");
  await post(annAt(server.url), "a secret");
  await until(() => basesOf(archive).some(({ realms }) => realms.some(({ id }) => id === 2)));
  await post(server.owner, "kept");
  await complete(server);
  const noon = await moment();
  await cli("deactivate-realm", "sales");
  await cli("erase-realm", "sales", "--confirm", "sales");
  await until(() => existsSync(erasedFile(archive, 2)));
  await complete(server);
  await server.program.end("SIGKILL");

  const before = await startRestored(t, archive, noon);
  t.strictSame(await contentsOf(annAt(before.url)), ["a secret"]);
  await before.program.end("SIGTERM");
  const latest = await startRestored(t, archive, "latest");
  t.strictSame(await contentsOf(latest.owner), ["kept"]);
  t.strictSame(readdirSync(join(latest.dataDir, "realms")), ["1"]);
  t.notOk(existsSync(join(latest.dataDir, "zuliprc.sales")));
});

t.test("a restore while the server runs on the original has all, and changes nothing in the archive", async (t) => {
  const server = await startArchived(t);
  await post(server.owner, "before");
  const time = await moment();
  await post(server.owner, "after");
  await complete(server);
  const seconds = String(Date.parse(time) / 1000);
  for (const [to, contents] of [
    [seconds, ["before"]],
    ["latest", ["before", "after"]],
  ] as const) {
    const restored = await startRestored(t, server.archive, to);
    t.strictSame(await contentsOf(restored.owner), contents);
    await restored.program.end("SIGKILL");
  }
  await post(server.owner, "it goes on");
  await complete(server);
  t.equal((await server.program.end("SIGTERM")).code, 0);
  const latest = await startRestored(t, server.archive, "latest");
  t.strictSame(await contentsOf(latest.owner), ["before", "after", "it goes on"]);
});

/** The exit code for a malformed argument. */
const wrongUse = 64;

/** An archive with some files of records, from several sessions, and moments in it. */
async function filledArchive(t: Test) {
  const moments: string[] = [];
  let server: ArchivedServer | null = null;
  for (const content of ["one", "two", "three"]) {
    server = await startArchived(t, server ?? {});
    await post(server.owner, content);
    await complete(server);
    moments.push(await moment());
    await server.program.end("SIGKILL");
  }
  const { archive, dataDir } = server as ArchivedServer;
  return { archive, dataDir, moments };
}

t.test("a restore that cannot be right says so in one line and leaves no folder", async (t) => {
  const { archive, dataDir, moments } = await filledArchive(t);
  const [first = ""] = moments;
  const target = join(temporaryFolder(t), "restored");
  const refused = async (time: string, message: RegExp, from = archive, into = target, expected = 1) => {
    const { code, stdout, stderr } = await restoreTo(t, from, into, time);
    t.strictSame([code, stdout], [expected, ""], time);
    t.match(stderr, message);
    t.equal(stderr.trimEnd().split("\n").length, 1, "one line");
  };
  const span = /It can bring back 20\d\d-\S+Z to 20\d\d-\S+Z\.$/m;
  await refused("2001-09-09T01:46:40Z", /cannot bring back 2001-09-09T01:46:40\.000Z\./);
  await refused("1000000000", span);
  await refused("2099-01-01T00:00:00+02:00", span);
  for (const malformed of ["yesterday", "2026-11-24T12:00:00"])
    await refused(malformed, new RegExp(`--to ${malformed} is not a time`), archive, target, wrongUse);
  await refused("latest", /is not an archive/, dataDir);
  await refused("latest", /is not empty/, archive, dataDir);
  t.notOk(readdirSync(join(target, "..")).includes("restored"), "nothing is left");

  const copies = temporaryFolder(t);
  const files = recordsOf(archive);
  for (const { path } of files) copyFileSync(path, join(copies, path.split("/").at(-1) ?? ""));
  const putBack = () => {
    for (const { path } of files) copyFileSync(join(copies, path.split("/").at(-1) ?? ""), path);
  };
  const [early, late] = [files[1], files.at(-1)];
  if (early === undefined || late === undefined) throw new Error("there are too few files");
  rmSync(early.path);
  await refused("latest", new RegExp(`Records ${early.first} to ${early.last} are missing before`));
  putBack();
  for (const damage of [
    () => truncateSync(late.path, late.bytes - 8),
    () => truncateSync(late.path, 0),
    () => overwrite(late.path, 100),
    () => writeFileSync(late.path, Buffer.alloc(48), { flag: "a" }),
  ]) {
    await damage();
    await refused("latest", new RegExp(`^colloquy: ${late.path} is damaged at offset \\d+: `));
    putBack();
  }
  const restored = await startRestored(t, archive, first);
  t.strictSame(await contentsOf(restored.owner), ["one"], "it can be restored again");

  const [base] = basesOf(archive);
  const store = join(archive, "generations/00000001/bases", String(base?.number).padStart(8, "0"), "realms/1/data.mdb");
  await overwrite(store, 9000);
  await refused("latest", /realms\/1\/data\.mdb is damaged/);
});

async function overwrite(path: string, offset: number): Promise<void> {
  const file = await open(path, "r+");
  await file.write(Buffer.from("damage"), 0, 6, offset);
  await file.close();
}

t.test("a file that is missing in the archive is named, and the rest is restored", async (t) => {
  const server = await startArchived(t);
  const file = await uploaded(server.owner, "soup");
  await post(server.owner, linkTo(file));
  await complete(server);
  await server.program.end("SIGKILL");
  const uploads = join(server.archive, "files/1/uploads");
  const [name = ""] = readdirSync(uploads);
  rmSync(join(uploads, name));
  const target = join(temporaryFolder(t), "restored");
  const { code, stdout, stderr } = await restoreTo(t, server.archive, target, "latest");
  const said = [
    `restored to ${target} as it was at \\S+Z`,
    "organization \\(first\\) \\(Colloquy\\): 2 users, 1 messages, 0 files, up to \\S+Z",
    "together 1 organizations: 2 users, 1 messages, 0 files, up to \\S+Z",
    `realm 1: attachment \\d+: the file uploads/${name} is missing`,
  ];
  t.match(stdout, new RegExp(`^${said.map((line) => `${line}\n`).join("")}$`));
  t.strictSame([code, stderr], [1, `colloquy: 1 problems in ${target}\n`]);
});
