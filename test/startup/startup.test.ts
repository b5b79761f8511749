/**
 * The start-up contract, on which other tools rely word for word, on real processes: `node colloquy.mjs` is what `npm
 * start` runs. cli.test.ts covers the command line while the server runs, test/crash covers kill -9 under load.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { BadConfig, type Config, readConfig } from "../../src/app/config.ts";
import { startServer } from "../../src/app/server.ts";
import { createLog } from "../../src/log/log.ts";
import { Client } from "../support/client.ts";
import { HostClient, RawConnection } from "../support/http.ts";
import { freePort } from "../support/ports.ts";
import { checkout, type Environment, Program, startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

function run(t: Test, environment: Environment) {
  return new Program(t, process.execPath, ["colloquy.mjs"], environment).exited;
}

function newFolder(t: Test): string {
  return join(temporaryFolder(t), "data");
}

t.test("an empty DATA_DIR gets a realm, its owner and a zuliprc, and the console says where", async (t) => {
  // Special characters must not break the line that the user pastes.
  const dataDir = join(temporaryFolder(t), "it's my data");
  const port = await freePort();
  const email = "o'hara+x=1@example.org";
  const { program, url, owner } = await startProgram(t, dataDir, {
    PORT: String(port),
    OWNER_EMAIL: email,
    OWNER_PASSWORD: "an owner's password",
    REALM_NAME: "Bits & Bytes",
  });
  t.equal(url, `http://127.0.0.1:${port}`, "HOST defaults to 127.0.0.1");
  const settings = await owner.anonymous().get("/server_settings");
  t.match(settings, { status: 200, body: { realm_name: "Bits & Bytes", realm_url: url, zulip_feature_level: 420 } });

  const file = join(dataDir, "zuliprc");
  const key = owner.account?.key ?? "";
  t.match(key, /^[A-Za-z0-9]{32}$/);
  t.equal(readFileSync(file, "utf8"), `[api]\nemail=${email}\nkey=${key}\nsite=${url}\n`);
  t.equal(statSync(file).mode & 0o777, 0o600);

  const lines = program.stdout.trimEnd().split("\n");
  t.ok(lines.length <= 4, "a few lines");
  t.match(lines[0], url);
  t.match(lines[1], /^Transport: (?:native|node)$/);
  const pasted = /Try: (.*)/.exec(program.stdout)?.[1] ?? "";
  const { code, stdout } = await new Program(t, "bash", ["-c", pasted], {}).exited;
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { result: "success", email, user_id: 2, role: 100 }, "the line can be pasted");

  const login = await owner.anonymous().post("/fetch_api_key", { username: email, password: "an owner's password" });
  t.equal(login.body.user_id, 2);
  const { body } = await owner.post("/register", {
    fetch_event_types: ["realm_user_groups", "stream", "realm_user"],
  });
  const found = body.streams?.map((channel: { name: string }) => channel.name);
  t.strictSame(found, ["general"]);
  const groups: string[] = body.realm_user_groups.map((group: { name: string }) => group.name);
  for (const name of [
    "owners",
    "administrators",
    "moderators",
    "fullmembers",
    "members",
    "everyone",
    "internet",
    "nobody",
  ])
    t.ok(groups.includes(`role:${name}`), name);
  for (const host of ["chat.example.org", "10.1.2.3:80", "localhost", "[::1]:9991", "-"]) {
    const seen = await new HostClient(owner, host).get("/users/me");
    t.equal(seen.body.user_id, 2, `reachable as ${host}`);
  }
  t.equal((await program.end("SIGINT")).code, 0, "Ctrl-C works like SIGTERM");
});

t.test("a second process on the same DATA_DIR is rejected, and the first one is unaffected", async (t) => {
  const dataDir = newFolder(t);
  const { owner, program } = await startProgram(t, dataDir);
  const me = await owner.get("/users/me");
  t.match(me.body, { email: "owner@localhost", role: 100 }, "the defaults without OWNER_* and REALM_NAME");
  t.equal((await owner.get("/server_settings")).body.realm_name, "Colloquy");
  const cookies = { Cookie: "c".repeat(12 * 1024) };
  t.equal((await owner.get("/users/me", {}, cookies)).status, 200, "[pitfalls 2.2] header blocks of browsers fit");
  const before = readFileSync(join(dataDir, "zuliprc"), "utf8");
  const { code, stdout, stderr } = await run(t, { DATA_DIR: dataDir, PORT: "0" });
  t.not(code, 0);
  t.equal(stdout, "");
  t.match(stderr, /^colloquy: process \d+ is running on this data folder\n$/);
  t.match(stderr, String(program.pid), "it names the folder");
  t.equal(readFileSync(join(dataDir, "zuliprc"), "utf8"), before);
  t.ok((await owner.say("general", "still", "here")) > 0);
  // A killed process does not block the folder.
  await program.end("SIGKILL");
  const again = await startTestServer(t, { dataDir });
  t.equal((await again.owner.get("/users/me")).status, 200);
});

t.test("SIGTERM answers polls, closes sockets with 1001 and exits with 0; a restart has everything", async (t) => {
  const dataDir = newFolder(t);
  const { owner, program, url } = await startProgram(t, dataDir);
  const id = await owner.say("general", "keep", "this");
  const queue = await owner.register({ event_types: ["message"], fetch_event_types: [] });
  const polled = owner.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  const socket = new Socket(url, { as: owner });
  await socket.opened();
  await socket.ask({ type: "register", event_types: ["message"], fetch_event_types: [] });
  const idle = new RawConnection(url);
  await idle.write("GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
  t.equal((await idle.answer())?.status, 200);
  const halfSent = new RawConnection(url);
  await halfSent.write("POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nemail=");

  const { code, signal } = await program.end("SIGTERM");
  t.strictSame({ code, signal }, { code: 0, signal: null });
  t.equal((await socket.closed).code, 1001);
  const { status, body } = await polled;
  t.match({ status, body }, { status: 200, body: { result: "success", events: [{ type: "heartbeat" }] } });
  t.equal(body.events.length, 1, "[D215] a held poll gets a heartbeat");
  await Promise.all([idle.closed, halfSent.closed]);
  await t.rejects(owner.get("/users/me"), "the port is closed");
  t.notOk(existsSync(join(dataDir, "server.pid")));

  const again = await startTestServer(t, { dataDir });
  t.equal(again.owner.account?.key, owner.account?.key);
  t.equal((await again.owner.get(`/messages/${id}`)).body.raw_content, "this");
  const after = await again.owner.say("general", "keep", "and that");
  const resumed = await again.owner.get("/events", {
    queue_id: queue.queue_id,
    last_event_id: queue.last_event_id,
  });
  t.equal(resumed.body.events[0]?.message.id, after, "queues survive a restart");
  t.match(readFileSync(join(dataDir, "zuliprc"), "utf8"), `site=${again.url}\n`, "the site follows the port");
});

t.test("a stopping server finishes started requests and rejects new ones with 503", async (t) => {
  const dataDir = newFolder(t);
  const server = await startTestServer(t, { dataDir });
  const settings = "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n";
  const [begun, idle] = [new RawConnection(server.url), new RawConnection(server.url)];
  for (const connection of [begun, idle]) {
    await connection.write(settings);
    t.equal((await connection.answer())?.status, 200);
  }
  const body = "type=direct&to=[2]&content=in time";
  const form = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}`;
  const head = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: ${server.owner.authorization}\r\n${form}\r\n\r\n`;
  await begun.write(head + body.slice(0, 10));
  // When a later request is answered, the earlier bytes have been read.
  t.equal((await server.owner.get("/users/me")).status, 200);

  const stopped = server.stop();
  await idle.write(settings);
  const refused = await idle.answer();
  t.equal(refused?.status, 503);
  t.match(JSON.parse(refused?.text ?? ""), { result: "error", code: "SERVER_SHUTTING_DOWN" });
  await idle.closed;
  const late = new RawConnection(server.url);
  t.equal(await late.answer(), null, "new connections are not accepted");
  await begun.write(body.slice(10));
  const finished = await begun.answer();
  t.equal(finished?.status, 200);
  await stopped;
  const { owner } = await startTestServer(t, { dataDir });
  const { id } = JSON.parse(finished?.text ?? "");
  t.equal((await owner.get(`/messages/${id}`)).body.raw_content, "in time");
});

t.test("a body that arrives when a stopping server closes its organizations is rejected with 503", async (t) => {
  const server = await startTestServer(t);
  const { owner, running, url } = server;
  const slow = new RawConnection(url);
  const body = "type=direct&to=[2]&content=late";
  const head = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: ${owner.authorization}\r\n`;
  await slow.write(
    `${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  t.equal((await owner.get("/users/me")).status, 200);
  // The disk is slow: an organization is not closed before this test says so.
  let goOn: () => void = () => undefined;
  const disk = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const isClosing = new Promise<void>((resolve) => {
    const { host } = running;
    const close = host.close.bind(host);
    host.close = async () => {
      resolve();
      await disk;
      await close();
    };
  });
  const stopped = server.stop();
  await isClosing;
  await slow.write(body.slice(10));
  const answer = await slow.answer();
  t.match([answer?.status, answer?.text], [503, /"SERVER_SHUTTING_DOWN"/]);
  goOn();
  await stopped;
});

t.test("after SIGTERM under load, acknowledged requests are stored, and the others were rejected", async (t) => {
  const dataDir = newFolder(t);
  const { owner, program } = await startProgram(t, dataDir);
  const acknowledged: number[] = [];
  const writers = Array.from({ length: 16 }, async () => {
    for (;;) {
      const sent = await owner
        .post("/messages", { type: "channel", to: "general", topic: "load", content: "x" })
        .catch(() => null);
      if (sent?.status !== 200) return sent?.status ?? 503;
      acknowledged.push(sent.body.id);
      // Every client has been served at least once: now the server may stop.
      if (acknowledged.length === 64) void program.end("SIGTERM");
    }
  });
  t.strictSame([...new Set(await Promise.all(writers))], [503]);
  t.equal((await program.exited).code, 0);
  const again = await startTestServer(t, { dataDir });
  const { body } = await again.owner.get("/messages", { anchor: "newest", num_before: 5000, num_after: 0 });
  const kept = new Set(body.messages.map((message: { id: number }) => message.id));
  const found = acknowledged.filter((id) => !kept.has(id));
  t.strictSame(found, []);
});

t.test("a wrong configuration value gives one clear line and exit code 78, and changes nothing", async (t) => {
  const cases: readonly (readonly [Environment, RegExp])[] = [
    [{ PORT: "http" }, /^colloquy: PORT="http" [^\n]+\n$/],
    [{ OWNER_PASSWORD: "two\nlines" }, /^colloquy: OWNER_PASSWORD ((?!two|lines).)+\n$/],
  ];
  for (const [environment, expected] of cases) {
    const dataDir = newFolder(t);
    const { code, stdout, stderr } = await run(t, { DATA_DIR: dataDir, PORT: "0", ...environment });
    t.strictSame({ code, stdout }, { code: 78, stdout: "" });
    t.match(stderr, expected);
    t.notOk(existsSync(dataDir), "nothing touched");
  }
});

t.test("a value that only the system can reject (address, key, folder) gives one line and exit code 78", async (t) => {
  const cases: readonly Environment[] = [
    { HOST: "not a host" },
    // In an address block that nobody uses (RFC 5737).
    { HOST: "192.0.2.1" },
    { TLS_KEY_FILE: "/nowhere/key.pem", TLS_CERT_FILE: "/nowhere/cert.pem" },
    { DATA_DIR: "/dev/null/data" },
  ];
  for (const environment of cases) {
    const dataDir = newFolder(t);
    const config = readConfig({ DATA_DIR: dataDir, PORT: "0", ...environment });
    const tools = {
      log: createLog("silent"),
      die(error: unknown): never {
        throw error;
      },
    };
    const [name = ""] = Object.keys(environment);
    await t.rejects(startServer(config, tools), { name: "BadConfig", message: new RegExp(`^[^\n]*${name}[^\n]*$`) });
    t.notOk(existsSync(dataDir), "nothing touched");
  }
});

t.test("every variable is validated before anything else, and the message names it", async (t) => {
  const bad: readonly (readonly [string, string])[] = [
    ...["-1", "65536", "1.5", "0x50", " 80", "80a"].map((port) => ["PORT", port] as const),
    ["HOST", "a\nb"],
    ["DATA_DIR", "a\0b"],
    ["OWNER_EMAIL", "nobody"],
    ["OWNER_EMAIL", "a b@example.org"],
    ["OWNER_PASSWORD", "short"],
    ["OWNER_PASSWORD", "p".repeat(1025)],
    ["REALM_NAME", "n".repeat(101)],
    ["REALM_NAME", "two\nlines"],
    ["RATE_LIMITS", "fast"],
    ["LOG_LEVEL", "loud"],
    ["TRANSPORT", "fast"],
    ["WEB_PUBLIC_STREAMS_ENABLED", "maybe"],
    ["CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE", "1"],
    ["TOPIC_DELETION_TIMEOUT_MS", "soon"],
    ["REALM_IDLE_MS", "59999"],
    ["IDLE_QUEUE_TIMEOUT_MS", "999"],
    ["SOCKET_HEARTBEAT_S", "3"],
    ["SOCKET_HEARTBEAT_S", "601"],
    ["STORE_FREE_BYTES_MIN", "-1"],
    ["MAX_FILE_UPLOAD_SIZE_MIB", `${limits.upload_file_mib_max + 1}`],
    ["UPLOAD_QUOTA_MIB", `${limits.upload_quota_mib_max + 1}`],
    ["UPLOAD_QUOTA_PER_USER_MIB", "some"],
    ["CLUSTER_LEASE_MS", `${limits.cluster_lease_ms - 1}`],
    ["CLUSTER_LEASE_MS", `${limits.cluster_lease_ms_max + 1}`],
    ["SMTP_URL", "mail.example.org"],
    ["MAIL_FROM", "nobody"],
    ["TLS_KEY_FILE", "key.pem"],
    ["TLS_CERT_FILE", "cert.pem"],
  ];
  for (const [name, value] of bad) {
    t.throws(() => readConfig({ [name]: value }), { name: "BadConfig", message: new RegExp(name) }, `${name}=${value}`);
  }
  t.throws(() => readConfig({ OWNER_PASSWORD: "s3cr\n3t" }), { message: /^((?!s3cr).)*$/ }, "[S2]");
  t.throws(() => readConfig({ PORT: "x" }), BadConfig);
  t.match(readConfig({}), { host: "127.0.0.1", port: 9991, dataDir: "./data", realmName: "Colloquy" });
  t.equal(
    readConfig({}).topicDeletionTimeoutMs,
    50_000,
    "[behaviour 7] a topic deletion request works for 50 s by default",
  );
  t.equal(readConfig({}).maxFileUploadSizeMib, limits.upload_file_mib_default);
  const largest = `${limits.upload_file_mib_max}`;
  const quotas = ({ uploadQuotaMib, uploadQuotaPerUserMib }: Config) => [uploadQuotaMib, uploadQuotaPerUserMib];
  t.strictSame(quotas(readConfig({})), [limits.upload_quota_mib_default, limits.upload_quota_per_user_mib_default]);
  const mostMib = limits.upload_quota_mib_max;
  const most = { UPLOAD_QUOTA_MIB: `${mostMib}`, UPLOAD_QUOTA_PER_USER_MIB: `${mostMib}` };
  t.strictSame(quotas(readConfig(most)), [mostMib, mostMib]);
  t.strictSame(quotas(readConfig({ UPLOAD_QUOTA_MIB: "none", UPLOAD_QUOTA_PER_USER_MIB: "none" })), [null, null]);
  t.equal(readConfig({ MAX_FILE_UPLOAD_SIZE_MIB: largest }).maxFileUploadSizeMib, limits.upload_file_mib_max, "[S3]");
  for (const leaseMs of [limits.cluster_lease_ms, limits.cluster_lease_ms_max]) {
    t.equal(readConfig({ CLUSTER_LEASE_MS: `${leaseMs}` }).clusterLeaseMs, leaseMs, "[S3, D263]");
  }
  t.strictSame(readConfig({ PORT: "", DATA_DIR: "", RATE_LIMITS: "" }), readConfig({}), "empty is absent");
  t.throws(() => Object.assign(readConfig({}), { port: 1 }), TypeError, "frozen");
});

t.test("a port in use gives one clear line, and the data waits for the next start", async (t) => {
  const first = await startTestServer(t);
  const { port } = new URL(first.url);
  const dataDir = newFolder(t);
  const { code, stderr } = await run(t, { DATA_DIR: dataDir, PORT: port });
  t.not(code, 0);
  t.match(stderr, /^colloquy: [^\n]+\n$/);
  t.match(stderr, port);
  t.equal((await first.owner.get("/users/me")).status, 200, "the program on the port is not disturbed");
  const second = await startTestServer(t, { dataDir });
  t.equal((await second.owner.get("/users/me")).body.user_id, 2, "its zuliprc is valid");
});

t.test("two `npm start` at once from an unbuilt checkout build once, and each has its own port and data", async (t) => {
  t.match(JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")), {
    scripts: { start: "exec node colloquy.mjs" },
  });
  const copy = join(temporaryFolder(t), "checkout");
  mkdirSync(copy);
  const programs = ["colloquy.mjs", "scripts/build.mjs", "package.json", "package-lock.json"];
  for (const name of [...programs, "src", "actors", "domain", "schemas", "packages/client/src"]) {
    cpSync(join(checkout, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(checkout, "node_modules"), join(copy, "node_modules"));
  const starts = [newFolder(t), newFolder(t)].map((dataDir) => startProgram(t, dataDir, {}, copy));
  const [one, two] = [await starts[0], await starts[1]];
  if (one === undefined || two === undefined) throw new Error("two were started");
  t.not(one.url, two.url);
  t.equal((await one.owner.get("/users/me")).status, 200);
  t.equal((await two.owner.get("/users/me")).status, 200);
  t.equal((await new Client(two.url, one.owner.account).get("/users/me")).status, 401, "each with its own data");
  t.equal((await one.program.end("SIGTERM")).code, 0);
  t.equal((await two.owner.get("/users/me")).status, 200, "the other one continues");
  t.equal(readdirSync(join(copy, "dist")).length, 1, "one build, and no temporary folder is left");
});
