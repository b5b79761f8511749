/**
 * The operator's page (docs/web.md, The operator's page) as requests show it: who gets it on a Unix socket and on TCP,
 * how a browser logs in, and what no other page can do.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { type AdminAnswer, type AdminRequest, askAdmin } from "../support/admin.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { commands } from "../support/runtime.ts";
import { startTestServer, type TestServer, type TestServerOptions, temporaryFolder } from "../support/server.ts";

const html = "<!doctype html><title>live</title>";

/** A build with one asset in each of its pages. */
function smallPages(t: Test): string {
  const folder = temporaryFolder(t);
  for (const [page, text] of [
    [folder, "<!doctype html><title>page</title>"],
    [join(folder, "admin"), html],
  ] as const) {
    mkdirSync(join(page, "assets"), { recursive: true });
    writeFileSync(join(page, "index.html"), text);
    writeFileSync(join(page, "assets", "page-AAAA.js"), "0");
  }
  writeFileSync(join(folder, "admin", "assets", "live-BBBB.js"), "1");
  return folder;
}

interface Listener {
  readonly server: TestServer;
  readonly where: string | number;
  readonly host: string;
  readonly key: string;
}

async function onTcp(t: Test, options: TestServerOptions = {}): Promise<Listener> {
  const port = await freePort();
  const environment = { ...options.environment, ADMIN_LISTEN: `127.0.0.1:${port}` };
  const server = await startTestServer(t, { webFolder: smallPages(t), ...options, environment });
  const key = readFileSync(join(server.dataDir, "admin.key"), "utf8").trim();
  return { server, where: port, host: `127.0.0.1:${port}`, key };
}

/** What a browser adds to the requests of the page's script. */
const ofPage = (host: string, token = "none") => ({
  Host: host,
  Origin: `http://${host}`,
  "Sec-Fetch-Site": "same-origin",
  "Colloquy-Admin-Token": token,
});

const bodyOf = ({ body }: AdminAnswer) => JSON.parse(body) as Readonly<Record<string, unknown>>;

function post(where: string | number, path: string, body: unknown, headers: AdminRequest["headers"]) {
  const typed = { "Content-Type": "application/json", ...headers };
  return askAdmin(where, path, { method: "POST", headers: typed, body: JSON.stringify(body) });
}

interface LoggedIn {
  readonly cookie: string;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function logIn({ where, host, key }: Listener): Promise<LoggedIn> {
  const answer = await post(where, "/admin/log-in", { key }, ofPage(host));
  const { token } = bodyOf(answer)["result"] as { token: string };
  const cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  return { cookie, token, headers: { ...ofPage(host, token), Cookie: cookie } };
}

t.test("a browser gets the page at /admin, a program what the operations are", async (t) => {
  const { server, where } = await onTcp(t);
  const asBrowser = {
    Accept: "text/html,application/xhtml+xml",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Dest": "document",
  };
  const page = await askAdmin(where, "/admin", { headers: asBrowser });
  t.match(page, { status: 200, contentType: "text/html; charset=utf-8", body: html });
  t.match(page.headers["content-security-policy"], /script-src 'self'.*frame-ancestors 'none'/);
  t.notMatch(page.headers["content-security-policy"], /unsafe|\*/);
  t.match(page.headers, { "cache-control": "no-cache", vary: "Accept, Accept-Encoding" });
  const tag = { "If-None-Match": String(page.headers.etag) };
  t.match(await askAdmin(where, "/admin", { headers: { ...asBrowser, ...tag } }), { status: 304, body: "" });
  const program = await askAdmin(where, "/admin", { headers: { Accept: "*/*" } });
  t.match(program, { status: 200, contentType: "application/json", body: /"operations":\[/ });
  const asset = await askAdmin(where, "/admin/assets/live-BBBB.js");
  t.match(asset, { status: 200, contentType: "text/javascript; charset=utf-8", body: "1" });
  t.match(asset.headers["cache-control"], /immutable/);
  for (const name of ["", "missing.js", "..%2findex.html", "../index.html", "live-BBBB.js/x", "__proto__"]) {
    t.match(await askAdmin(where, `/admin/assets/${name}`), { status: 404 }, name);
  }
  const fromWiki = { ...asBrowser, "Sec-Fetch-Site": "cross-site" };
  t.match(
    await askAdmin(where, "/admin", { headers: fromWiki }),
    { status: 200 },
    "a link of another site leads there",
  );
  const framed = { ...fromWiki, "Sec-Fetch-Dest": "iframe" };
  t.match(await askAdmin(where, "/admin", { headers: framed }), { status: 403 });
  for (const path of ["/admin", "/admin/live", "/admin/assets/live-BBBB.js", "/assets/live-BBBB.js"]) {
    const { status } = await fetch(server.url + path, { headers: { Accept: "text/html" } });
    t.equal(status, 404, `the public port has no ${path}`);
  }
});

t.test("a server without a build says so, and operations work", async (t) => {
  const server = await startTestServer(t, { webFolder: temporaryFolder(t) });
  const headers = { Accept: "text/html" };
  t.match(await askAdmin(server.dataDir, "/admin", { headers }), { status: 404, body: /not built.*npm run build/ });
  t.match(await askAdmin(server.dataDir, "/admin"), { status: 200 });
});

t.test("on TCP the key opens a session: a cookie and a token, which are nothing alone", async (t) => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) });
  const listener = await onTcp(t, { log });
  const { where, host, key } = listener;
  const live = (headers: Readonly<Record<string, string>>) => askAdmin(where, "/admin/live", { headers });
  t.match(await live(ofPage(host)), { status: 401, body: /log in with the key/ });
  const wrong = await post(where, "/admin/log-in", { key: "canary-key" }, ofPage(host));
  t.match(wrong, { status: 401, body: /this is not the key in admin\.key/ });
  t.equal(wrong.headers["set-cookie"], undefined);
  t.match(lines.join(""), /"address":"127\.0\.0\.1","msg":"failed login to administration: wrong key"/);
  t.notMatch(lines.join(""), "canary-key");
  const answer = await post(where, "/admin/log-in", { key: ` ${key}\n` }, ofPage(host));
  t.equal(answer.status, 200);
  const [cookie = ""] = answer.headers["set-cookie"] ?? [];
  t.match(cookie, /^colloquy_admin_[0-9a-f]{8}=[\w-]{32}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  t.notOk(cookie.includes(key) || answer.body.includes(key), "[S2] neither is the key");
  const { token, cookie: pair, headers } = await logIn(listener);
  t.match(await live(headers), { status: 200 });
  t.match(
    await live({ ...ofPage(host), Cookie: pair }),
    { status: 401 },
    "another port of the host gets the cookie, too",
  );
  t.match(await live(ofPage(host, token)), { status: 401 });
  t.match(await live({ Host: host, Cookie: pair }), { status: 403 }, "without the header of the page");
  t.match(await live({ Host: host, Authorization: `Bearer ${key}` }), { status: 200 }, "a program sends the key");
  const ended = await post(where, "/admin/log-out", {}, headers);
  t.match(ended.headers["set-cookie"]?.[0], /=; .*Max-Age=0$/);
  t.match(await live(headers), { status: 401 });
});

t.test("no other page can use a session: host, origin and site must be its own", async (t) => {
  const listener = await onTcp(t);
  const { where, host } = listener;
  const { headers } = await logIn(listener);
  const port = host.split(":")[1];
  const allowed: Readonly<Record<string, object>> = {
    "the name of this machine": { Host: `localhost:${port}`, Origin: `http://localhost:${port}` },
    "no Origin, as in a GET": { Origin: undefined },
    "plain HTTP to an address: no Sec-Fetch-Site": { "Sec-Fetch-Site": undefined },
    "a tunnel from another port": { Host: "127.0.0.1:7", Origin: "http://127.0.0.1:7" },
  };
  const refused: Readonly<Record<string, object>> = {
    "a name that was rebound": { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` },
    "another origin": { Origin: "http://evil.example" },
    "another port of this host": { Origin: "http://127.0.0.1:9991", "Sec-Fetch-Site": "same-site" },
    "another port, without Sec-Fetch-Site": { Origin: "http://127.0.0.1:9991", "Sec-Fetch-Site": undefined },
    "an opaque origin": { Origin: "null" },
    "another site": { "Sec-Fetch-Site": "cross-site" },
    "no host": { Host: "" },
  };
  const of = (change: object) =>
    Object.fromEntries(Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined));
  for (const [name, change] of Object.entries(allowed)) {
    t.match(await askAdmin(where, "/admin/live", { headers: of(change) }), { status: 200 }, name);
  }
  for (const [name, change] of Object.entries(refused)) {
    for (const path of ["/admin/live", "/admin/live/organizations", "/admin/live/dead-letters"]) {
      t.match(await askAdmin(where, path, { headers: of(change) }), { status: 403 }, `${name}: ${path}`);
    }
    for (const path of ["/admin/log-in", "/admin/log-out", "/admin/dead-letters-drop"]) {
      t.match(await post(where, path, { key: listener.key }, of(change)), { status: 403 }, `${name}: ${path}`);
    }
  }
  t.match(await askAdmin(where, "/admin/live", { headers }), { status: 200 }, "the session still is");
});

t.test("a tunnel to a Unix socket needs no key, but the header and a local name", async (t) => {
  const { dataDir } = await startTestServer(t, { webFolder: smallPages(t) });
  const live = (headers: Readonly<Record<string, string>>) => askAdmin(dataDir, "/admin/live", { headers });
  for (const host of ["localhost:9992", "127.0.0.1:9992", "[::1]:9992"]) {
    t.match(await live(ofPage(host)), { status: 200 }, host);
  }
  t.match(await live({}), { status: 200 }, "a program");
  t.match(
    await live({ Host: "localhost:9992", "Sec-Fetch-Site": "same-origin" }),
    { status: 403 },
    "without the header",
  );
  t.match(await live(ofPage("evil.example:9992")), { status: 403 }, "a name that was rebound");
  t.match(await live({ ...ofPage("localhost:9992"), Origin: "http://evil.example" }), { status: 403 });
  const login = await post(dataDir, "/admin/log-in", { key: "null" }, ofPage("localhost:9992"));
  t.match(login, { status: 401 }, "no key is right");
});

t.test("a session lists, retries and drops dead letters, and does nothing else", async (t) => {
  const listener = await onTcp(t);
  const { where, server } = listener;
  const { headers } = await logIn(listener);
  server.realm.dispatcher.send(commands.throwing());
  await until(() => server.realm.lmdb.count("deadLetters") === 1);
  const list = async () =>
    bodyOf(await askAdmin(where, "/admin/live/dead-letters?realm=", { headers })) as {
      readonly total: number;
      readonly letters: readonly { readonly id: number }[];
    };
  const { total, letters } = await list();
  t.equal(total, 1);
  t.match(letters, [{ kind: "command", what: "realm.create for realm", attempts: 3 }]);
  const organizations = bodyOf(await askAdmin(where, "/admin/live/organizations", { headers }));
  t.match(organizations, {
    metrics: { colloquy_realm_dead_letters: { "": 1 }, colloquy_realms: { all: 1, open: 1 } },
  });
  const [letter] = letters;
  const retried = await post(where, "/admin/dead-letters-retry", { ids: [letter?.id] }, headers);
  t.match(bodyOf(retried), { result: { letters: [{ id: letter?.id, problem: null }] } });
  for (;;) {
    const [again] = (await list()).letters;
    if (again !== undefined && again.id !== letter?.id) break;
  }
  t.match(await post(where, "/admin/dead-letters-drop", { ids: "all" }, headers), { status: 200 });
  t.match(await list(), { total: 0, letters: [] });
  t.match(await askAdmin(where, "/admin/live/dead-letters?realm=none", { headers }), {
    status: 409,
    body: /no realm/,
  });
  const operations = bodyOf(await askAdmin(where, "/admin"))["operations"] as readonly { readonly name: string }[];
  for (const { name } of operations.filter(({ name }) => !/^dead-letters-(?:retry|drop)$/.test(name))) {
    t.match(await post(where, `/admin/${name}`, {}, headers), { status: 403 }, name);
  }
});

t.test("[S2] the page shows no key, password, address or text", async (t) => {
  const listener = await onTcp(t);
  const { server, where } = listener;
  const { headers } = await logIn(listener);
  const person = await server.person("canary-name");
  await person.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "canary-text" });
  const { lmdb } = server.realm;
  const delivery = { kind: "mail", id: 1, template: "new-login", to: "canary.address@example.com" } as const;
  const error = "550 <canary.address@example.com>: no such user";
  const letter = { sequence: 1, command: commands.throwing(), diedAt: 1, error, attempts: 1, delivery };
  lmdb.transaction(() => lmdb.put("deadLetters", 1, letter));
  const answers = await Promise.all(
    ["/admin/live", "/admin/live/organizations", "/admin/live/dead-letters"].map((path) =>
      askAdmin(where, path, { headers }),
    ),
  );
  const found = answers.map(({ status }) => status);
  t.strictSame(found, [200, 200, 200]);
  const shown = answers.map(({ body }) => body).join("");
  t.match(shown, "email 1 (new-login) to (address)");
  t.match(shown, "550 (address) no such user");
  for (const canary of ["canary", listener.key, server.owner.account?.key ?? "?"])
    t.notOk(shown.includes(canary), canary);
});

t.test("bad requests get an error of one line", async (t) => {
  const listener = await onTcp(t);
  const { where, host } = listener;
  const { headers } = await logIn(listener);
  const send = (body: string, type = "application/json") =>
    askAdmin(where, "/admin/log-in", { method: "POST", headers: { ...ofPage(host), "Content-Type": type }, body });
  const at = (padding: number) => `{"key":"${"x".repeat(padding)}"}`;
  const fits = limits.admin_login_bytes_max - at(0).length;
  const answers = [
    await send("{"),
    await send("[]"),
    await send("null"),
    await send('{"key":1}'),
    await send("key=x", "application/x-www-form-urlencoded"),
    await send(at(fits + 1)),
    ...(await Promise.all(
      ["after=-1", "after=x", "after=1e99", "after=0.5"].map((query) =>
        askAdmin(where, `/admin/live?${query}`, { headers }),
      ),
    )),
  ];
  for (const { status, body } of answers) {
    t.equal(status, 400, body);
    t.match(body, /^\{"error":\{"kind":"usage","message":"[^"]+"\}\}\n$/);
  }
  t.match(await send(at(fits)), { status: 401 }, "[S3] admin_login_bytes_max");
  t.match(await askAdmin(where, "/admin/log-in", { headers }), { status: 405 });
  t.match(await askAdmin(where, "/admin/live/nothing", { headers }), { status: 404 });
});

t.test("[S3] admin_sessions_max: one more ends the oldest, and each ends after admin_session_ms", async (t) => {
  const port = await freePort();
  const environment = { ADMIN_LISTEN: `127.0.0.1:${port}` };
  const { server, clock } = await startClockedServer(t, { webFolder: smallPages(t), environment });
  const key = readFileSync(join(server.dataDir, "admin.key"), "utf8").trim();
  const listener = { server, where: port, host: `127.0.0.1:${port}`, key };
  const sessions: LoggedIn[] = [];
  for (let count = 0; count <= limits.admin_sessions_max; count++) sessions.push(await logIn(listener));
  const isOpen = async (session: LoggedIn | undefined) =>
    (await askAdmin(port, "/admin/live", { headers: session?.headers ?? {} })).status === 200;
  t.strictSame(
    await Promise.all(sessions.map(isOpen)),
    sessions.map((_, index) => index > 0),
  );
  clock.jump(limits.admin_session_ms - 1);
  t.ok(await isOpen(sessions.at(-1)));
  clock.jump(1);
  t.notOk(await isOpen(sessions.at(-1)));
});
