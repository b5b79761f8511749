/**
 * Joining by a reusable link where only addresses in some domains may join (D275): anybody may have the link, so an
 * email shows that the address is theirs.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { field, inviteLink, logIn, type Page, problem, submit, visit } from "../support/join.ts";
import { MailServer, outboxMails, pendingMails, type Received } from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const hourMs = 60 * 60 * 1000;
const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
const far = await MailServer.start(t);
const server = await startTestServer(t, { environment: { SMTP_URL: far.url, REALM_NAME: "Tea & Co" }, clock });
const { owner } = server;

async function restrict(at: TestServer): Promise<void> {
  await at.owner.post("/realm/domains", { domain: "tea.example", allow_subdomains: false });
  at.setRealm({ emails_restricted_to_domains: true });
}

await restrict(server);
const link = await inviteLink(owner);

async function mailsTo(address: string): Promise<Received[]> {
  await until(() => pendingMails(server).length === 0);
  return far.received.filter(({ recipients }) => recipients.includes(address));
}

async function linkTo(address: string): Promise<string> {
  const text = (await mailsTo(address)).at(-1)?.email.text ?? "";
  return /^http\S+$/m.exec(text)?.[0] ?? "";
}

const hasAccount = (email: string) => server.realm.view.users.byEmail(email) !== undefined;

const isSent = ({ status, text }: Page) => status === 200 && text.includes("Look into your mail");

t.test("[D275] the link sends a link that makes the account to an address, for this address only", async (t) => {
  const asking = await visit(link);
  t.equal(asking.status, 200);
  t.ok(field(asking, "email"));
  t.strictSame([field(asking, "password"), field(asking, "full_name")], [undefined, undefined]);
  t.ok(isSent(await submit(link, { email: " ann@tea.example " })));
  t.notOk(hasAccount("ann@tea.example"), "whoever has the reusable link does not have the address");
  const own = await linkTo("ann@tea.example");
  t.ok(own.startsWith(`${server.url}/join/`));
  const form = await visit(own);
  t.match(form.text, "ann@tea.example");
  t.equal(field(form, "email"), undefined);
  t.equal((await submit(own, { full_name: "Ann", email: "boss@tea.example" })).status, 200);
  t.notOk(hasAccount("boss@tea.example"));
  t.equal((await logIn(owner, "ann@tea.example")).status, 200);
  t.equal((await submit(own, { full_name: "Ann" })).status, 200, "a form that is sent twice says the same");
  t.equal((await submit(own, { full_name: "Ann", password: "another password" })).status, 400);
});

t.test("[D275] an address outside the domains, or none, is refused at once, and nothing is sent", async (t) => {
  const outside = await submit(link, { email: "eve@other.example" });
  t.match([outside.status, problem(outside)], [400, "Email 'eve@other.example' not allowed in this organization"]);
  t.match(problem(await submit(link, { email: "eve+1@tea.example" })), /containing \+ are not allowed/);
  for (const email of ["", "eve", "eve@tea.example\r\nBcc: x@tea.example"]) {
    t.equal(problem(await submit(link, { email })), "Enter a valid email address.", JSON.stringify(email));
  }
  const foreign = await fetch(link, {
    method: "POST",
    body: new URLSearchParams({ email: "eve@tea.example" }),
    headers: { "Sec-Fetch-Site": "cross-site" },
  });
  t.equal(foreign.status, 403);
  await until(() => pendingMails(server).length === 0);
  const found = far.received.filter(({ recipients }) => recipients.some((to) => to.startsWith("eve")));
  t.strictSame(found, []);
});

t.test("[D275] an address with an account gets no email, and the page does not say so", async (t) => {
  const taken = await server.user("ben");
  changeAddress(taken.userId, "ben@tea.example");
  t.ok(isSent(await submit(link, { email: "BEN@tea.example" })));
  t.equal((await mailsTo("BEN@tea.example")).length, 0);
});

function changeAddress(userId: number, email: string): void {
  const { view, projections } = server.realm;
  const before = view.users.get(userId);
  if (before !== undefined) projections.apply({ table: "users", key: userId, row: { ...before, email } });
}

t.test("[D275] a link to an address ends with the reusable link, and makes what that one grants then", async (t) => {
  const leaver = await server.user("inviter", 200);
  const revoked = await inviteLink(leaver);
  t.ok(isSent(await submit(revoked, { email: "cleo@tea.example" })));
  const own = await linkTo("cleo@tea.example");
  t.equal((await owner.delete(`/users/${leaver.userId}`)).status, 200);
  t.match(await submit(own, { full_name: "Cleo" }), { status: 404, text: /has been revoked/ });
  t.match(await submit(revoked, { email: "dora@tea.example" }), { status: 404, text: /has been revoked/ });
  t.notOk(hasAccount("cleo@tea.example"));
});

t.test("[D275] the decision itself takes no address that is not confirmed", async (t) => {
  server.setRealm({ emails_restricted_to_domains: false });
  const free = await visit(link);
  t.ok(field(free, "password"), "without the restriction the link makes accounts at once");
  server.setRealm({ emails_restricted_to_domains: true });
  const page = await submit(link, { full_name: "Finn", email: "finn@tea.example" });
  t.ok(isSent(page), "a form that was opened before the restriction");
  const person = { email: "finn@tea.example", fullName: "Finn", passwordHash: "none" };
  for (const confirmation of [null, "the hash of another key"]) {
    const accept = command({ actor: "invitation", id: 1 }, "invitation.accept", { ...person, confirmation }, null);
    t.match(await server.realm.dispatcher.ask(accept), { kind: "refused", code: "NOT_FOUND" });
  }
  t.notOk(hasAccount("finn@tea.example"));
});

t.test("[S3] address_confirmations_per_hour_max and _per_day_max: one more sends nothing", async (t) => {
  const email = "gus@tea.example";
  const ask = async () => {
    t.ok(isSent(await submit(link, { email })));
    const count = (await mailsTo(email)).length;
    clock.advance(limits.address_confirmation_repeat_ms);
    return count;
  };
  t.ok(isSent(await submit(link, { email })));
  await mailsTo(email);
  clock.advance(limits.address_confirmation_repeat_ms - 1);
  t.ok(isSent(await submit(link, { email })));
  t.equal((await mailsTo(email)).length, 1, "the button was pressed twice");
  clock.advance(1);
  t.equal(await ask(), limits.address_confirmations_per_hour_max);
  t.equal(await ask(), limits.address_confirmations_per_hour_max, "one more");
  let sent = limits.address_confirmations_per_hour_max;
  while (sent < limits.address_confirmations_per_day_max) {
    clock.stride(hourMs);
    t.equal(await ask(), ++sent);
  }
  clock.stride(hourMs);
  t.equal(await ask(), limits.address_confirmations_per_day_max, "one more in a day");
});

t.test("[S3] address_confirmation_ms: a link to an address is valid for a day, and its rows are deleted", async (t) => {
  t.ok(isSent(await submit(link, { email: "hal@tea.example" })));
  t.ok(isSent(await submit(link, { email: "ida@tea.example" })));
  const [last, late] = [await linkTo("hal@tea.example"), await linkTo("ida@tea.example")];
  clock.stride(limits.address_confirmation_ms - 1);
  t.equal((await submit(last, { full_name: "Hal" })).status, 200, "the last moment");
  clock.advance(1);
  await server.realm.dispatcher.idle();
  t.match(await submit(late, { full_name: "Ida" }), { status: 404, text: /not known here/ });
  const { lmdb } = server.realm;
  t.strictSame([lmdb.count("addressConfirmations"), lmdb.count("addressConfirmationRequests")], [0, 0]);
});

t.test("[S3] address_confirmations_max: one more is refused and says so", async (t) => {
  const row = { invitationId: 1, email: "x@tea.example", createdAt: clock.now() };
  const count = limits.address_confirmations_max - 1;
  server.writeMany(
    "addressConfirmations",
    Array.from({ length: count }, (_, index) => [`hash ${index}`, row] as const),
  );
  t.ok(isSent(await submit(link, { email: "jon@tea.example" })), "the last one");
  t.match(problem(await submit(link, { email: "kim@tea.example" })), /Too many people are joining/);
});

t.test("[D275, D276] without a mail server the link is in a file, the page says so, nobody joins yet", async (t) => {
  const silent = await startTestServer(t);
  await restrict(silent);
  const reusable = await inviteLink(silent.owner);
  const page = await submit(reusable, { full_name: "Lea", email: "lea@tea.example" });
  t.equal(page.status, 200);
  t.match(page.text, /This server sends no e-mails.*Ask the operator/);
  t.notMatch(page.text, /on its way/);
  t.equal(silent.realm.view.users.byEmail("lea@tea.example"), undefined);
  const [mail] = await outboxMails(silent.dataDir, 1);
  const own = /^http\S+$/m.exec(mail?.email.text ?? "")?.[0] ?? "";
  t.equal((await submit(own, { full_name: "Lea" })).status, 200);
  t.equal((await logIn(silent.owner, "lea@tea.example")).status, 200);
});
