/**
 * Administrative operations (docs/operations.md): the same table, done by a running server through its admin listener,
 * and on a stopped data folder.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { adminOperations } from "../../src/operate/admin/operations.ts";
import { askAdmin, untilReadiness } from "../support/admin.ts";
import { Client } from "../support/client.ts";
import { MailServer, smtpError } from "../support/mail.ts";
import { call, type Result, type Run, served, stopped, typed } from "../support/operations.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/realtime.ts";
import { commands } from "../support/runtime.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { holdGate } from "../support/shut-gate.ts";

/** Every operation once, in an organization that has a dead letter; what they answered, without ids and random values. */
async function everything(t: Test, run: Run, dataDir: string): Promise<void> {
  const email = "ann@example.com";
  const made = await run("create-user", { email, full_name: "Ann", role: "guest" });
  t.match(made, { user_id: Number, password: /^[\w-]{16}$/ });
  const long = `@${`${"x".repeat(49)}.`.repeat(5)}z`.padStart(limits.email_code_points_max + 1, "ann");
  await t.rejects(run("create-user", { email: long, full_name: "Ann" }), /not a valid email address/);
  t.strictSame(await run("set-role", { email, role: "moderator" }), {});
  const find = async () => ((await run("list-users", { deactivated: true })) as { users: Result[] }).users.at(-1);
  t.match(await find(), { email, fullName: "Ann", role: "moderator", isActive: true, isBot: false });
  t.strictSame(await run("set-password", { email, password: "a long password" }), {}, "[S2] it is not repeated");
  t.match(await run("set-password", { email }), { password: /^[\w-]{16}$/ });
  const { link } = (await run("reset-link", { email: "ANN@example.com" })) as { link: string };
  t.match(link, /^http:\/\/127\.0\.0\.1:\d+\/accounts\/password\/reset\/\w{32}$/);
  await t.rejects(run("reset-link", { email: "nobody@example.com" }), /there is no account nobody/);
  t.match(await run("new-key", { email: "ANN@example.com" }), { email, key: /^\w{32}$/ });
  t.strictSame(await run("deactivate-user", { email }), {});
  t.match(await find(), { isActive: false });
  await t.rejects(run("deactivate-user", { email }), /User is deactivated/);
  await t.rejects(run("reset-link", { email }), /no active account/);
  t.strictSame(await run("reactivate-user", { email }), {});
  await t.rejects(run("set-role", { email: "owner@localhost", role: "member" }), /only organization owner/);
  await t.rejects(run("set-role", { email: "nobody@example.com", role: "member" }), /there is no account nobody/);
  await t.rejects(run("set-role", { email, role: "king" }), /role/);
  t.strictSame(await run("grant-can-change-user-emails", { email: "owner@localhost", is_granted: true }), {});
  t.strictSame(await run("rebuild-search"), {});
  t.strictSame(await run("confirm-retention"), { was_held: false });
  t.match(await run("time"), { realms: [{ label: "", heldRetention: null }] });

  const wanted = [
    { label: "one", email: "eve@example.com", name: "One", hosts: ["One.Example.org:80"] },
    { label: "two", email: "eve@example.com" },
  ];
  t.match(await run("create-realms", { realms: wanted }), {
    created: [{ label: "one" }, { label: "two" }],
    skipped: 0,
  });
  t.equal(statSync(join(dataDir, "zuliprc.two")).mode & 0o777, 0o600);
  await t.rejects(
    run("create-realms", { realms: [{ label: "three", email: "e@x.org" }, ...wanted] }),
    /already exists/,
  );
  t.match(await run("create-realms", { realms: wanted, skip_existing: true }), { created: [], skipped: 2 });
  t.strictSame(await run("deactivate-realm", { realm: "two" }), {});
  t.strictSame(await run("deactivate-realm", { realm: "two" }), {}, "twice is once");
  const { realms } = (await run("list-realms")) as { realms: Result[] };
  t.match(realms.slice(1), [
    { label: "one", name: "One", hosts: ["one.example.org"], isActive: true, users: 2 },
    { label: "two", name: "two", hosts: [], isActive: false },
  ]);
  t.equal(realms.length, 3, "nothing of the rejected list was created");
  t.strictSame(await run("reactivate-realm", { realm: "two" }), {});
  await t.rejects(run("erase-realm", { realm: "two", confirm: "two" }), /two is active/);
  t.strictSame(await run("deactivate-realm", { realm: "two" }), {});
  t.strictSame(await run("erase-realm", { realm: "two", confirm: "two" }), { realm_id: 3 });
  await t.rejects(run("erase-realm", { realm: "two", confirm: "two" }), /there is no realm "two"/);
  await t.rejects(run("list-users", { realm: "nowhere" }), /there is no realm "nowhere"/);

  const { letters } = (await run("dead-letters-list")) as { letters: { id: number }[] };
  t.match(letters, [{ kind: "command", attempts: 3, reason: /Error/ }]);
  const id = letters[0]?.id ?? 0;
  t.match(await run("dead-letters-show", { id }), { letter: { id, what: "realm.create for realm" } });
  t.strictSame(await run("dead-letters-drop", { ids: [id, id + 1000] }), {
    letters: [
      { id, problem: null },
      { id: id + 1000, problem: "there is no such dead letter" },
    ],
  });
  t.strictSame(await run("dead-letters-list"), { letters: [] });
  t.match(await run("status"), { accepts_writes: true, realms: 2 });
}

t.test("every operation works while the server runs", async (t) => {
  const server = await startTestServer(t);
  server.realm.dispatcher.send(commands.throwing());
  await until(() => server.realm.lmdb.count("deadLetters") === 1);
  await everything(t, served(server), server.dataDir);
  t.match(await served(server)("status"), { is_running: true, server: { pid: process.pid, address: server.url } });
});

t.test("every operation works while the server is stopped", async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  server.realm.dispatcher.send(commands.throwing());
  await until(() => server.realm.lmdb.count("deadLetters") === 1);
  await server.stop();
  await everything(t, stopped(dataDir), dataDir);
  t.match(await stopped(dataDir)("status"), { is_running: false, server: null });
  const again = await startTestServer(t, { dataDir });
  const { email, key } = readZuliprc(join(dataDir, "zuliprc.one"));
  const eve = new Client(again.url, { email, key, userId: 2 });
  t.equal((await eve.get("/users/me")).status, 401, "the first organization does not know her");
  t.match((await again.owner.get("/users")).body.members.at(-1), { email: "ann@example.com", role: 300 });
});

t.test("[M1, M9] an operation is answered, or refused, when its turn is on disk and not before", async (t) => {
  const server = await startTestServer(t);
  const run = served(server);
  const ann = await server.person("ann");
  const realm = server.realm;
  const openGate = holdGate(server);
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const changing = run("set-role", { email: "ann@example.com", role: "administrator" }).finally(note("changed"));
  const refusing = run("set-role", { email: "nobody@example.com", role: "member" }).catch(note("refused"));
  await until(() => realm.lmdb.get("users", ann.userId)?.role === 200);
  // Whatever is answered at once has been answered before this, which shows nothing of an organization.
  await untilReadiness(server.dataDir, 200);
  t.strictSame(ended, []);
  openGate();
  await Promise.all([changing, refusing]);
  t.strictSame(ended.toSorted(), ["changed", "refused"]);
});

t.test("[M1, M7] what an operation changed is true for the next request", async (t) => {
  const server = await startTestServer(t);
  const run = served(server);
  const ann = await server.person("ann");
  const queue = await server.owner.register({ event_types: ["realm_user"], fetch_event_types: [] });
  await run("set-role", { email: "ann@example.com", role: "administrator" });
  t.equal((await ann.get("/users/me")).body.role, 200);
  const read = { queue_id: queue.queue_id, last_event_id: queue.last_event_id, dont_block: true };
  const { body } = await server.owner.get("/events", read);
  t.match(body.events, [{ type: "realm_user", op: "update", person: { user_id: ann.userId, role: 200 } }]);
  const { key } = (await run("new-key", { email: "ann@example.com" })) as { key: string };
  t.equal((await ann.get("/users/me")).status, 401, "earlier keys are revoked");
  const again = new Client(server.url, { email: "ann@example.com", key, userId: ann.userId });
  t.equal((await again.get("/users/me")).status, 200);
  await run("deactivate-user", { email: "ann@example.com" });
  t.match(await again.get("/users/me"), { status: 401, body: { code: "USER_DEACTIVATED" } });
  await run("deactivate-realm");
  t.match(await server.owner.get("/users/me"), { status: 401, body: { code: "REALM_DEACTIVATED" } });
  await run("reactivate-realm");
  t.equal((await server.owner.get("/users/me")).status, 200);
});

t.test("over TCP, operations need the key of the data folder, and no browser has it", async (t) => {
  const port = await freePort();
  const server = await startTestServer(t, { environment: { ADMIN_LISTEN: `127.0.0.1:${port}` } });
  const file = join(server.dataDir, "admin.key");
  t.equal(statSync(file).mode & 0o777, 0o600);
  const good = { Authorization: `Bearer ${readFileSync(file, "utf8").trim()}` };
  t.match(await call(port, "status", {}, good), { status: 200, result: { is_running: true } });
  for (const headers of [
    {},
    { Authorization: "Bearer x" },
    { ...good, Origin: `http://127.0.0.1:${port}` },
    { ...good, Origin: "null" },
    { ...good, "Sec-Fetch-Site": "same-origin" },
    { ...good, "Sec-Fetch-Site": "cross-site" },
    { ...good, Host: `rebound.example.org:${port}` },
    { ...good, Host: "127.0.0.1.example.org" },
  ]) {
    t.match(
      await call(port, "status", {}, headers),
      { status: 403, error: { kind: "forbidden" } },
      JSON.stringify(headers),
    );
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    t.match(await call(port, "status", {}, { ...good, "Content-Type": type }), { status: 400 }, type);
  }
  t.match(await call(port, "status", {}, { ...good, Host: `localhost:${port}` }), { status: 200 });
  t.equal(
    (await fetch(`${server.url}/admin/status`, { method: "POST", body: "{}" })).status,
    404,
    "never on the public port",
  );
});

t.test("bad input is refused with a reason, and changes nothing", async (t) => {
  const server = await startTestServer(t);
  const { dataDir } = server;
  const post = async (path: string, body: string, headers: Record<string, string> = typed) => {
    const { status, body: text } = await askAdmin(dataDir, path, { method: "POST", headers, body });
    return { status, ...(JSON.parse(text) as object) };
  };
  const usage = { status: 400, error: { kind: "usage", message: String } };
  for (const body of ["", "{", "[]", "null", '"x"', "{}", '{"email":1}', '{"email":"a@b.c","full_name":"A","x":1}']) {
    t.match(await post("/admin/create-user", body), usage, body);
  }
  const short = await post("/admin/set-password", '{"email":"owner@localhost","password":"secret"}');
  t.match(short, usage);
  t.notMatch(JSON.stringify(short), "secret", "[S2] the value is not repeated");
  t.match(await post("/admin/no-such-thing", "{}"), { status: 404 });
  t.match(await askAdmin(dataDir, "/admin/status"), { status: 405 });
  t.match(await post("/admin/status", "{}", { ...typed, "Colloquy-Version": "0.0.0" }), {
    status: 500,
    error: { kind: "unusable", message: /the server runs Colloquy \S+ and this command line is of 0\.0\.0/ },
  });
  const described = JSON.parse((await askAdmin(dataDir, "/admin")).body) as { operations: { name: string }[] };
  const names = described.operations.map(({ name }) => name);
  t.strictSame(
    names,
    adminOperations.map(({ name }) => name),
  );
  t.equal((await server.owner.get("/users")).body.members.length, 2);
});

t.test("[S3] admin_body_bytes_max: one byte more is refused", async (t) => {
  const { dataDir } = await startTestServer(t);
  const body = (bytes: number) => `${" ".repeat(bytes - 2)}{}`;
  const send = (bytes: number) =>
    askAdmin(dataDir, "/admin/status", { method: "POST", headers: typed, body: body(bytes) });
  t.match(await send(limits.admin_body_bytes_max), { status: 200 });
  t.match(await send(limits.admin_body_bytes_max + 1), { status: 400, body: /larger than/ });
});

t.test("[S3] admin_operations_concurrent_max: one operation more is told to try again", async (t) => {
  const server = await startTestServer(t);
  const count = limits.admin_operations_concurrent_max + 1;
  const email = "owner@localhost";
  // None is answered before all have arrived.
  const openGate = holdGate(server);
  const asking = Array.from({ length: count }, () => call(server.dataDir, "set-password", { email }));
  await Promise.race(asking);
  openGate();
  const answers = await Promise.all(asking);
  const busy = answers.filter(({ status }) => status === 503);
  t.equal(busy.length, 1);
  t.match(busy[0]?.error, { kind: "busy", message: /try again/ });
});

t.test("[M5] changes are refused while the disk is nearly full, and reads go on", async (t) => {
  const server = await startTestServer(t, { environment: { STORE_BYTES_MAX: "1" } });
  await untilReadiness(server.dataDir, 503);
  const change = await call(server.dataDir, "deactivate-user", { email: "owner@localhost" });
  t.match(change, { status: 503, error: { kind: "busy" } });
  t.match(await call(server.dataDir, "list-users"), { status: 200 });
});

t.test("send-test-mail says what the mail server answered, and where the email went", async (t) => {
  const far = await MailServer.start(t);
  far.answers.push(smtpError(554));
  const server = await startTestServer(t, { environment: { SMTP_URL: far.url } });
  const send = (to: string) => call(server.dataDir, "send-test-mail", { to });
  t.match(await send("ann@example.com"), { status: 409, error: { kind: "refused", message: /not accepted.*554/ } });
  t.match(await send("ann@example.com"), { status: 200, result: { taken_by: /^127\.0\.0\.1:\d+$|^localhost:\d+$/ } });
  await until(() => far.received.length === 1);
  t.match(await send("nobody"), { status: 400 });
  await server.stop();
  const outbox = await stopped(server.dataDir)("send-test-mail", { to: "ann@example.com" });
  t.match(readFileSync(String(outbox["taken_by"]), "utf8"), /^To: ann@example\.com\r$/m);
});
