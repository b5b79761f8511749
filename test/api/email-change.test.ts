/**
 * Changing one's email (spec 4.1 rule 2: the change takes effect after the user confirms control of the new address;
 * behaviour 2.1 step 3). PATCH /settings starts it; the link in the email confirms it.
 */
import { createHash } from "node:crypto";
import t, { type Test } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { Client, outcome, refusal, success } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { attribute, byTag, type Page, submit, visit } from "../support/join.ts";
import { MailServer, pendingMails, type Received } from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
const far = await MailServer.start(t);
const server = await startTestServer(t, { environment: { SMTP_URL: far.url, REALM_NAME: "Tea & Co" }, clock });
const { owner } = server;
const hourMs = 60 * 60 * 1000;

async function request(client: Client, email: string) {
  return outcome(await client.patch("/settings", { email }));
}

const accepted = success({ server_sends_email: true });

/** Waits until all emails are sent. Otherwise the advanced time would count as a delay of the mail server. */
function delivered(): Promise<void> {
  return until(() => pendingMails(server).length === 0);
}

/** All emails to the address. Mail servers ignore case in a domain. */
async function mailsTo(address: string): Promise<Received[]> {
  await delivered();
  const wanted = address.toLowerCase();
  return far.received.filter(({ recipients }) => recipients.some((one) => one.toLowerCase() === wanted));
}

async function linkTo(address: string): Promise<string> {
  const text = (await mailsTo(address)).at(-1)?.email.text ?? "";
  return /^http\S+$/m.exec(text)?.[0] ?? "";
}

/** Opens a link and presses the button of its page, as a user does. */
function follow(link: string): Promise<Page> {
  return submit(link, {});
}

function addressOf(client: Client): string | undefined {
  return server.realm.view.users.get(client.userId)?.email;
}

t.test("[spec 4.1, D177] the email changes when the button behind the link is pressed, not before", async (t) => {
  const ann = await server.user("ann");
  const changes = await owner.watchChanges();
  t.strictSame(await request(ann, " ann.new@example.org "), accepted);
  t.equal(addressOf(ann), "ann0@example.com");
  t.strictSame(await changes(), [], "no event before the confirmation");
  const [mail] = await mailsTo("ann.new@example.org");
  t.match(mail?.email, { subject: "Confirm your new address on Tea & Co", to: [{ name: "ann 0" }] });
  t.match(mail?.email.text, /from ann0@example\.com to ann\.new@example\.org/);
  t.equal((await mailsTo("ann0@example.com")).length, 0);

  const link = await linkTo("ann.new@example.org");
  t.ok(link.startsWith(`${server.url}/accounts/confirm_new_email/`));
  const shown = await visit(link);
  t.match(shown.text, "your account on Tea & Co changes from ann0@example.com to ann.new@example.org.");
  t.equal(addressOf(ann), "ann0@example.com", "a scanner of mails opens the link, too");
  t.strictSame(await changes(), []);
  const page = await follow(link);
  t.match(page.text, "The address of your account on Tea & Co is now ann.new@example.org.");
  for (const { status, headers, html } of [shown, page]) {
    t.equal(status, 200);
    t.match(headers.get("content-type"), "text/html; charset=utf-8");
    t.match(headers.get("content-security-policy"), "default-src 'none'");
    t.equal(headers.get("cache-control"), "no-store");
    t.notMatch(html, /<script|<link|<img|src=/);
  }

  const key = ann.account?.key ?? "";
  const renamed = new Client(server.url, { email: "ann.new@example.org", key, userId: ann.userId });
  t.equal((await renamed.get("/users/me")).body.delivery_email, "ann.new@example.org");
  t.equal((await ann.get("/users/me")).status, 401, "the old email is no longer a valid credential");
  const [notice] = await mailsTo("ann0@example.com");
  t.match(notice?.email.subject, "The address of your account on Tea & Co has changed");
  t.match(notice?.email.text, "is now ann.new@example.org");
  t.equal((await follow(link)).status, 404, "a link works once");
});

t.test("[behaviour 2.1] users who may see the email receive an event when it changes", async (t) => {
  const bea = await server.user("bea");
  const follower = await owner.follow({ event_types: ["realm_user", "message"] });
  await request(bea, "bea.new@example.org");
  await follow(await linkTo("bea.new@example.org"));
  await follower.settled();
  const people = follower.ofType("realm_user").map((event) => event.person);
  t.ok(people.some((person) => person.user_id === bea.userId && person.delivery_email === "bea.new@example.org"));
});

t.test("[behaviour 2.1] requesting the current email succeeds and sends no email", async (t) => {
  const cleo = await server.user("cleo");
  t.strictSame(await request(cleo, "cleo0@example.com\n"), accepted);
  t.equal((await mailsTo("cleo0@example.com")).length, 0);
});

t.test("[behaviour 2.1] the own email in another case is a change; another user's email is rejected", async (t) => {
  const dora = await server.user("dora");
  const gone = await server.user("gone");
  t.equal((await owner.delete(`/users/${gone.userId}`)).status, 200);
  for (const taken of ["owner@localhost", "OWNER@localhost", "gone0@example.com", "user2@colloquy.invalid"]) {
    t.strictSame(await request(dora, taken), refusal("Already has an account."), taken);
  }
  t.strictSame(await request(dora, "Dora0@Example.com"), accepted);
  t.equal((await follow(await linkTo("Dora0@Example.com"))).status, 200);
  t.equal(addressOf(dora), "Dora0@Example.com");
});

t.test("[S1] a dummy email that the server generates cannot be taken", async (t) => {
  const dummy = await server.user("dummy");
  for (const reserved of [`user${owner.userId}@colloquy.invalid`, "User99@Colloquy.invalid"]) {
    t.strictSame(await request(dummy, reserved), refusal("Already has an account."), reserved);
    t.strictSame(await mailsTo(reserved), [], "no email is stored");
  }
});

t.test('[behaviour 2.1, S3] a malformed email is rejected with "Enter a valid email address."', async (t) => {
  const emil = await server.user("emil");
  const host = "@example.org";
  const tooLong = `${"e".repeat(limits.email_code_points_max + 1 - host.length)}${host}`;
  const bad = [
    "",
    "   ",
    "nobody",
    "a b@example.org",
    "a@b\r\nBcc: x@example.org",
    "a@",
    "@b",
    "<a@example.org>",
    "a@b@c",
  ];
  for (const email of bad) {
    t.strictSame(await request(emil, email), refusal("Enter a valid email address."), JSON.stringify(email));
  }
  const over = refusal(`email is too long (limit: ${limits.email_code_points_max} characters)`);
  t.strictSame(await request(emil, tooLong), over);
  t.strictSame(await request(emil, tooLong.slice(1)), accepted, "at the limit");
});

t.test("[behaviour 2.1] a Host header that is not a plain host is rejected, and no link is sent", async (t) => {
  const finn = await server.user("finn");
  for (const host of ["evil.example.org/x?", "evil.example.org#", "a b", "user@evil.example.org"]) {
    const answer = await new HostClient(finn, host).patch("/settings", { email: "finn.new@example.org" });
    t.equal(answer.status, 400, host);
  }
  t.equal((await mailsTo("finn.new@example.org")).length, 0);
});

t.test("[spec 4.1] a newer request replaces the older one, whose link becomes invalid", async (t) => {
  const gina = await server.user("gina");
  await request(gina, "gina.one@example.org");
  const first = await linkTo("gina.one@example.org");
  clock.advance(1);
  await request(gina, "gina.two@example.org");
  const page = await follow(first);
  t.equal(page.status, 404);
  t.match(page.html, "This link is not valid");
  t.equal(addressOf(gina), "gina0@example.com");
  t.equal((await follow(await linkTo("gina.two@example.org"))).status, 200);
  t.equal(addressOf(gina), "gina.two@example.org");
});

t.test("[D261] the same address twice within email_change_repeat_ms sends one email, whose link works", async (t) => {
  const petra = await server.user("petra");
  const email = "petra.new@example.org";
  t.strictSame(await request(petra, email), accepted);
  const first = await linkTo(email);
  clock.advance(limits.email_change_repeat_ms - 1);
  t.strictSame(await request(petra, email), accepted);
  t.equal((await mailsTo(email)).length, 1);
  clock.advance(1);
  t.strictSame(await request(petra, email), accepted, "the repeat did not count toward the limit of an hour");
  t.equal((await mailsTo(email)).length, 2, "a minute later the first email may be lost");
  t.equal((await follow(first)).status, 404);
  t.equal((await follow(await linkTo(email))).status, 200);
  t.equal(addressOf(petra), email);
});

t.test("[D261] a request whose link does not count any more is not repeated but made anew", async (t) => {
  const quinn = await server.user("quinn");
  const [one, two] = ["quinn.one@example.org", "quinn.two@example.org"];
  for (const email of [one, two]) t.strictSame(await request(quinn, email), accepted);
  t.equal((await mailsTo(two)).length, 1, "another address is no repeat");
  const refused = await request(quinn, one);
  t.match(
    refused,
    { status: 429, body: { code: "RATE_LIMIT_HIT" } },
    "nor is the address before it, which has no valid link",
  );
});

t.test("[D177] GET and HEAD do not confirm the change, nor does the form of another site", async (t) => {
  const hans = await server.user("hans");
  await request(hans, "hans.new@example.org");
  const link = await linkTo("hans.new@example.org");
  for (const method of ["GET", "HEAD", "GET"]) t.equal((await visit(link, method)).status, 200, method);
  t.equal((await fetch(link, { method: "PUT" })).status, 405);
  const foreign = await fetch(link, { method: "POST", headers: { "Sec-Fetch-Site": "cross-site" } });
  t.match([foreign.status, await foreign.json()], [403, { code: "CSRF_FAILED" }]);
  t.equal(addressOf(hans), "hans0@example.com");
  const [form] = byTag(await visit(link), "form");
  t.equal(attribute(form, "method"), "post");
  t.equal(attribute(form, "action"), undefined, "it is submitted to the link itself");
  t.equal((await follow(link)).status, 200);
});

t.test("[D177] a button that is pressed twice changes the address once, and no answer says the opposite", async (t) => {
  const rosa = await server.user("rosa");
  await request(rosa, "rosa.new@example.org");
  const link = await linkTo("rosa.new@example.org");
  const pages = await Promise.all([follow(link), follow(link)]);
  t.strictSame(pages.map(({ status }) => status).sort(), [200, 404]);
  for (const { text } of pages) t.match(text, /address is confirmed/);
  t.equal(addressOf(rosa), "rosa.new@example.org");
  t.equal((await mailsTo("rosa0@example.com")).length, 1, "one email tells the old address");
});

t.test("[D257, S1] a link for a new address ends when the password is changed or reset", async (t) => {
  const password = { first: "correct horse battery", next: "a battery of horses" };
  const changing = await server.person("Sven");
  await request(changing, "sven.new@example.org");
  const first = await linkTo("sven.new@example.org");
  const change = { old_password: password.first, new_password: password.next };
  t.equal((await changing.patch("/settings", change)).status, 200);
  t.equal((await follow(first)).status, 404);

  const resetting = await server.person("Tara");
  await request(resetting, "tara.new@example.org");
  const second = await linkTo("tara.new@example.org");
  const email = resetting.account?.email ?? "";
  t.equal((await submit(`${server.url}/accounts/password/reset/`, { email })).status, 200);
  t.equal((await submit(await linkTo(email), { password: password.next })).status, 200);
  t.equal((await follow(second)).status, 404, "somebody who knew the old password may have asked for it");
  t.equal(addressOf(resetting), email);
});

t.test("[spec 4.1] a link with an unknown key leads to a page that says so", async (t) => {
  for (const key of ["", "x", "a/b", "%00", "<script>", "k".repeat(2000)]) {
    const page = await follow(`${server.url}/accounts/confirm_new_email/${key}`);
    t.equal(page.status, 404, key.slice(0, 10));
    t.match(page.html, "This link is not valid");
    t.notMatch(page.html, "<script");
  }
});

t.test("[spec 4.1] if another account has taken the email meanwhile, the page says so and all stays", async (t) => {
  const ida = await server.user("ida");
  await request(ida, "wanted0@example.com");
  await server.user("wanted");
  const page = await follow(await linkTo("wanted0@example.com"));
  t.equal(page.status, 400);
  t.match(page.html, "This address belongs to another account by now.");
  t.equal(addressOf(ida), "ida0@example.com");
});

t.test("[spec 4.20] after the user was deactivated the link does nothing", async (t) => {
  const jan = await server.user("jan");
  await request(jan, "jan.new@example.org");
  const link = await linkTo("jan.new@example.org");
  await owner.delete(`/users/${jan.userId}`);
  const page = await follow(link);
  t.equal(page.status, 404);
  t.match(page.text, "This link is not valid");
  t.equal(addressOf(jan), "jan0@example.com");
});

t.test("[spec 4.8] an earlier link does not undo an email set by an owner", async (t) => {
  const victim = await server.user("victim");
  t.strictSame(await request(victim, "intruder@example.net"), accepted);
  const link = await linkTo("intruder@example.net");
  await server.realm.dispatcher.ask(
    command({ actor: "realm" }, "user.grant-email-changes", { email: addressOf(owner) ?? "", isGranted: true }, null),
  );
  const rescued = await owner.patch(`/users/${victim.userId}`, { new_email: "rescued@example.org" });
  t.strictSame(outcome(rescued), success());
  t.equal((await follow(link)).status, 404);
  t.equal(addressOf(victim), "rescued@example.org");
});

async function requests(t: Test, client: Client, from: number, count: number): Promise<void> {
  for (let index = from; index < from + count; index++) {
    t.strictSame(await request(client, `${index}.${client.userId}@example.org`), accepted);
  }
  await delivered();
}

t.test("[behaviour 1.4, S3] email_changes_per_hour_max and _per_day_max: one more is RATE_LIMIT_HIT", async (t) => {
  const kim = await server.user("kim");
  const more = () => request(kim, "kim.more@example.org");
  const limited = (seconds: number) =>
    refusal("API usage exceeded rate limit", "RATE_LIMIT_HIT", 429, { "retry-after": seconds });
  await requests(t, kim, 0, limits.email_changes_per_hour_max);
  t.strictSame(await more(), limited(3600));
  clock.stride(hourMs - 1);
  t.strictSame(await more(), limited(0.001));
  clock.advance(1);
  await requests(t, kim, 2, limits.email_changes_per_hour_max);
  clock.stride(hourMs);
  await requests(t, kim, 4, 1);
  clock.stride(hourMs);
  t.strictSame(await more(), limited(21 * 3600), "five a day");
  t.equal((await mailsTo("kim.more@example.org")).length, 0);
  const lena = await server.user("lena");
  t.strictSame(await request(lena, "lena.new@example.org"), accepted, "every user has their own limit");
  await delivered();
  clock.stride(21 * hourMs);
  t.strictSame(await more(), accepted);
  await delivered();
});

t.test("[S3] email_change_link_ms: a link is valid for a day, and its row is deleted afterwards", async (t) => {
  const mia = await server.user("mia");
  const noa = await server.user("noa");
  await request(mia, "mia.new@example.org");
  await request(noa, "noa.new@example.org");
  await delivered();
  clock.stride(limits.email_change_link_ms - 1);
  t.equal((await follow(await linkTo("mia.new@example.org"))).status, 200, "the last moment");
  await delivered();
  clock.advance(1);
  await server.realm.dispatcher.idle();
  t.equal((await follow(await linkTo("noa.new@example.org"))).status, 404);
  t.equal(addressOf(noa), "noa0@example.com");
  const { lmdb } = server.realm;
  t.equal(lmdb.count("emailChanges"), 0);
  t.equal(lmdb.count("emailChangeRequests"), 0);
});

t.test("[S2] after the email is sent, only the SHA-256 of the link's key is stored", async (t) => {
  const olga = await server.user("olga");
  await request(olga, "olga.new@example.org");
  const key = (await linkTo("olga.new@example.org")).split("/").at(-1) ?? "";
  t.match(key, /^[A-Za-z0-9]{32}$/);
  const { view } = server.realm;
  const hash = createHash("sha256").update(key).digest("hex");
  t.match(view.row("emailChanges", hash), { userId: olga.userId, newEmail: "olga.new@example.org" });
  for (const table of ["emailChanges", "emailChangeRequests", "mails", "events", "timers", "snapshots"] as const) {
    t.notMatch(JSON.stringify(view.rows(table, { limit: 10_000 })), key, table);
  }
});

t.test("[spec 4.1] a link survives a restart", async (t) => {
  const pia = await server.user("pia");
  await request(pia, "pia.new@example.org");
  const link = await linkTo("pia.new@example.org");
  clock.release();
  await server.stop();
  const again = await startTestServer(t, { dataDir: server.dataDir, clock });
  const path = new URL(link).pathname;
  t.equal((await follow(`${again.url}${path}`)).status, 200);
  const key = pia.account?.key ?? "";
  const renamed = new Client(again.url, { email: "pia.new@example.org", key, userId: pia.userId });
  t.equal((await renamed.get("/users/me")).body.email, "pia.new@example.org");
});
