/** The admin listener: metrics, liveness and readiness (docs/operations.md, docs/metrics.md). */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { BadConfig, readConfig } from "../../src/app/config.ts";
import { startServer } from "../../src/app/server.ts";
import { createLog } from "../../src/log/log.ts";
import { type AdminAnswer, askAdmin, sampleIn, untilReadiness } from "../support/admin.ts";
import { RawConnection } from "../support/http.ts";
import { freePort } from "../support/ports.ts";
import { checkout, Program } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

/** Names, types and labels in the text format of Prometheus. */
function familiesIn(text: string): Map<string, { type: string; labels: Set<string> }> {
  const families = new Map<string, { type: string; labels: Set<string> }>();
  for (const [, name = "", type = ""] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    families.set(name, { type, labels: new Set() });
  }
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_]+)\{([^}]*)\} /gm)) {
    const family = families.get(name) ?? families.get(name.replace(/_(?:bucket|sum|count)$/, ""));
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) if (label !== "le") family?.labels.add(label);
  }
  return families;
}

/** The event loop's delay is measured from the first reading on, and has a value when its timer has come twice. */
async function metricsWithDelays(dataDir: string): Promise<AdminAnswer> {
  for (;;) {
    const answer = await askAdmin(dataDir, "/metrics");
    if (answer.body.includes("\ncolloquy_event_loop_delay_seconds{")) return answer;
  }
}

t.test("the table of metrics is what /metrics shows", async (t) => {
  const server = await startTestServer(t);
  await server.owner.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "Counted" });
  const { status, contentType, body } = await metricsWithDelays(server.dataDir);
  t.equal(status, 200);
  t.match(contentType, /^text\/plain; version=0\.0\.4/);
  const table = readFileSync(join(checkout, "docs/metrics.md"), "utf8");
  const rows = [...table.matchAll(/^\| `(colloquy_\w+)` \| (\w+) \|([^|]*)\|/gm)];
  const documented = rows.map(([, name, type, labels = ""]) => [
    name,
    type,
    [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).toSorted(),
  ]);
  const families = familiesIn(body);
  const shown = [...families].map(([name, { type, labels }]) => [name, type, [...labels].toSorted()]);
  t.strictSame(shown, documented);
});

t.test("requests, turns, flushes, sockets and failed logins are counted", async (t) => {
  const server = await startTestServer(t);
  const socket = new Socket(server.url, { as: server.owner });
  await socket.opened();
  await server.owner.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "Counted" });
  await server.owner.get("/no-such-path");
  const wrong = await server.owner.anonymous().post("/fetch_api_key", { username: "x@example.com", password: "wrong" });
  t.equal(wrong.status, 401);
  const { body } = await askAdmin(server.dataDir, "/metrics");
  const of = (sample: string) => sampleIn(body, sample);
  t.equal(of('colloquy_requests_total{operation="send-message",status="200"}'), 1);
  t.equal(of('colloquy_requests_total{operation="none",status="404"}'), 1);
  t.equal(of('colloquy_failed_logins_total{by="password"}'), 1);
  t.equal(of("colloquy_sockets"), 1);
  t.equal(of('colloquy_realm_messages{realm=""}'), 1);
  t.ok((of("colloquy_turn_seconds_count") ?? 0) > 0);
  t.ok((of("colloquy_flush_seconds_count") ?? 0) > 0);
  t.ok((of("colloquy_flush_seconds_sum") ?? 0) > 0);
  t.equal(of('colloquy_turn_seconds_bucket{le="+Inf"}'), of("colloquy_turn_seconds_count"));
  socket.ws.close();
});

t.test("[S2] metrics show no key, password, address or text", async (t) => {
  const server = await startTestServer(t);
  const canaries = ["canary-text", "canary-name", "canary.address", "canary-password", server.owner.account?.key ?? ""];
  const person = await server.person("canary-name");
  await person.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "canary-text" });
  await person
    .anonymous()
    .post("/fetch_api_key", { username: "canary.address@example.com", password: "canary-password" });
  const { body } = await askAdmin(server.dataDir, "/metrics");
  t.ok(body.length > 1000);
  const found = canaries.filter((canary) => body.includes(canary));
  t.strictSame(found, []);
});

t.test("a failed login is a line of the log with its address, in the form that fail2ban reads", async (t) => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) });
  const environment = { TRUST_PROXY: "true", RATE_LIMITS: "login=2/60" };
  const server = await startTestServer(t, { log, environment });
  const forwarded = { "X-Forwarded-For": "203.0.113.7" };
  for (const attempt of [1, 2, 3]) {
    const authorization = `Basic ${Buffer.from(`someone@example.com:wrong-key-${attempt}`).toString("base64")}`;
    const url = `${server.url}/api/v1/users/me`;
    const { status } = await fetch(url, { headers: { ...forwarded, authorization } });
    t.equal(status, attempt <= 2 ? 401 : 429);
  }
  const documented = /failregex = (.*?)`/.exec(readFileSync(join(checkout, "docs/operations.md"), "utf8"))?.[1] ?? "";
  const pattern = new RegExp(documented.replace("<HOST>", "(203\\.0\\.113\\.7)"));
  t.equal(lines.filter((line) => pattern.test(line)).length, 2, "what is over the limit does not fill the log");
  t.notOk(lines.join("").includes("wrong-key"));
});

t.test("the socket belongs to the server's account alone, and goes with the server", async (t) => {
  const server = await startTestServer(t);
  const socket = join(server.dataDir, "admin.sock");
  t.equal(statSync(socket).mode & 0o777, 0o600);
  const { headers: _, ...answer } = await askAdmin(server.dataDir, "/healthz");
  t.strictSame(answer, { status: 200, contentType: "application/json", body: '{"status":"ok"}\n' });
  t.match(await askAdmin(server.dataDir, "/readyz"), { status: 200, body: '{"status":"ready"}\n' });
  t.match(await askAdmin(server.dataDir, "/"), { status: 404 });
  t.match(await askAdmin(server.dataDir, "/metrics", { method: "DELETE" }), { status: 405 });
  await server.stop();
  t.notOk(existsSync(socket));
});

t.test("a socket that a killed server left does not keep the next one from starting", async (t) => {
  const dataDir = temporaryFolder(t);
  const socket = join(dataDir, "admin.sock");
  const program = `require("node:net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, "SIGKILL"))`;
  await new Program(t, process.execPath, ["-e", program], {}).exited;
  t.ok(existsSync(socket));
  const server = await startTestServer(t, { dataDir });
  t.match(await askAdmin(server.dataDir, "/healthz"), { status: 200 });
});

t.test("a file, and the socket of a server that lives, are never replaced", async (t) => {
  const file = join(temporaryFolder(t), "precious");
  writeFileSync(file, "precious");
  const server = await startTestServer(t);
  for (const path of [file, join(server.dataDir, "admin.sock")]) {
    const options = { environment: { ADMIN_LISTEN: path } };
    await t.rejects(startTestServer(t, options), { name: "BadConfig", message: /ADMIN_LISTEN.*EADDRINUSE/ });
  }
  t.equal(readFileSync(file, "utf8"), "precious");
  t.match(await askAdmin(server.dataDir, "/healthz"), { status: 200 });
});

t.test("[M5] /readyz answers 503 while changes are rejected", async (t) => {
  const server = await startTestServer(t, { environment: { STORE_BYTES_MAX: "1" } });
  t.match(await untilReadiness(server.dataDir, 503), { body: /changes are rejected/ });
  t.match(await askAdmin(server.dataDir, "/healthz"), { status: 200 }, "the process is alive");
  const { body } = await askAdmin(server.dataDir, "/metrics");
  t.equal(sampleIn(body, "colloquy_writes_accepted"), 0);
});

t.test("over TCP there is one address for metrics, and pages of other sites get nothing", async (t) => {
  const port = await freePort();
  const server = await startTestServer(t, { environment: { ADMIN_LISTEN: `127.0.0.1:${port}` } });
  t.match(await askAdmin(port, "/metrics"), { status: 200 });
  const headers = { "Sec-Fetch-Site": "cross-site" };
  t.match(await askAdmin(port, "/metrics", { headers }), { status: 403 });
  t.match(await server.owner.get("/metrics"), { status: 404 }, "the public port does not have it");
  const second = readConfig({ PORT: "0", DATA_DIR: temporaryFolder(t), ADMIN_LISTEN: `127.0.0.1:${port}` });
  const tools = {
    log: createLog("silent"),
    die(error: unknown): never {
      throw error;
    },
  };
  await t.rejects(startServer(second, tools), { name: "BadConfig", message: /ADMIN_LISTEN.*EADDRINUSE/ });
});

t.test("a name that is not the operator's gets nothing from any route, on TCP and on a socket", async (t) => {
  const port = await freePort();
  await startTestServer(t, {
    environment: { ADMIN_LISTEN: `localhost:${port}`, ADMIN_HOSTS: "colloquy, Metrics.example.org" },
  });
  const socket = await startTestServer(t);
  const paths = ["/healthz", "/readyz", "/metrics", "/admin", "/admin/assets/x.js", "/admin/live", "/no-such-path"];
  const requestAs = (where: string | number, path: string, host: string, method = "GET") =>
    askAdmin(where, path, { method, headers: { Host: host } });
  for (const where of [port, socket.dataDir]) {
    for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "127.0.0.1.evil.example"]) {
      for (const path of paths)
        t.match(await requestAs(where, path, host), { status: 403, body: /ADMIN_HOSTS/ }, `${host}${path}`);
      t.match(await requestAs(where, "/admin/list-realms", host, "POST"), { status: 403 });
    }
    for (const host of ["localhost", `LOCALHOST:${port}`, "127.0.0.1", "10.1.2.3:9992", "[::1]:9992", "[fe80::1]"]) {
      for (const path of ["/healthz", "/readyz", "/metrics"]) {
        t.match(await requestAs(where, path, host), { status: 200 }, `a probe or a scrape of ${host}`);
      }
    }
  }
  for (const host of ["colloquy:9992", "metrics.example.org"]) {
    t.match(await requestAs(port, "/metrics", host), { status: 200 }, host);
    t.match(await requestAs(socket.dataDir, "/metrics", host), { status: 403 }, `${host} without ADMIN_HOSTS`);
  }
  const old = new RawConnection(`http://localhost:${port}`);
  await old.write("GET /readyz HTTP/1.0\r\n\r\n");
  t.match(await old.answer(), { status: 200 }, "a probe without Host");
});

t.test("[S3] admin_hosts_max: ADMIN_HOSTS has so many names, none with a port or an address", async (t) => {
  const of = (value: string) => readConfig({ ADMIN_HOSTS: value }).adminHosts;
  const names = (count: number) => Array.from({ length: count }, (_, index) => `host-${index}`);
  t.strictSame(of(""), []);
  t.strictSame(of("A.example, b_1"), ["a.example", "b_1"]);
  t.strictSame(of(names(limits.admin_hosts_max).join(",")), names(limits.admin_hosts_max));
  for (const wrong of [names(limits.admin_hosts_max + 1).join(","), "a:1", "http://a", "*", "a,,b", "a b"]) {
    t.throws(() => of(wrong), BadConfig, wrong);
  }
});

t.test("ADMIN_LISTEN is a socket, an address or none", async (t) => {
  const of = (value: string) => readConfig({ ADMIN_LISTEN: value }).adminAddress;
  t.strictSame(of(""), { kind: "socket", path: null });
  t.strictSame(of("none"), { kind: "none" });
  t.strictSame(of("./run/admin"), { kind: "socket", path: "./run/admin" });
  t.strictSame(of("[::1]:9992"), { kind: "tcp", host: "::1", port: 9992 });
  t.strictSame(of("localhost:9992"), { kind: "tcp", host: "localhost", port: 9992 });
  for (const wrong of ["9992", "localhost:", "localhost:70000", "admin.sock"]) t.throws(() => of(wrong), BadConfig);
});
