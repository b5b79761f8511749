/**
 * A forgotten password (D257): the page that sends a link, the page behind the link, over HTTP as a browser sees them;
 * what the link is worth, when it ends, and what ends with the old password.
 */
import { createHash } from "node:crypto";
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { Client } from "../support/client.ts";
import { attribute, byTag, field, logIn, type Page, problem, submit, visit } from "../support/join.ts";
import { MailServer, pendingMails, type Received } from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { Page as BrowserPage } from "../support/page.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
const far = await MailServer.start(t);
const server = await startTestServer(t, { environment: { SMTP_URL: far.url, REALM_NAME: "Tea & Co" }, clock });
const { owner } = server;
const prefix = "/accounts/password/reset/";
const asking = `${server.url}${prefix}`;
const hourMs = 60 * 60 * 1000;
/** The password that `server.person` sets. */
const first = "correct horse battery";
const next = "a battery of horses";

const emailOf = (client: Client): string => client.account?.email ?? "";

async function mailsTo(address: string): Promise<Received[]> {
  await until(() => pendingMails(server).length === 0);
  return far.received.filter(({ recipients }) => recipients.includes(address));
}

async function linksTo(address: string): Promise<string[]> {
  const texts = (await mailsTo(address)).map(({ email }) => /^http\S+$/m.exec(email.text ?? "")?.[0]);
  return texts.filter((link) => link !== undefined);
}

/**
 * A minute later, so that it is no repetition of the request before. No email is on its way in this minute: its
 * delivery would have taken too long.
 */
async function linkFor(client: Client): Promise<string> {
  await until(() => pendingMails(server).length === 0);
  clock.advance(limits.password_reset_repeat_ms);
  const page = await submit(asking, { email: emailOf(client) });
  if (page.status !== 200) throw new Error(`not asked: ${page.text}`);
  return (await linksTo(emailOf(client))).at(-1) ?? "";
}

/** As the command line does it. */
async function operatorsLink(client: Client, key: string): Promise<string> {
  const keyHash = createHash("sha256").update(key).digest("hex");
  const params = { email: emailOf(client), keyHash };
  const made = await server.realm.dispatcher.ask(command({ actor: "realm" }, "password.reset-link", params, null));
  t.equal(made.kind, "ok");
  return `${asking}${key}`;
}

/** Whether somebody can log in with these passwords. */
async function opens(client: Client, ...passwords: readonly string[]): Promise<boolean[]> {
  const found: boolean[] = [];
  for (const password of passwords) found.push((await logIn(client, emailOf(client), password)).status === 200);
  return found;
}

function isGone(page: Page): boolean {
  return page.status === 404 && /not valid/.test(page.text);
}

t.test("[D257] a user who forgot the password gets a link by email, and sets another one with it, once", async (t) => {
  const ann = await server.person("Ann");
  const form = await visit(asking);
  t.equal(form.status, 200);
  t.equal(attribute(field(form, "email"), "autocomplete"), "username");
  const answer = await submit(asking, { email: ` ${emailOf(ann)} ` });
  t.equal(answer.status, 200);
  t.match(answer.text, "If");
  const [mail] = await mailsTo(emailOf(ann));
  t.equal(mail?.email.subject, "Set a new password on Tea & Co");
  const link = (await linksTo(emailOf(ann)))[0] ?? "";
  t.match(link, new RegExp(`^${asking}[A-Za-z0-9]{32}$`), "190 random bits");
  t.strictSame(await opens(ann, first), [true], "nothing has changed yet");

  const page = await visit(link);
  t.equal(page.status, 200);
  t.match(page.text, `For the account ${emailOf(ann)} on Tea & Co.`);
  t.equal(attribute(field(page, "password"), "autocomplete"), "new-password");
  t.equal((await visit(link, "HEAD")).status, 200, "viewing changes nothing");
  const set = await submit(link, { password: next });
  t.equal(set.status, 200);
  t.match(set.text, "Your password is set");
  t.strictSame(await opens(ann, first, next), [false, true]);
  t.equal((await mailsTo(emailOf(ann))).at(-1)?.email.subject, "Your password on Tea & Co has been changed");
  for (const again of [await visit(link), await submit(link, { password: "another password" })]) t.ok(isGone(again));
  t.strictSame(await opens(ann, next), [true], "a link works once");
});

t.test("[S2] the pages name no secret to others: no referrer elsewhere, no cache, no script, no asset", async (t) => {
  const link = await linkFor(await server.person("Heads"));
  for (const page of [await visit(asking), await visit(link), await visit(`${link}x`)]) {
    t.match(page.headers.get("referrer-policy"), /^(?:no-referrer|same-origin)$/);
    t.equal(page.headers.get("cache-control"), "no-store");
    t.match(page.headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
    t.notMatch(page.html, /<script|<link|<img|src=/);
    t.notMatch(page.html, link.split("/").at(-1), "the key is in the address only");
    t.equal(attribute(byTag(page, "html")[0], "lang"), "en");
  }
});

t.test("[D257] the answer does not depend on whether there is an account", async (t) => {
  const bob = await server.person("Bob");
  const gone = await server.person("Gone");
  t.equal((await owner.delete(`/users/${gone.userId}`)).status, 200);
  const { email: botAddress } = server.realm.view.users.get(1) ?? { email: "" };
  const turnOf = () => server.realm.view.counter("passwordReset");
  const before = far.received.length;
  for (const address of ["nobody@example.com", emailOf(gone), botAddress, emailOf(bob)]) {
    const counted = turnOf();
    const page = await submit(asking, { email: address });
    t.equal(page.status, 200, address);
    t.equal(
      page.text.replaceAll(address, "it"),
      (await submit(asking, { email: "x@y.org" })).text.replaceAll("x@y.org", "it"),
    );
    t.equal(turnOf(), counted + 2, "each of them writes, so none is faster");
  }
  t.equal((await mailsTo(emailOf(bob))).length, 1);
  t.equal(far.received.length, before + 1, "nobody else gets an email");
});

t.test("[S3] password_resets_per_hour_max, password_resets_per_day_max: further emails are not sent", async (t) => {
  const cleo = await server.person("Cleo");
  for (let count = 0; count <= limits.password_resets_per_day_max; count++)
    await operatorsLink(cleo, `operator ${count}`);
  for (let hour = 0; hour < 4; hour++) {
    for (let count = 0; count <= limits.password_resets_per_hour_max; count++) {
      t.equal((await submit(asking, { email: emailOf(cleo) })).status, 200, "the answer stays the same");
      await mailsTo(emailOf(cleo));
      clock.advance(limits.password_reset_repeat_ms);
    }
    const sent = Math.min((hour + 1) * limits.password_resets_per_hour_max, limits.password_resets_per_day_max);
    t.equal((await mailsTo(emailOf(cleo))).length, sent);
    clock.advance(hourMs);
  }
  clock.advance(24 * hourMs);
  await server.realm.dispatcher.idle();
  t.equal((await submit(asking, { email: emailOf(cleo) })).status, 200);
  t.equal((await mailsTo(emailOf(cleo))).length, limits.password_resets_per_day_max + 1);
});

t.test("[D257, S3] password_reset_repeat_ms: a button that is pressed twice sends one email", async (t) => {
  const zoe = await server.person("Zoe");
  const ask = () => submit(asking, { email: emailOf(zoe) });
  const both = await Promise.all([ask(), ask()]);
  const found = both.map(({ status }) => status);
  t.strictSame(found, [200, 200]);
  await mailsTo(emailOf(zoe));
  clock.advance(limits.password_reset_repeat_ms - 1);
  t.equal((await ask()).status, 200);
  const [link = "", ...others] = await linksTo(emailOf(zoe));
  t.strictSame(others, []);
  t.equal((await visit(link)).status, 200, "and its link is valid");
  clock.advance(1);
  await ask();
  t.equal((await linksTo(emailOf(zoe))).length, 2, "a minute later it is another request");

  const yan = await server.person("Yan");
  const used = await linkFor(yan);
  t.equal((await submit(used, { password: next })).status, 200);
  await ask();
  await submit(asking, { email: emailOf(yan) });
  t.equal((await linksTo(emailOf(yan))).length, 2, "a link that was used does not stand in the way of the next one");
});

t.test("[D257] a newer link replaces an older one, whoever made it", async (t) => {
  const dora = await server.person("Dora");
  const old = await linkFor(dora);
  const newer = await linkFor(dora);
  t.ok(isGone(await visit(old)));
  const given = await operatorsLink(dora, "k".repeat(32));
  t.ok(isGone(await submit(newer, { password: next })));
  const another = await operatorsLink(dora, "m".repeat(32));
  t.ok(isGone(await submit(given, { password: next })), "of operators, too");
  t.equal((await submit(`${another}/`, { password: next })).status, 200, "with a slash, too");
  t.strictSame(await opens(dora, first, next), [false, true]);
});

t.test("[D257] a link ends with a change of the password or the address, or a deactivation", async (t) => {
  const eve = await server.person("Eve");
  const changing = await linkFor(eve);
  t.equal((await eve.patch("/settings", { old_password: first, new_password: next })).status, 200);
  t.ok(isGone(await submit(changing, { password: "another password" })));
  t.strictSame(await opens(eve, next), [true]);

  const fay = await server.person("Fay");
  const leaving = await linkFor(fay);
  t.equal((await owner.delete(`/users/${fay.userId}`)).status, 200);
  t.ok(isGone(await submit(leaving, { password: next })));
  t.equal((await owner.post(`/users/${fay.userId}/reactivate`)).status, 200);
  t.ok(isGone(await submit(leaving, { password: next })), "for good");

  const gus = await server.person("Gus");
  const moving = await linkFor(gus);
  const { view, projections } = server.realm;
  const before = view.users.get(gus.userId);
  t.ok(before);
  if (before !== undefined)
    projections.apply({ table: "users", key: gus.userId, row: { ...before, email: "gus.new@example.com" } });
  t.ok(isGone(await visit(moving)), "it was sent to an address that is no longer the account's");
});

t.test("[S3] password_reset_link_ms: a link is valid for a day, and its rows are deleted afterwards", async (t) => {
  const [hal, ida] = [await server.person("Hal"), await server.person("Ida")];
  // Both are asked for in the same moment.
  const [last, late] = await Promise.all([linkFor(hal), linkFor(ida)]);
  await operatorsLink(await server.person("Uma"), "o".repeat(32));
  clock.stride(limits.password_reset_link_ms - 1);
  t.equal((await submit(last, { password: next })).status, 200, "the last moment");
  await mailsTo(emailOf(hal));
  clock.advance(1);
  await server.realm.dispatcher.idle();
  t.ok(isGone(await submit(late, { password: next })));
  const { lmdb } = server.realm;
  const tables = ["passwordResets", "passwordResetRequests", "operatorResets"] as const;
  const found = tables.map((table) => lmdb.count(table));
  t.strictSame(found, [0, 0, 0]);
});

t.test("[D257] a reset ends all sessions and the keys of logins; keys that were written down stay", async (t) => {
  const joe = await server.person("Joe");
  const { body: kept } = await joe.post("/users/me/api_key/regenerate");
  const written = new Client(server.url, { email: emailOf(joe), key: kept.api_key, userId: joe.userId });
  const { body: login } = await logIn(joe, emailOf(joe), first);
  const loggedIn = new Client(server.url, { email: emailOf(joe), key: login.api_key, userId: joe.userId });
  const browser = new BrowserPage(server.url);
  t.equal((await browser.logIn(emailOf(joe), first)).status, 200);
  const statuses = async () => [
    (await browser.get("/users/me")).status,
    (await loggedIn.get("/users/me")).status,
    (await written.get("/users/me")).status,
  ];
  t.strictSame(await statuses(), [200, 200, 200]);
  t.equal((await submit(await linkFor(joe), { password: next })).status, 200);
  t.strictSame(await statuses(), [401, 401, 200]);
});

t.test("[D257] a password has the bounds that it has elsewhere; a rejected one leaves the link valid", async (t) => {
  const kim = await server.person("Kim");
  const link = await linkFor(kim);
  const shortest = "🔑".repeat(limits.password_code_points_min);
  for (const [password, why] of [
    ["", /too weak/],
    ["🔑".repeat(limits.password_code_points_min - 1), /too weak/],
    ["p".repeat(limits.password_bytes_max + 1), /too long/],
  ] as const) {
    const page = await submit(link, { password });
    t.equal(page.status, 400);
    t.match(problem(page), why);
  }
  t.equal((await submit(link, { password: shortest })).status, 200);
  t.strictSame(await opens(kim, shortest), [true]);
});

t.test("[S3] bad input is answered with a page, and nothing is written", async (t) => {
  const written = server.realm.view.counter("passwordReset");
  for (const email of [
    "",
    "nobody",
    "a@b\r\nBcc: c@d.org",
    `${"a".repeat(limits.email_code_points_max)}@example.org`,
  ]) {
    const page = await submit(asking, { email });
    t.equal(page.status, 400);
    t.equal(problem(page), "Enter a valid e-mail address.");
  }
  t.match((await submit(asking, { email: '"><b>@x' })).html, /&quot;&gt;&lt;b&gt;@x/, "escaped");
  for (const [body, type] of [
    ["{", "application/json"],
    ["email=%zz", "application/x-www-form-urlencoded"],
  ] as const) {
    const answer = await fetch(asking, { method: "POST", body, headers: { "Content-Type": type } });
    t.equal(answer.status, 400, body);
    t.match(answer.headers.get("content-type"), "text/html");
  }
  t.ok(isGone(await submit(`${asking}unknown`, { password: next })));
  t.equal((await fetch(asking, { method: "PUT" })).status, 405);
  t.equal(server.realm.view.counter("passwordReset"), written);
});

t.test("[S1] a page of another site can neither ask for emails nor set a password", async (t) => {
  const lea = await server.person("Lea");
  const link = await linkFor(lea);
  for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { Origin: "https://evil.example" }] as const) {
    for (const address of [asking, link]) {
      const body = new URLSearchParams({ email: emailOf(lea), password: next });
      const refused = await fetch(address, { method: "POST", body, headers: headers as Record<string, string> });
      t.equal(refused.status, 403);
    }
  }
  t.equal((await mailsTo(emailOf(lea))).length, 1);
  t.equal((await visit(link)).status, 200);
});

t.test("[S2] after the email is sent, only the SHA-256 of the link's key is stored", async (t) => {
  const mia = await server.person("Mia");
  const key = (await linkFor(mia)).split("/").at(-1) ?? "";
  t.match(key, /^[A-Za-z0-9]{32}$/);
  await mailsTo(emailOf(mia));
  const { view } = server.realm;
  const hash = createHash("sha256").update(key).digest("hex");
  t.match(view.row("passwordResets", hash), { userId: mia.userId });
  for (const table of ["passwordResets", "passwordResetRequests", "mails", "events", "timers", "snapshots"] as const) {
    t.notMatch(JSON.stringify(view.rows(table, { limit: 10_000 })), key, table);
  }
});

t.test("[D28, D257] requests are limited like failed logins, per address, all like anonymous calls", async (t) => {
  const limited = await startTestServer(t, { environment: { RATE_LIMITS: "login=2/3600,anonymous=5/3600" } });
  const address = `${limited.url}${prefix}`;
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) statuses.push((await submit(address, { email: `a${count}@b.org` })).status);
  t.strictSame(statuses, [200, 200, 429]);
  for (const expected of [404, 404, 429]) t.equal((await visit(`${address}guess`)).status, expected);
  t.match((await visit(address)).headers.get("retry-after"), /^\d+$/);
});

t.test("[M1] a link survives a restart", async (t) => {
  const nat = await server.user("nat");
  const link = await linkFor(nat);
  clock.release();
  await server.stop();
  const again = await startTestServer(t, { dataDir: server.dataDir, clock });
  t.equal((await submit(`${again.url}${new URL(link).pathname}`, { password: next })).status, 200);
});
