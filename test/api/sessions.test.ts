/**
 * Sessions of browsers (D256): log in, log out, list, end. Which requests a cookie authenticates is tested in
 * session-pages.test.ts, and what happens to connections in realtime/session-end.test.ts.
 */
import pino from "pino";
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import { programName } from "../../src/operations/identity/client-name.ts";
import { Client, expects, outcome, refusal } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Page } from "../support/page.ts";
import { until } from "../support/realtime.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

const password = "correct horse battery";
const server = await startTestServer(t);
const { owner } = server;
const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

interface Person {
  readonly client: Client;
  readonly email: string;
  page(userAgent?: string): Promise<Page>;
}

/** An account whose password is known. */
async function account(name: string, at: TestServer = server): Promise<Person> {
  const client = await at.person(name);
  const email = client.account?.email ?? "";
  return {
    client,
    email,
    async page(userAgent = firefox) {
      const page = new Page(at.url);
      const { status, body } = await page.logIn(email, password, { "User-Agent": userAgent });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return page;
    },
  };
}

const rows = (userId: number, at = server) => at.realm.view.sessionsOf(userId);
const isLoggedIn = async (page: Client) => (await page.get("/users/me")).status === 200;

t.test("[D256] a log-in sets a cookie that scripts cannot read, and answers who it is without a secret", async (t) => {
  const { email, client } = await account("Ann");
  const page = new Page(server.url);
  const { status, body, headers } = await page.logIn(` ${email} `, password);
  t.equal(status, 200);
  t.strictSame(body, { result: "success", msg: "", user_id: client.userId, email, full_name: "Ann" });
  const age = limits.session_lifetime_ms / 1000;
  t.match(
    headers.get("set-cookie"),
    new RegExp(`^session=[A-Za-z0-9]{32}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict$`),
  );
  t.match((await page.get("/users/me")).body, { user_id: client.userId });
  const id = rows(client.userId)[0]?.id;
  t.match((await page.get("/session")).body, { user_id: client.userId, email, full_name: "Ann", session_id: id });
  t.match((await client.get("/session")).body, { user_id: client.userId, session_id: null }, "with an API key");
  const nobody = await new Page(server.url).get("/session");
  t.strictSame(outcome(nobody), { status: 200, body: { result: "success", msg: "", session_id: null } });
  t.equal((await new Page(server.url, { cookie: `session=${"x".repeat(32)}` }).get("/session")).status, 401);
});

t.test("[S2] only the hash of a session's token is stored, and the token is no API key", async (t) => {
  const { email, client, page } = await account("Ben");
  const token = (await page()).cookie.replace("session=", "");
  const [row] = rows(client.userId);
  t.equal(row?.hash, hashApiKey(token));
  t.notMatch(JSON.stringify(server.realm.lmdb.get("sessions", hashApiKey(token))), token);
  t.equal((await new Client(server.url, { email, key: token, userId: 0 }).get("/users/me")).status, 401);
  const { key = "" } = client.account ?? {};
  t.notOk(await isLoggedIn(new Page(server.url, { cookie: `session=${key}` })), "and an API key is no session");
});

t.test("[D256] a wrong log-in gets the error of POST /fetch_api_key, and no cookie", async (t) => {
  const { email } = await account("Cleo");
  for (const [username, given] of [
    [email, "wrong"],
    ["nobody@example.com", password],
    ["", ""],
  ] as const) {
    const page = new Page(server.url);
    const { status, body, headers } = await page.logIn(username, given);
    const other = await owner.anonymous().post("/fetch_api_key", { username, password: given });
    t.strictSame({ status, body }, outcome(other));
    t.equal(status, 401);
    t.equal(headers.get("set-cookie"), null);
  }
});

t.test("[D28] failed log-ins are counted with those of POST /fetch_api_key, and logged the same way", async (t) => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) });
  const limited = await startTestServer(t, {
    environment: { RATE_LIMITS: "api=1000/60,login=2/3600,anonymous=1000/60" },
    log,
  });
  const attempt = () => new Page(limited.url).logIn("owner@localhost", "wrong");
  t.equal((await attempt()).status, 401);
  t.equal((await limited.owner.anonymous().post("/fetch_api_key", { username: "x", password: "y" })).status, 401);
  t.match(outcome(await attempt()), { status: 429, body: { code: "RATE_LIMIT_HIT" } });
  t.equal(
    lines.filter((line) => line.includes('"address":"127.0.0.1","msg":"failed login: wrong password"')).length,
    2,
  );
});

t.test("[D256] a log-out ends the session durably and clears the cookie; other sessions go on", async (t) => {
  const { page, client } = await account("Dora");
  const [here, there] = [await page(), await page()];
  const { cookie } = here;
  const { status, headers } = await here.delete("/session");
  t.equal(status, 200);
  t.match(headers.get("set-cookie"), /^session=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/);
  t.equal(here.cookie, "");
  await expects(t, new Page(server.url, { cookie }).get("/users/me"), notLoggedIn);
  t.ok(await isLoggedIn(there));
  t.equal(rows(client.userId).length, 1);
  t.equal((await client.delete("/session")).status, 400, "a request with an API key has no session to end");
});

t.test("[D256] the list names programs and times, and the session that asks; one of them can be ended", async (t) => {
  const { page, client } = await account("Emil");
  const phone = await page("ZulipFlutter/30.0 (Android 15)");
  const desk = await page();
  const { sessions } = (await desk.get("/sessions")).body;
  t.strictSame(
    sessions.map(({ client: program, current }: { client: string; current: boolean }) => [program, current]),
    [
      ["Firefox on Linux", true],
      ["ZulipFlutter", false],
    ],
  );
  for (const { created_at: created, last_used_at: used } of sessions) {
    t.ok(Math.abs(created - Date.now() / 1000) < 60);
    t.ok(used >= created);
  }
  t.notOk((await client.get("/sessions")).body.sessions.some(({ current }: { current: boolean }) => current));
  t.equal((await desk.delete(`/sessions/${sessions[1].id}`)).status, 200);
  t.notOk(await isLoggedIn(phone));
  t.ok(await isLoggedIn(desk));
  t.equal((await desk.delete(`/sessions/${sessions[1].id}`)).status, 404);
});

t.test("[S1] another user's session cannot be listed or ended; it is like an unknown id", async (t) => {
  const [fay, gus] = [await account("Fay"), await account("Gus")];
  const hers = await fay.page();
  const id = rows(fay.client.userId)[0]?.id ?? 0;
  for (const caller of [gus.client, owner, await gus.page()]) {
    const answer = await caller.delete(`/sessions/${id}`);
    t.strictSame(outcome(answer), outcome(await caller.delete("/sessions/987654321")));
    t.equal(answer.status, 404);
  }
  t.ok(await isLoggedIn(hers));
});

t.test("[D256] a new password ends all other sessions; API keys stay valid (behaviour 2.1)", async (t) => {
  const { page, client } = await account("Hal");
  const [here, there] = [await page(), await page()];
  const changed = await here.patch("/settings", { old_password: password, new_password: "another horse battery" });
  t.equal(changed.status, 200);
  t.ok(await isLoggedIn(here));
  t.notOk(await isLoggedIn(there));
  t.ok(await isLoggedIn(client));
  t.equal(
    (await client.patch("/settings", { old_password: "another horse battery", new_password: password })).status,
    200,
  );
  t.notOk(await isLoggedIn(here), "changed with an API key, it ends every session");
  const again = await page();
  t.equal((await again.patch("/settings", { old_password: "wrong", new_password: "x" })).status, 400);
  t.ok(await isLoggedIn(again));
});

t.test("[S2] a log-in is rejected if the password changes while it is compared", async (t) => {
  const { client } = await account("Ivy");
  const login = { fingerprint: "f", client: "c", address: "a" };
  const stale = { hash: "h", client: "c", host: "127.0.0.1", login, passwordHash: "an earlier hash" };
  const to = { actor: "user", id: client.userId } as const;
  const request = command(to, "user.session.start", stale, client.userId);
  t.match(await server.realm.dispatcher.ask(request), { kind: "refused", code: "AUTHENTICATION_FAILED" });
  t.strictSame(rows(client.userId), []);
});

t.test("[D256, D274] the sessions of a deactivated account do not count, and a reactivation ends them", async (t) => {
  const { page, client } = await account("Jon");
  const open = await page();
  t.equal((await owner.delete(`/users/${client.userId}`)).status, 200);
  t.match(outcome(await open.get("/users/me")), { status: 401, body: { code: "USER_DEACTIVATED" } });
  t.equal((await new Page(server.url).logIn(client.account?.email ?? "", password)).status, 401);
  t.equal((await owner.post(`/users/${client.userId}/reactivate`)).status, 200);
  await expects(t, open.get("/users/me"), notLoggedIn);
  t.strictSame(rows(client.userId), []);
  t.ok(await isLoggedIn(await page()), "the password opens a new one");
});

t.test("[D256] sessions appear in no event and in no stored answer", async (t) => {
  const { page } = await account("Kim");
  const changes = await owner.watchChanges();
  const open = await page();
  await open.delete("/session", {}, { "Idempotency-Key": "out" });
  t.strictSame(await changes(), []);
});

t.test("[S3] sessions_per_user_max: the session that was not used for longest ends for a new one", async (t) => {
  const { page, client } = await account("Lea");
  const first = await page();
  const login = { fingerprint: "f", client: "c", address: "a" };
  const { view, dispatcher } = server.realm;
  const { passwordHash = null } = view.row("credentials", client.userId) ?? {};
  const to = { actor: "user", id: client.userId } as const;
  const more = (name: string) =>
    dispatcher.ask(
      command(
        to,
        "user.session.start",
        { hash: hashApiKey(name), client: "c", host: "127.0.0.1", login, passwordHash },
        client.userId,
      ),
    );
  for (let count = 1; count < limits.sessions_per_user_max; count++) await more(`t${count}`);
  t.ok(await isLoggedIn(first), "at the bound");
  const timers = () => server.realm.lmdb.count("timers");
  const before = timers();
  await more("one more");
  t.notOk(await isLoggedIn(first));
  t.equal(rows(client.userId).length, limits.sessions_per_user_max);
  t.equal(timers(), before, "its timer goes with it");
});

t.test("[M1] a session survives a restart, and an ended one stays ended", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const { page } = await account("Mia", before);
  const [kept, ended] = [await page(), await page()];
  const { cookie } = ended;
  await ended.delete("/session");
  await before.stop();
  const after = await startTestServer(t, { dataDir });
  t.ok(await isLoggedIn(new Page(after.url, { cookie: kept.cookie })));
  t.notOk(await isLoggedIn(new Page(after.url, { cookie })));
});

const minuteMs = 60_000;

/** A server whose clock stands still, an account, and a log-in. */
async function timed(t: Test) {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const at = await startTestServer(t, { clock });
  const person = await account("Nora", at);
  const pass = async (milliseconds: number) => {
    clock.jump(milliseconds);
    await at.realm.dispatcher.idle();
  };
  const timers = () => at.realm.view.rows("timers", { limit: 1000 }).filter(({ row }) => isExpiry(row.command)).length;
  return { clock, at, person, pass, timers };
}

function isExpiry(due: unknown): boolean {
  return (due as { readonly type: string }).type === "user.session.expire";
}

t.test("[D256] a session that is not used ends after session_idle_ms, and its row goes", async (t) => {
  const { at, person, pass, timers } = await timed(t);
  const page = await person.page();
  await pass(limits.session_idle_ms - 1);
  t.equal(rows(person.client.userId, at).length, 1, "the last moment");
  t.equal(timers(), 1);
  await pass(1);
  t.strictSame(rows(person.client.userId, at), []);
  t.equal(timers(), 0);
  await expects(t, page.get("/users/me"), notLoggedIn);
});

t.test("[D256] a use moves the end, recorded once an hour, but not beyond session_lifetime_ms", async (t) => {
  const { clock, at, person, pass, timers } = await timed(t);
  const page = await person.page();
  const start = clock.now();
  const { userId } = person.client;
  await pass(limits.session_use_recorded_ms - 1);
  await page.get("/users/me");
  await at.realm.dispatcher.idle();
  t.equal(rows(userId, at)[0]?.lastUsedAt, start, "recorded less than an hour ago");
  await pass(1);
  await Promise.all([1, 2, 3].map(() => page.get("/users/me")));
  await until(() => rows(userId, at)[0]?.lastUsedAt === start + limits.session_use_recorded_ms);
  const step = limits.session_idle_ms - minuteMs;
  for (
    let used = start + limits.session_use_recorded_ms + step;
    used < start + limits.session_lifetime_ms;
    used += step
  ) {
    await pass(step);
    t.ok(await isLoggedIn(page), `day ${Math.round((used - start) / 86_400_000)}`);
    t.equal(timers(), 1);
  }
  await pass(start + limits.session_lifetime_ms - clock.now() - 1);
  t.equal(rows(userId, at).length, 1, "the last moment");
  await pass(1);
  t.strictSame(rows(userId, at), []);
  t.notOk(await isLoggedIn(page));
});

t.test("[D256] the session of a deactivated account ends in time, too", async (t) => {
  const { at, person, pass } = await timed(t);
  await person.page();
  await at.owner.delete(`/users/${person.client.userId}`);
  await pass(limits.session_idle_ms);
  t.strictSame(rows(person.client.userId, at), []);
});

t.test("[D256] a program has a name that its user recognizes", async (t) => {
  const names: Readonly<Record<string, string>> = {
    [firefox]: "Firefox on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":
      "Edge on Windows",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":
      "Chrome on Android",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1":
      "Safari on iOS",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":
      "Safari on macOS",
    "Mozilla/5.0": "Browser",
    "curl/8.14.1": "curl",
    "": "API",
  };
  for (const [userAgent, name] of Object.entries(names)) t.equal(programName(userAgent), name);
});
