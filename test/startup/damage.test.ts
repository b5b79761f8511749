/**
 * A store that is damaged while the server uses it: requests that read the damage get an error, nothing false is served
 * or written, and all other requests work.
 */
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { uploadName } from "../../schemas/files.ts";
import type { TableName } from "../../schemas/records.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { uploaded } from "../support/attachments.ts";
import { bugLog } from "../support/bug-log.ts";
import { HostClient } from "../support/http.ts";
import { runCli, startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

/** Flips one bit of a stored row. */
async function damageRow(dataDir: string, table: TableName, key: number): Promise<void> {
  const path = join(dataDir, "realms", "1");
  const root = open<Buffer, number>({ path, overlappingSync: false, maxDbs: 128, encoding: "binary" });
  const rows = root.openDB<Buffer, number>({ name: table, encoding: "binary" });
  const bytes = Buffer.from(rows.get(key) as Buffer);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] as number) ^ 1;
  rows.putSync(key, bytes);
  await root.close();
}

/** The folder of a stopped server with two messages and an uploaded file. */
async function filled(t: Test): Promise<{ readonly dataDir: string; readonly file: string }> {
  const server = await startTestServer(t);
  for (const content of ["soup", "bread"]) {
    const params = { type: "channel", to: "general", topic: "lunch", content };
    t.equal((await server.owner.post("/messages", params)).status, 200);
  }
  const { url } = await uploaded(server.owner, "the menu");
  await server.stop();
  const [, , , two = "", rest = ""] = url.split("/");
  return { dataDir: server.dataDir, file: two + rest };
}

const internalError = { result: "error", code: "INTERNAL_SERVER_ERROR" };

t.test("[M6] a request that reads a damaged row gets 500, logged once, and changes nothing", async (t) => {
  const { dataDir } = await filled(t);
  await damageRow(dataDir, "messages", 1);
  const { log, lines } = bugLog();
  const { owner } = await startTestServer(t, { dataDir, log });
  const { body: queue } = await owner.post("/register", {
    event_types: ["message", "update_message", "delete_message"],
  });

  for (let time = 0; time < 2; time++) {
    const read = await owner.get("/messages/1");
    t.match([read.status, read.body], [500, internalError]);
  }
  t.match((await owner.get("/messages", { anchor: "oldest", num_before: 0, num_after: 5 })).body, internalError);
  t.match((await owner.patch("/messages/1", { content: "salad" })).body, internalError);
  t.match((await owner.delete("/messages/1")).body, internalError);
  t.match((await owner.get("/messages/2")).body, { message: { content: "<p>bread</p>" } });
  t.equal((await owner.patch("/messages/2", { content: "rolls" })).status, 200);

  const { body } = await owner.get("/events", { queue_id: queue.queue_id, last_event_id: -1, dont_block: true });
  t.match(body.events, [{ type: "update_message", message_id: 2 }]);
  t.equal(body.events.length, 1, "the rejected request has written nothing");
  t.equal(lines.length, 1, lines.join(""));
  t.match(
    JSON.parse(lines[0] ?? "").msg,
    /realms\/1\/data\.mdb is damaged: the row 1 of table messages has a wrong checksum/,
  );
});

t.test("a damaged row needed by a start ends it with one line, and check names the row", async (t) => {
  const { dataDir } = await filled(t);
  await damageRow(dataDir, "users", 2);
  const message = /data\.mdb is damaged: the row 2 of table users has a wrong checksum\. Stop the server, run/;
  await t.rejects(startProgram(t, dataDir), new RegExp(`: colloquy: \\S+${message.source}[^\\n]+\\n$`));
  const { code, stdout, stderr } = await runCli(t, dataDir, "check");
  t.equal(code, 1);
  t.match(stdout, message);
  t.equal(stderr, "colloquy: 1 problems\n");
});

t.test("a damaged organization answers 500, logged once, and does not affect the others", async (t) => {
  const { dataDir } = await filled(t);
  t.equal((await runCli(t, dataDir, "create-realm", "sales", "--email", "eve@example.com")).code, 0);
  truncateSync(join(dataDir, "realms", "2", "data.mdb"), 5 * 4096 + 100);
  const { log, lines } = bugLog();
  const { owner } = await startTestServer(t, { dataDir, log });
  const sales = new HostClient(owner, "sales.example.org").anonymous();
  for (let time = 0; time < 2; time++) {
    const { status, body } = await sales.get("/server_settings");
    t.match([status, body], [500, internalError]);
    t.equal((await owner.get("/users/me")).status, 200);
  }
  t.equal(lines.length, 1, lines.join(""));
  t.match(JSON.parse(lines[0] ?? "").msg, /realms\/2\/data\.mdb is damaged: .*the file was cut off/);
});

t.test("check finds an uploaded file whose content changed, and a backup reports it", async (t) => {
  const { dataDir, file } = await filled(t);
  const path = join(dataDir, "realms", "1", "files", uploadName(file));
  t.equal(readFileSync(path, "utf8"), "the menu");
  t.equal((await runCli(t, dataDir, "check")).stdout, "no problems\n");
  for (const content of ["the menv", "the men"]) {
    writeFileSync(path, content);
    const { code, stdout } = await runCli(t, dataDir, "check");
    t.strictSame([code, stdout], [1, `realm 1: attachment 1: the file ${uploadName(file)} is damaged\n`]);
  }
  const copy = join(temporaryFolder(t), "copy");
  const made = await runCli(t, dataDir, "backup", copy);
  t.equal(made.code, 1);
  t.match(made.stderr, /^colloquy: 1 problems in \S+: keep an older backup\n$/);

  const lmdb = openLmdb(join(dataDir, "realms", "1"));
  const row = lmdb.get("attachments", 1);
  lmdb.transaction(() => {
    if (row !== undefined) lmdb.put("attachments", 1, { ...row, sha256: null });
  });
  await lmdb.close();
  t.equal((await runCli(t, dataDir, "check")).code, 1, "for an older upload only the size is known");
  writeFileSync(path, "the menu");
  t.equal((await runCli(t, dataDir, "check")).stdout, "no problems\n");
});
