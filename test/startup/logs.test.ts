/** What the log says: requests, start and stop, slow turns; in which form, and in which file. */
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { AccessLine } from "../../src/edge/http/access-log.ts";
import { prettyLine } from "../../src/log/log.ts";
import { Histogram } from "../../src/metrics/instruments.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { TurnWatch } from "../../src/runtime/turn.ts";
import { RawConnection } from "../support/http.ts";
import { inviteLink } from "../support/join.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Program, startProgram } from "../support/process.ts";
import { firstMoment } from "../support/realtime-clock.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

/** A server whose log lines are collected. */
async function startLogged(t: Test, environment: Readonly<Record<string, string>>, clock: Clock = systemClock) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, level: "warn" }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const server = await startTestServer(t, { log, environment, clock });
  const requests = () => lines.filter(({ msg }) => msg === "request") as unknown as AccessLine[];
  return { server, lines, requests };
}

t.test("[S2] the access log has the pattern of a path, and neither keys, queries, names nor texts", async (t) => {
  const { server, lines, requests } = await startLogged(t, { ACCESS_LOG: "true" });
  const { owner, url } = server;
  await owner.post("/messages", { type: "direct", to: [2], content: "aSecretText" });
  await owner.get("/users/someone@example.com", { client_gravatar: "aSecretQuery" });
  const link = await inviteLink(owner);
  await fetch(link);
  await fetch(`${url}/aSecretPath/x?y=z`);
  const head = await fetch(`${url}/health`, { method: "HEAD" });
  const socket = new Socket(url, { as: owner });
  await socket.opened();
  socket.terminate();
  const seen = requests().map(({ method, path, status }) => `${method} ${path} ${status}`);
  for (const expected of [
    "POST /api/v1/messages 200",
    "GET /api/v1/users/{email} 400",
    "GET /join/* 200",
    "GET (unknown) 404",
    "HEAD /health 200",
    "GET /api/v1/events/ws 101",
  ]) {
    t.ok(seen.includes(expected), `${expected} of ${seen.join(", ")}`);
  }
  const [sent] = requests().filter(({ path }) => path === "/api/v1/messages");
  t.match(sent, { id: /^[\w-]{36}$/, bytes: Number, ms: Number, address: "127.0.0.1" });
  t.ok((sent?.bytes ?? 0) > 10 && (sent?.ms ?? -1) >= 0);
  t.match(head.headers.get("x-request-id"), /^[\w-]{36}$/, "the answer has the id, too");
  const text = JSON.stringify(lines);
  const secrets = [
    "aSecret",
    "someone@example.com",
    owner.account?.key ?? "?",
    link.split("/").filter(Boolean).at(-1) ?? "?",
  ];
  for (const secret of secrets) t.notOk(text.includes(secret), secret);
});

t.test("ACCESS_LOG_ADDRESSES decides how much of an address is logged", async (t) => {
  const cases = [
    ["full", "203.0.113.7", "203.0.113.7"],
    ["network", "203.0.113.7", "203.0.113.0/24"],
    ["network", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["none", "203.0.113.7", undefined],
  ] as const;
  for (const [detail, address, logged] of cases) {
    const environment = { ACCESS_LOG: "true", ACCESS_LOG_ADDRESSES: detail, TRUST_PROXY: "true" };
    const { server, requests } = await startLogged(t, environment);
    await fetch(`${server.url}/health`, { headers: { "X-Forwarded-For": address } });
    t.equal(requests().at(-1)?.address, logged, `${detail} of ${address}`);
  }
});

t.test("[S3] X-Request-Id comes back if the client sent one, and a malformed one is replaced", async (t) => {
  const { server, lines } = await startLogged(t, {});
  const idOf = async (sent: string | null) => {
    const response = await fetch(`${server.url}/health`, { headers: sent === null ? {} : { "X-Request-Id": sent } });
    return response.headers.get("x-request-id");
  };
  t.equal(await idOf(null), null, "nobody asked");
  t.equal(await idOf("Root=1-67891233:abc.DEF/+_"), "Root=1-67891233:abc.DEF/+_");
  t.equal(await idOf("x".repeat(128)), "x".repeat(128), "at the bound");
  for (const malformed of ["x".repeat(129), "two words", "a;b", '"quoted"']) {
    t.match(await idOf(malformed), /^[0-9a-f-]{36}$/, malformed.slice(0, 20));
  }
  t.strictSame(lines, [], "without ACCESS_LOG nothing is logged");
});

t.test("[M6, S3] an answer 500 is named in the log, failed_requests_named_per_second_max a second", async (t) => {
  const clock = new ManualClock(firstMoment);
  const { server, lines } = await startLogged(t, {}, clock);
  const { dispatcher } = server.running.host.realmOf("");
  const ask = dispatcher.ask.bind(dispatcher);
  dispatcher.ask = () => {
    throw new Error("planted");
  };
  const fail = async (headers: Record<string, string> = {}) => {
    const { status, headers: answered } = await fetch(`${server.url}/api/v1/users/me/alert_words`, {
      method: "POST",
      headers: { Authorization: server.owner.authorization, ...headers },
      body: new URLSearchParams({ alert_words: '["soup"]' }),
    });
    t.equal(status, 500);
    return answered.get("x-request-id");
  };
  const named = () => lines.filter(({ msg }) => /answered with 500/.test(String(msg)));
  t.equal(await fail({ "X-Request-Id": "mine-1" }), "mine-1");
  const made = await fail();
  t.match(made, /^[\da-f-]{36}$/, "without an id of the client, the answer has one");
  const about = { level: 50, method: "POST", path: "/api/v1/users/me/alert_words" };
  t.match(named(), [
    { ...about, id: "mine-1" },
    { ...about, id: made },
  ]);
  t.match(lines.at(-2), { level: 50, err: { message: "planted" } }, "the fault is logged just before");
  for (let count = named().length; count < limits.failed_requests_named_per_second_max + 2; count++) await fail();
  t.equal(named().length, limits.failed_requests_named_per_second_max);
  clock.advance(1000);
  await fail();
  t.match(named().at(-1), { unnamed: 2 });
  dispatcher.ask = ask;
});

t.test("a client that leaves before its answer is logged as such", async (t) => {
  const { server, requests } = await startLogged(t, { ACCESS_LOG: "true" });
  const { queue_id, last_event_id } = await server.owner.register({ event_types: ["message"] });
  const raw = new RawConnection(server.url);
  const query = new URLSearchParams({ queue_id, last_event_id: String(last_event_id) });
  await raw.write(
    `GET /api/v1/events?${query} HTTP/1.1\r\nHost: x\r\nAuthorization: ${server.owner.authorization}\r\n\r\n`,
  );
  // The poll is held when a later request has been answered.
  await server.owner.get("/users/me");
  raw.destroy();
  const left = () => requests().find(({ path }) => path === "/api/v1/events");
  while (left() === undefined) await server.owner.get("/users/me");
  t.match(left(), { method: "GET", bytes: 0, isAborted: true, status: undefined });
});

t.test("start and stop are logged with version and settings, and without secrets", async (t) => {
  const file = join(temporaryFolder(t), "log");
  const { program, url, owner } = await startProgram(t, join(temporaryFolder(t), "data"), {
    LOG_LEVEL: "info",
    LOG_FILE: file,
    LOG_FORMAT: "pretty",
    ACCESS_LOG: "true",
    OWNER_PASSWORD: "aPasswordThatIsLong",
    OWNER_EMAIL: "owner@example.com",
    SMTP_URL: "smtps://someone:aSecretWord@127.0.0.1:1",
  });
  await owner.get("/users/me");
  const moved = `${file}.1`;
  renameSync(file, moved);
  process.kill(program.pid, "SIGHUP");
  while (!existsWith(file, /SIGHUP: there is no certificate/)) await fetch(`${url}/health`);
  t.equal((await program.end("SIGTERM")).code, 0);
  const [before, after] = [readFileSync(moved, "utf8"), readFileSync(file, "utf8")];
  t.match(
    before,
    /^\d{4}-\S+Z INFO {2}started version=\d\S+ node=\S+ transport=\w+ pid=\d+ settings=.*"SMTP_URL":"\(set\)"/m,
  );
  t.match(before, /INFO {2}request id=\S+ method=GET path=\/api\/v1\/users\/me status=200 /);
  t.match(after, /INFO {2}stopping signal=SIGTERM\n[^\n]* stopped [^\n]*signal=SIGTERM version=/);
  for (const secret of ["aPasswordThatIsLong", "aSecretWord", "owner@example.com", owner.account?.key ?? "?"]) {
    t.notOk((before + after + program.stderr).includes(secret), secret);
  }
});

t.test("SIGHUP during the start ends nothing: the log file is opened again, then the certificate", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "log");
  const environment = { PORT: "0", DATA_DIR: join(folder, "data"), LOG_LEVEL: "info", LOG_FILE: file };
  const program = new Program(t, process.execPath, ["colloquy.mjs"], environment);
  // Each turn of the loop: the start takes only some of them.
  while (!existsSync(file)) await setImmediate();
  process.kill(program.pid, "SIGHUP");
  await program.printed(/is at (\S+)\n/);
  while (!existsWith(file, /SIGHUP: there is no certificate/)) await setImmediate();
  t.equal((await program.end("SIGTERM")).code, 0);
});

function existsWith(file: string, pattern: RegExp): boolean {
  try {
    return pattern.test(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
}

t.test("a LOG_FILE that cannot be opened ends the start with 78", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const started = startProgram(t, dataDir, { LOG_FILE: "/no/such/folder/log" });
  await t.rejects(started, /LOG_FILE="\/no\/such\/folder\/log" cannot be used: it cannot be opened \(ENOENT\)/);
});

t.test("SLOW_TURN_MS: a turn at the bound is logged with its last command", async (t) => {
  const lines: string[] = [];
  const watch = new TurnWatch(new Histogram(), 500);
  const last = { to: { actor: "realm" }, type: "channels.move" } as unknown as Parameters<TurnWatch["ended"]>[1];
  for (const ms of [3, 499.9, 500, 1234.5]) watch.ended(ms, last, (line) => lines.push(line));
  new TurnWatch(new Histogram(), null).ended(5000, last, (line) => lines.push(line));
  t.strictSame(lines, [
    "a turn took 500 ms, and its last command was channels.move (SLOW_TURN_MS is 500)",
    "a turn took 1235 ms, and its last command was channels.move (SLOW_TURN_MS is 500)",
  ]);
});

t.test("a pretty line shows errors with their stack, and no control characters", async (t) => {
  const line = { level: 50, time: 0, where: "a b\u001b[2J", msg: "it\nthrew", err: { stack: "Error: x\n    at y" } };
  t.equal(
    prettyLine(`${JSON.stringify(line)}\n`),
    '1970-01-01T00:00:00.000Z ERROR it\\x0athrew where="a b\\u001b[2J"\n    Error: x\n    at y\n',
  );
});
