/**
 * Links in emails that switch such emails off (D258, RFC 8058): which emails have one, what a mail program does with its
 * headers, what a person sees who follows it, and what a wrong link is worth.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import { unsubscribeUrl } from "../../src/app/open-realms.ts";
import { MailRelay } from "../../src/outbound/mail/mail-relay.ts";
import { MailSender } from "../../src/outbound/mail/mail-sender.ts";
import type { Client } from "../support/client.ts";
import { attribute, byTag, field, type Page, submit, visit } from "../support/join.ts";
import { logIn, MailServer, pendingMails, type Received } from "../support/mail.ts";
import { did, startMissed } from "../support/missed-messages.ts";
import { until } from "../support/realtime.ts";
import { openNewRealm, ownerId } from "../support/runtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const oneClick = "List-Unsubscribe=One-Click";

function header(mail: Received | undefined, name: string): string | undefined {
  return mail?.email.headers.find(({ key }) => key === name)?.value;
}

/** The link of an email, on the server of the test. */
function linkOf(mail: Received | undefined, server: TestServer): string {
  const [, link = ""] = /^<(https?:\/\/[^>\s]+)>$/.exec(header(mail, "list-unsubscribe") ?? "") ?? [];
  return `${server.url}${new URL(link).pathname}`;
}

/** As a mail service does it: neither cookie nor Referer, and no redirect. */
async function click(link: string, type = "application/x-www-form-urlencoded") {
  const answer = await fetch(link, {
    method: "POST",
    body: oneClick,
    headers: { "Content-Type": type },
    redirect: "error",
  });
  return { status: answer.status, text: await answer.text() };
}

async function settings(client: Client): Promise<Record<string, boolean>> {
  const { body } = await client.post("/register", { event_types: ["user_settings"] });
  const names = Object.keys(body.user_settings).filter((name) =>
    /enable_(?:\w+_email_notifications|login_emails)/.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, body.user_settings[name]]));
}

const missedSettings = [
  "enable_offline_email_notifications",
  "enable_followed_topic_email_notifications",
  "enable_stream_email_notifications",
];

function isGone(page: Page): boolean {
  return page.status === 404 && /This link is not valid/.test(page.text);
}

t.test("[D258] an email about missed messages has the headers of RFC 8058 and a visible link", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  await direct("one", bob);
  const [mail] = await due();
  const link = header(mail, "list-unsubscribe") ?? "";
  t.match(link, /^<https:\/\/chat\.example\.org\/accounts\/unsubscribe\/missed_messages\/\d+-[\w-]{43}>$/);
  t.equal(header(mail, "list-unsubscribe-post"), oneClick);
  const url = link.slice(1, -1);
  t.ok(mail?.email.text?.trimEnd().endsWith(`\nUnsubscribe from emails like this: ${url}`));
  t.match(mail?.email.html, `<a href="${url}">Unsubscribe from emails like this</a>`);

  await did(bob.patch("/settings", { message_content_in_email_notifications: false }));
  await direct("two", bob);
  const [hidden] = await due();
  t.equal(linkOf(hidden, server), linkOf(mail, server), "all emails of the kind have the same link");
});

t.test("[D258] an email about a login has a link of its own kind; emails without a switch have none", async (t) => {
  const far = await MailServer.start(t);
  const server = await startTestServer(t, { environment: { SMTP_URL: far.url } });
  const ann = await server.person("Ann");
  const before = await settings(ann);
  await logIn(server, ann.userId, "there");
  const link = linkOf(await far.mail(1), server);
  t.match(link, /\/accounts\/unsubscribe\/login\/\d+-[\w-]{43}$/);
  t.equal((await click(link)).status, 200);
  t.strictSame(await settings(ann), { ...before, enable_login_emails: false });
  await logIn(server, ann.userId, "elsewhere");
  t.strictSame(pendingMails(server), [], "no more of them");

  t.equal((await submit(`${server.url}/accounts/password/reset/`, { email: ann.account?.email ?? "" })).status, 200);
  await did(server.owner.post("/invites", { invitee_emails: "new@example.com", stream_ids: "[]" }));
  await did(ann.patch("/settings", { email: "ann.new@example.com" }));
  // Her deactivation takes emails back that wait.
  await far.mail(4);
  await did(server.owner.delete(`/users/${ann.userId}`, { deactivation_notification_comment: "Bye" }));
  for (const number of [2, 3, 4, 5]) {
    const mail = await far.mail(number);
    t.equal(header(mail, "list-unsubscribe"), undefined, mail.email.subject ?? "");
    t.notMatch(mail.raw, /unsubscribe/i);
  }
});

t.test("[D258] one click switches all emails about messages off, as events tell; a second one says so", async (t) => {
  const { server, bob, direct, say, due, mails } = await startMissed(t);
  const kitchen = await server.owner.createChannel("kitchen", [bob]);
  await did(bob.patch("/settings", { enable_stream_email_notifications: true }));
  const own = [{ stream_id: kitchen, property: "email_notifications", value: true }];
  await did(bob.post("/users/me/subscriptions/properties", { subscription_data: own }));
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  const queue = await bob.openQueue(["user_settings", "subscription"]);
  const clicked = await click(link);
  t.equal(clicked.status, 200);
  t.match(clicked.text, "You are unsubscribed");
  const after = await settings(bob);
  for (const name of missedSettings) t.equal(after[name], false, name);
  t.equal(after["enable_login_emails"], true, "other kinds stay");
  const events = await bob.readNow(queue);
  const found = events.map(({ property, value }) => [property, value]);
  t.strictSame(found, [...missedSettings.map((name) => [name, false]), ["email_notifications", false]]);
  t.match(events.at(-1), { type: "subscription", op: "update", stream_id: kitchen });

  const turn = server.realm.view.position;
  for (const again of [await click(link), await click(link, "text/plain")]) {
    t.equal(again.status, 200);
    t.match(again.text, "You were unsubscribed already");
  }
  t.match((await visit(link)).text, "You were unsubscribed already");
  t.equal(server.realm.view.position, turn, "nothing is written again");

  await direct("two", bob);
  await say(kitchen, "lunch", "three", server.owner);
  t.strictSame(await due(), []);
  await did(bob.patch("/settings", { enable_offline_email_notifications: true }));
  await direct("four", bob);
  const [later] = await due();
  t.equal(linkOf(later, server), link, "a user who wants them again can use the link again");
  t.match((await click(link)).text, "You are unsubscribed");
  t.strictSame(await mails(), []);
});

t.test("[D258] viewing the page changes nothing; its button works without a script", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  const before = await settings(bob);
  const page = await visit(link);
  t.equal(page.status, 200);
  t.match(page.text, `no more emails about messages`);
  t.equal(attribute(byTag(page, "form")[0], "method"), "post");
  t.equal(attribute(byTag(page, "form")[0], "action"), undefined, "to its own address");
  const pair = `${attribute(field(page, "List-Unsubscribe"), "name")}=${attribute(field(page, "List-Unsubscribe"), "value")}`;
  t.equal(pair, oneClick);
  t.equal((await visit(link, "HEAD")).status, 200);
  t.notMatch(page.html, /<script|<link|<img|src=/);
  t.match(page.headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors 'none'/);
  t.equal(page.headers.get("cache-control"), "no-store");
  t.notMatch(page.html, link.split("/").at(-1), "the signature is in the address only");
  t.strictSame(await settings(bob), before);
  const multipart = new FormData();
  multipart.set("List-Unsubscribe", "One-Click");
  t.equal((await fetch(link, { method: "POST", body: multipart })).status, 200, "RFC 8058 allows multipart, too");
  t.equal((await settings(bob))["enable_offline_email_notifications"], false);
});

t.test("[D258] a wrong link is answered with a page, and nothing is written", async (t) => {
  const { server, ann, bob, direct, due } = await startMissed(t);
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  const [before, turn] = [await settings(bob), server.realm.view.position];
  const flipped = link.slice(0, -10) + (link.at(-10) === "A" ? "B" : "A") + link.slice(-9);
  for (const wrong of [
    flipped,
    link.slice(0, -1),
    `${link}x`,
    `${link}/x`,
    link.replace("missed_messages", "login"),
    link.replace("missed_messages", "toString"),
    link.replace(`/${bob.userId}-`, `/${ann.userId}-`),
    link.replace(`/${bob.userId}-`, "/999-"),
    link.replace(`/${bob.userId}-`, `/${"9".repeat(15)}-`),
    `${server.url}/accounts/unsubscribe/`,
    `${server.url}/accounts/unsubscribe/missed_messages/${"a".repeat(200)}`,
  ]) {
    t.ok(isGone(await visit(wrong)), wrong);
    t.ok(isGone(await submit(wrong, {})), wrong);
  }
  t.equal((await fetch(`${link}%zz`, { method: "POST" })).status, 400);
  t.equal((await fetch(link, { method: "PUT" })).status, 405);
  const large = await fetch(link, { method: "POST", body: "x".repeat(limits.body_bytes_max + 1) });
  t.equal(large.status, 413);
  t.strictSame([await settings(bob), server.realm.view.position], [before, turn]);
});

t.test("[D258] a link is worth nothing while the account is deactivated, or its address has changed", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  await did(server.owner.delete(`/users/${bob.userId}`));
  t.ok(isGone(await submit(link, {})));
  await server.reactivate(server.owner, bob);
  t.equal((await visit(link)).status, 200);
  const { view, projections } = server.realm;
  const row = view.users.get(bob.userId);
  if (row === undefined) throw new Error("nobody");
  projections.apply({ table: "users", key: bob.userId, row: { ...row, email: "bob.new@example.com" } });
  t.ok(isGone(await visit(link)), "it was sent to an address that is no longer the account's");
  t.ok(isGone(await submit(link, {})));
});

t.test("[S3] unsubscribed_channels_per_command_max: further channels are left to further commands", async (t) => {
  const { server, bob, direct, due } = await startMissed(t);
  const count = limits.unsubscribed_channels_per_command_max + 1;
  const names = Array.from({ length: count }, (_, index) => ({ name: `channel ${index}` }));
  for (let at = 0; at < count; at += limits.channels_created_per_request_max) {
    const subscriptions = names.slice(at, at + limits.channels_created_per_request_max);
    await did(bob.post("/users/me/subscriptions", { subscriptions }));
  }
  const own = [...server.realm.view.subscriptions.ofUser(bob.userId)].map(({ channelId }) => {
    return { stream_id: channelId, property: "email_notifications", value: true };
  });
  await did(bob.post("/users/me/subscriptions/properties", { subscription_data: own }));
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  t.equal((await click(link)).status, 200);
  await server.realm.dispatcher.idle();
  const { body } = await bob.get("/users/me/subscriptions");
  const wanted = body.subscriptions.filter((one: { email_notifications: unknown }) => one.email_notifications === true);
  t.strictSame([body.subscriptions.length >= count, wanted], [true, []]);
});

t.test("[M1, S2] a link outlives a restart; it has no key in it, logs and events lack the secret", async (t) => {
  const { server, clock, bob, direct, due } = await startMissed(t);
  await direct("one", bob);
  const link = linkOf((await due())[0], server);
  const { view } = server.realm;
  const secret = view.row("linkSecrets", "unsubscribe")?.secret ?? "";
  t.match(secret, /^[\w-]{43}$/, "256 random bits");
  for (const table of ["mails", "deadMails", "events", "timers", "snapshots", "mailbox"] as const) {
    t.notMatch(JSON.stringify(view.rows(table, { limit: 10_000 })), secret, table);
  }
  t.notMatch(link, bob.account?.key ?? "none");
  clock.release();
  await server.stop();
  const again = await startTestServer(t, { dataDir: server.dataDir, clock });
  t.match((await click(`${again.url}${new URL(link).pathname}`)).text, "You are unsubscribed");
});

t.test("[M5] an email that needs a secret is retried while the disk is full", async (t) => {
  let isFull = false;
  const bench = await openNewRealm(t, { acceptsWrites: () => !isFull });
  const links = { template: "new-login", to: "owner@localhost" } as MailRecord;
  isFull = true;
  await t.rejects(unsubscribeUrl(bench.realm, links, "https://x.org"), /cannot be stored/);
  isFull = false;
  const url = await unsubscribeUrl(bench.realm, links, "https://x.org");
  t.match(url, /^https:\/\/x\.org\/accounts\/unsubscribe\/login\//);
  t.equal(await unsubscribeUrl(bench.realm, links, "https://x.org"), url, "the secret is made once");
  const failing = new MailSender({ transport: noTransport, sender, clock: bench.clock, log: quiet });
  new MailRelay(bench.realm, 7, failing, { site: () => "", unsubscribeUrl: () => Promise.reject(new Error("full")) });
  const params = { newEmail: "new@example.com", keyHash: "k", link: "http://localhost/x" };
  await bench.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", params, ownerId));
  await until(() => bench.realm.view.row("mails", 1)?.attempts === 1);
  t.pass("it is due again later, and was not sent without its link");
});

const sender = { name: null, address: "chat@example.org" };
const quiet = { warn: () => undefined, error: () => undefined };
const noTransport = { send: () => Promise.reject(new Error("sent")), close: async () => undefined };

t.test("[D28, D258] guesses are limited per address, like anonymous calls", async (t) => {
  const limited = await startTestServer(t, { environment: { RATE_LIMITS: "anonymous=3/60" } });
  const guess = `${limited.url}/accounts/unsubscribe/login/1-${"a".repeat(43)}`;
  for (const expected of [404, 404, 404, 429]) t.equal((await submit(guess, {})).status, expected);
  t.match((await visit(guess)).headers.get("retry-after"), /^\d+$/);
});
