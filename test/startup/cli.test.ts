/**
 * The command line while the server runs (D4, E1): organizations and their hosts, accounts, backup, restore and check.
 * Each command is a real process; the server runs in this process, with a clock that the test controls.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { searchFormat } from "../../src/store/search-index.ts";
import { Client, expects, outcome, refusal, success } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { type Exited, runCli } from "../support/process.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { readZuliprc, startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

/** The exit codes of docs/operations.md. */
const exits = { refused: 1, usage: 64, input: 66, output: 73, busy: 75 } as const;

/** Checks for a rejection: nothing on stdout, one line with the reason on stderr, and the exit code of its kind. */
function isRefused(t: Test, { code, stdout, stderr }: Exited, why: RegExp, expected: number = exits.refused): void {
  t.strictSame({ code, stdout }, { code: expected, stdout: "" });
  t.match(stderr, /^colloquy: [^\n]+\n$/);
  t.match(stderr, why);
}

/** The owner of a realm that `create-realm` created. */
function ownerOf(url: string, dataDir: string, label: string): Client {
  const { email, key } = readZuliprc(join(dataDir, `zuliprc.${label}`));
  return new Client(url, { email, key, userId: 2 });
}

async function logIn(client: Client, username: string, password: string): Promise<Client> {
  const { body } = await client.anonymous().post("/fetch_api_key", { username, password });
  return new Client(client.url, { email: username, key: body.api_key, userId: body.user_id });
}

t.test(
  "[D4] create-realm works while the server runs: requests find a realm by exact host, then first label, else the first realm",
  async (t) => {
    const { server } = await startClockedServer(t);
    const { owner, dataDir, url } = server;
    const realmAt = async (host: string) => {
      const { body } = await new HostClient(owner, host).anonymous().get("/server_settings");
      return [body.realm_name, body.realm_url];
    };
    t.strictSame(await realmAt("sales.example.org"), ["Colloquy", "http://sales.example.org"], "nobody's yet");
    const made = await runCli(
      t,
      dataDir,
      ...[
        "create-realm",
        "sales",
        "--email",
        "eve@example.com",
        "--name",
        "Sales & Co",
        "--site",
        "https://s.example.org",
      ],
      ...["--host", "Shop.Example.COM:8443", "intranet"],
    );
    t.strictSame([made.code, made.stderr], [0, ""]);
    const file = join(dataDir, "zuliprc.sales");
    t.match(made.stdout, file);
    const { key } = readZuliprc(file);
    t.equal(readFileSync(file, "utf8"), `[api]\nemail=eve@example.com\nkey=${key}\nsite=https://s.example.org\n`);
    t.equal(statSync(file).mode & 0o777, 0o600);

    // The very first request: no time has passed since the realm was created.
    for (const host of [
      "sales.example.org",
      "SALES.localhost:9991",
      "sales.a.b.c",
      "shop.example.com",
      "intranet:80",
    ]) {
      t.strictSame(await realmAt(host), ["Sales & Co", `http://${host}`], host);
    }
    const others = ["127.0.0.1:9991", "localhost", "chat.example.org", "sale.example.org", "sales", "www.sales.org"];
    for (const host of [...others, "10.0.0.1", "[::1]:9991", "shop.example.com.evil.org", "-"]) {
      t.strictSame(await realmAt(host), ["Colloquy", `http://${host}`], host);
    }
    const eve = new HostClient(ownerOf(url, dataDir, "sales"), "sales.example.org");
    t.match((await eve.get("/users/me")).body, { email: "eve@example.com", role: 100 });
    t.equal((await owner.get("/users/me")).status, 200, "the first realm continues");

    const create = (...args: string[]) => runCli(t, dataDir, "create-realm", ...args);
    const email = ["--email", "eve@example.com"];
    const shadowed = "sales.third.example.org";
    t.strictSame(await realmAt(shadowed), ["Sales & Co", `http://${shadowed}`], "by its first label");
    t.equal((await create("third", ...email, "--host", shadowed)).code, 0);
    t.strictSame(await realmAt(shadowed), ["third", `http://${shadowed}`], "an exact host takes precedence at once");
    const [label, address, twice, taken] = await Promise.all([
      create("Upper Case", ...email),
      create("two", "--email", "eve"),
      create("sales", ...email),
      create("two", ...email, "--host", "INTRANET"),
    ]);
    isRefused(t, label, /label/, exits.usage);
    isRefused(t, address, /email/, exits.usage);
    isRefused(t, twice, /already exists|is creating another/);
    isRefused(t, taken, /already exists|is creating another/);
    t.equal(readZuliprc(file).key, key, "the owner's key is untouched");
    t.strictSame(readdirSync(join(dataDir, "realms")).sort(), ["1", "2", "3"]);
  },
);

t.test("[S1] two concurrent create-realm commands never share a realm", async (t) => {
  const { server } = await startClockedServer(t);
  const { dataDir, url } = server;
  const labels = ["left", "right"];
  const made = await Promise.all(
    labels.map((label) => runCli(t, dataDir, "create-realm", label, "--email", "eve@example.com")),
  );
  t.ok(made.some(({ code }) => code === 0));
  for (const [index, label] of labels.entries()) {
    const { code, stderr } = made[index] as Exited;
    if (code !== 0) {
      t.match(stderr, /try again/);
      continue;
    }
    const eve = new HostClient(ownerOf(url, dataDir, label), `${label}.example.org`);
    t.equal((await eve.get("/server_settings")).body.realm_name, label);
    t.equal((await eve.get("/users/me")).status, 200, "its owner can log in");
  }
});

t.test("[D7] grant-can-change-user-emails lets an owner change addresses, and revokes that", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const target = await before.user("target");
  const address = before.owner.account?.email ?? "";
  const grant = (...args: string[]) => runCli(t, dataDir, "grant-can-change-user-emails", ...args);
  await before.stop();
  isRefused(t, await grant("nobody@example.com"), /No such user/);
  isRefused(t, await grant("notification-bot@colloquy.invalid"), /No such user/);
  const granted = await grant(address.toUpperCase());
  t.strictSame([granted.code, granted.stderr], [0, ""]);
  const change = async (server: TestServer, new_email: string) =>
    outcome(await server.owner.patch(`/users/${target.userId}`, { new_email }));
  const permitted = await startTestServer(t, { dataDir });
  t.strictSame(await change(permitted, "changed@example.com"), success());
  await permitted.stop();
  t.equal((await grant(address, "--revoke")).code, 0);
  const without = await startTestServer(t, { dataDir });
  t.strictSame(await change(without, "again@example.com"), refusal("User not authorized to change user emails"));
});

t.test("[spec 4] create-user creates an account of any role while the server is stopped", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  await before.stop();
  const create = (...args: string[]) => runCli(t, dataDir, "create-user", ...args);
  const ann = await create("ann@example.com", "Ann");
  t.equal(ann.code, 0);
  const bob = await create("bob@example.com", "Bob", "--role", "guest");
  const [role, taken, realm] = [
    await create("x@example.com", "X", "--role", "king"),
    await create("ANN@example.com", "Ann"),
    await create("x@example.com", "X", "--realm", "nowhere"),
  ];
  isRefused(t, role, /--role/, exits.usage);
  isRefused(t, taken, /Email is already in use\./);
  isRefused(t, realm, /nowhere/);
  const { owner } = await startTestServer(t, { dataDir });
  for (const [email, { stdout }, expected, channels] of [
    ["ann@example.com", ann, 400, ["general"]],
    ["bob@example.com", bob, 600, []],
  ] as const) {
    const person = await logIn(owner, email, /password: (\S+)/.exec(stdout)?.[1] ?? "");
    t.match(stdout, new RegExp(`^user ${person.userId} was created`));
    t.equal((await person.get("/users/me")).body.role, expected);
    const { body } = await person.get("/users/me/subscriptions");
    const found = body.subscriptions.map((own: { name: string }) => own.name);
    t.strictSame(found, channels, "[spec 2.4] default channels");
  }
  const { body } = await owner.get("/users");
  t.equal(body.members.length, 4, "the rejected commands left nothing");
});

t.test("[E1] a backup of a running server, restored elsewhere, has all and invalidates earlier queues", async (t) => {
  const { owner, dataDir } = await startTestServer(t);
  t.equal((await runCli(t, dataDir, "create-realm", "sales", "--email", "eve@example.com")).code, 0);
  const id = await owner.say("general", "archive", "before the backup");
  const queue = await owner.register({ event_types: ["message"], fetch_event_types: [] });
  const read = (client: Client) =>
    client.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id, dont_block: true });

  const backup = join(temporaryFolder(t), "backup");
  const saved = await runCli(t, dataDir, "backup", backup);
  t.strictSame([saved.code, saved.stderr], [0, ""]);
  isRefused(t, await runCli(t, dataDir, "backup", backup), /exists already/, exits.output);
  const later = await owner.say("general", "archive", "after the backup");
  t.match((await read(owner)).body.events, [{ type: "message" }], "the server was unaffected");

  const copy = join(temporaryFolder(t), "copy");
  const restored = await runCli(t, copy, "restore", backup);
  t.strictSame([restored.code, restored.stderr], [0, ""], "although the original still runs");
  isRefused(t, await runCli(t, copy, "restore", backup), /not empty/);
  for (const name of ["zuliprc", "zuliprc.sales"]) {
    t.equal(statSync(join(backup, name)).mode & 0o777, 0o600);
    t.equal(statSync(join(copy, name)).mode & 0o777, 0o600);
  }
  t.equal(statSync(copy).mode & 0o077, 0, "only the owner may read it");

  const second = await startTestServer(t, { dataDir: copy });
  t.equal(second.owner.account?.key, owner.account?.key);
  t.equal((await second.owner.get(`/messages/${id}`)).body.raw_content, "before the backup");
  await expects(t, second.owner.get(`/messages/${later}`), "Invalid message(s)");
  const gone = refusal(`Bad event queue ID: ${queue.queue_id}`, "BAD_EVENT_QUEUE_ID", 400, {
    queue_id: queue.queue_id,
  });
  await expects(t, read(second.owner), gone, "never an endless wait");
  const epochOf = (queueId: string) => queueId.split("-")[0];
  const { queue_id: newer } = await second.owner.register({ fetch_event_types: [] });
  t.not(epochOf(newer), epochOf(queue.queue_id), "a new epoch");
  const eve = new HostClient(ownerOf(second.url, copy, "sales"), "sales.example.org");
  t.equal((await eve.get("/users/me")).status, 200, "it contains every realm");
  t.ok((await second.owner.say("general", "archive", "a new life")) > id);
});

t.test("[D206] restore rejects a folder that is not a backup, and leaves nothing behind", async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, "data");
  const notOurs = join(folder, "not-ours");
  mkdirSync(notOurs);
  writeFileSync(join(notOurs, "notes.txt"), "hello");
  for (const source of [notOurs, join(folder, "nothing")]) {
    const { code, stdout } = await runCli(t, target, "restore", source);
    t.strictSame({ code, stdout }, { code: 1, stdout: "" }, source);
    t.strictSame(readdirSync(folder), ["not-ours"]);
  }
});

t.test("[M2] check reads everything, and finds an index that lost an entry", async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startTestServer(t, { dataDir });
  const id = await server.owner.say("general", "checked", "hello");
  await server.user("somebody");
  await server.owner.post("/messages", { type: "direct", to: [2], content: "to myself" });
  await server.stop();
  const healthy = await runCli(t, dataDir, "check");
  t.strictSame([healthy.code, healthy.stdout], [0, "no problems\n"]);
  const lmdb = openLmdb(join(dataDir, "realms", "1"));
  lmdb.transaction(() => lmdb.remove("channelMessages", [1, id]));
  await lmdb.close();
  const damaged = await runCli(t, dataDir, "check");
  t.equal(damaged.code, 1);
  t.match(damaged.stdout, new RegExp(`realm 1: message ${id} is not in its channel`));
});

t.test("rebuild-search discards the index, and searches still find everything", async (t) => {
  const server = await startTestServer(t);
  await server.owner.say("general", "t", "a needle");
  await server.stop();
  const folder = join(server.dataDir, "realms", "1");
  const change = (work: (lmdb: ReturnType<typeof openLmdb>) => void) => {
    const lmdb = openLmdb(folder);
    lmdb.transaction(() => work(lmdb));
    return lmdb.close();
  };
  // An index that claims to contain everything, and contains nothing.
  const wrong = { messagesUpTo: 999, topicsUpTo: 999, lastSegmentId: 3, segments: [{ id: 3, level: 0 }] };
  await change((lmdb) =>
    lmdb.put("searchState", "state", {
      format: searchFormat,
      language: "english",
      merge: null,
      leftovers: [],
      ...wrong,
    }),
  );
  const found = async () => {
    const running = await startTestServer(t, { dataDir: server.dataDir });
    const narrow = [{ operator: "search", operand: "needle" }];
    const range = { anchor: "newest", num_before: 9, num_after: 0, narrow };
    const { body } = await new Client(running.url, server.owner.account).get("/messages", range);
    await running.stop();
    return body.messages.length;
  };
  t.equal(await found(), 0);
  const rebuilt = await runCli(t, server.dataDir, "rebuild-search");
  t.strictSame([rebuilt.code, rebuilt.stderr], [0, ""]);
  t.equal(await found(), 1);
});

t.test("commands without a data folder report it and create none", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  isRefused(
    t,
    await runCli(t, dataDir, "create-realm", "one", "--email", "eve@example.com"),
    /has no data/,
    exits.input,
  );
  t.notOk(existsSync(dataDir));
});
