/**
 * erase-realm (docs/operations.md): a deactivated organization is removed for ever, and neither the journal nor a later
 * organization meets its number again.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { journalFolder } from "../../src/durability/journal/apply-journal.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { call, type Result, type Run, served, stopped } from "../support/operations.ts";
import { runCli, startProgram } from "../support/process.ts";
import { connect, until } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";

const sales = { realm: "sales", confirm: "sales" };

/** An organization of its own, with a message and a file. @returns its owner */
async function makeSales(run: Run, { dataDir, url }: { readonly dataDir: string; readonly url: string }) {
  await run("create-realms", { realms: [{ label: "sales", email: "eve@example.com" }] });
  const account = { ...readZuliprc(join(dataDir, "zuliprc.sales")), userId: 2 };
  const eve = new HostClient(new Client(url, account), "sales.example.org");
  await eve.say("general", "plans", "a secret");
  return eve;
}

async function labels(run: Run): Promise<unknown[]> {
  return ((await run("list-realms")) as { realms: Result[] }).realms.map(({ label }) => label);
}

function recordedRealms(dataDir: string): Set<number> {
  return new Set([...recoverJournal(journalFolder(dataDir), null).records()].map(({ realmId }) => realmId));
}

t.test("a running server erases it with all its files, for ever", async (t) => {
  const server = await startTestServer(t);
  const { dataDir } = server;
  const run = served(server);
  const eve = await makeSales(run, server);
  const files = join(dataDir, "realms", "2", "files", "deep");
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, "upload"), "a secret file");
  const outbox = join(dataDir, "outbox");
  mkdirSync(outbox, { recursive: true });
  for (const name of ["2-1.eml", ".2-2.eml.draft", "22-1.eml", "1-2.eml"]) writeFileSync(join(outbox, name), "");

  await t.rejects(run("erase-realm", sales), /sales is active: run deactivate-realm sales first/);
  t.equal((await eve.get("/users/me")).status, 200, "nothing has changed");
  await run("deactivate-realm", { realm: "sales" });
  await t.rejects(run("erase-realm", { ...sales, confirm: "sale" }), /confirm it with its label: sales/);
  await t.rejects(run("erase-realm", { realm: "sales" }), /usage/);
  await t.rejects(run("erase-realm", { realm: "nowhere", confirm: "nowhere" }), /there is no realm "nowhere"/);
  t.match(await eve.get("/users/me"), { status: 401, body: { code: "REALM_DEACTIVATED" } }, "it is still there");

  t.strictSame(await run("erase-realm", sales), { realm_id: 2 });
  t.strictSame(await labels(run), [""]);
  t.strictSame(readdirSync(join(dataDir, "realms")), ["1", "2.erased"]);
  t.strictSame(readdirSync(join(dataDir, "realms", "2.erased")), []);
  t.notOk(existsSync(join(dataDir, "zuliprc.sales")));
  t.strictSame(readdirSync(outbox), ["1-2.eml", "22-1.eml"]);
  t.match(
    await eve.get("/users/me"),
    { status: 401, body: { code: "INVALID_API_KEY" } },
    "its host reaches the first one",
  );

  const again = await makeSales(run, server);
  t.strictSame(readdirSync(join(dataDir, "realms")), ["1", "2.erased", "3"], "its number is not used again");
  t.equal((await again.get("/users/me")).body.email, "eve@example.com");
  await server.stop();
  const next = await startTestServer(t, { dataDir });
  t.strictSame(await labels(served(next)), ["", "sales"]);
});

t.test("the first organization cannot be erased", async (t) => {
  const server = await startTestServer(t);
  const run = served(server);
  await makeSales(run, server);
  await run("deactivate-realm");
  await t.rejects(run("erase-realm", { realm: "", confirm: "" }), /usage/);
  t.strictSame(await labels(run), ["", "sales"]);
});

t.test("sockets of others go on, and one that uses the organization is waited for", async (t) => {
  const stage = await startClockedServer(t);
  const { server, clock } = stage;
  const run = served(server);
  const eve = await makeSales(run, server);
  const socket = await connect(server.owner);
  await run("deactivate-realm", { realm: "sales" });
  const user = server.running.host.realmOf("sales.example.org");
  user.use.begin();
  const ask = async () => {
    let answer: Awaited<ReturnType<typeof call>> | null = null;
    void call(server.dataDir, "erase-realm", sales).then((made) => {
      answer = made;
    });
    await until(() => {
      clock.advance(limits.realm_withdrawal_ms_max / 10);
      return answer !== null;
    });
    return answer;
  };
  t.match(
    await ask(),
    { status: 503, error: { kind: "busy", message: /a request or a delivery uses it/ } },
    "[S3] realm_withdrawal_ms_max",
  );
  t.match(await eve.get("/users/me"), { status: 401, body: { code: "REALM_DEACTIVATED" } }, "it is served as before");
  user.use.end();
  t.match(await ask(), { status: 200, result: { realm_id: 2 } });
  await server.owner.say("general", "plans", "hello");
  t.ok(socket, "the first organization's socket is open");
  socket.close();
});

t.test("none is erased while its data is copied", async (t) => {
  const server = await startTestServer(t);
  const run = served(server);
  await makeSales(run, server);
  await run("deactivate-realm", { realm: "sales" });
  for (const folder of ["journal", "realms/2"]) {
    const hold = join(server.dataDir, folder, "files.hold.0011223344556677");
    writeFileSync(hold, "");
    t.match(await call(server.dataDir, "erase-realm", sales), { status: 503, error: { kind: "busy" } }, folder);
    rmSync(hold);
  }
  t.strictSame(await run("erase-realm", sales), { realm_id: 2 });
});

/** A data folder whose journal has records of an organization, as a kill leaves it. */
async function killed(t: Test) {
  const dataDir = temporaryFolder(t);
  const { program, url } = await startProgram(t, dataDir);
  const run = served({ dataDir });
  await makeSales(run, { dataDir, url });
  await run("deactivate-realm", { realm: "sales" });
  return { dataDir, program, run };
}

t.test("[M1] a start after a kill skips the records of an erased organization, and backups lack it", async (t) => {
  const { dataDir, program, run } = await killed(t);
  await run("erase-realm", sales);
  await program.end("SIGKILL");
  t.ok(recordedRealms(dataDir).has(2), "the journal has its records");
  const backup = join(temporaryFolder(t), "backup");
  const made = await runCli(t, dataDir, "backup", backup);
  t.equal(made.code, 0, made.stderr);
  t.strictSame(readdirSync(join(backup, "realms")), ["1"]);
  t.notOk(readdirSync(backup).includes("zuliprc.sales"));
  const next = await startTestServer(t, { dataDir });
  t.strictSame(await labels(served(next)), [""]);
  t.equal((await next.owner.get("/users/me")).status, 200);
});

t.test("[M1] a stopped folder is erased from while the journal has records, and starts", async (t) => {
  const { dataDir, program } = await killed(t);
  await program.end("SIGKILL");
  const run = stopped(dataDir);
  t.strictSame(await run("erase-realm", sales), { realm_id: 2 });
  t.ok(recordedRealms(dataDir).has(2), "the journal has its records");
  const next = await startTestServer(t, { dataDir });
  await makeSales(served(next), next);
  t.strictSame(readdirSync(join(dataDir, "realms")), ["1", "2.erased", "3"]);
});

t.test("a lost root is rebuilt without what was erased", async (t) => {
  const server = await startTestServer(t);
  const run = served(server);
  await makeSales(run, server);
  await run("deactivate-realm", { realm: "sales" });
  await run("erase-realm", sales);
  await server.stop();
  rmSync(join(server.dataDir, "root", "data.mdb"));
  const next = await startTestServer(t, { dataDir: server.dataDir });
  t.strictSame(await labels(served(next)), [""]);
  await makeSales(served(next), next);
  t.strictSame(readdirSync(join(server.dataDir, "realms")), ["1", "2.erased", "3"]);
});
