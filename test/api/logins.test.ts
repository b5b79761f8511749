/**
 * Emails about logins (D31, D176; behaviour 11): a successful POST /fetch_api_key sends one for a new program or place,
 * except for the first login and for users who disabled them. Only hashes of places are stored.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { loginFrom } from "../../src/operations/identity/sessions.ts";
import { Client } from "../support/client.ts";
import { logIn, MailServer, pendingMails } from "../support/mail.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const password = "a very own password";
const far = await MailServer.start(t);
const server = await startTestServer(t, { environment: { SMTP_URL: far.url, REALM_NAME: "Tea" } });
const { owner } = server;

/**
 * Creates an account. @returns a function that logs in with a program, waits until no email is pending, and returns the
 * number of emails so far
 */
async function account(name: string) {
  const email = `${name}@example.com`;
  const made = await owner.post("/users", { email, password, full_name: name });
  let key = "";
  const logInWith = async (program: string, tried = password) => {
    const headers = { "User-Agent": `${program}/1.0 (x)` };
    const answer = await owner.anonymous().post("/fetch_api_key", { username: email, password: tried }, headers);
    await until(() => pendingMails(server).length === 0);
    key = answer.body.api_key ?? key;
    return answer.status;
  };
  const userId = made.body.user_id as number;
  const wantMails = (isOn: boolean) =>
    new Client(server.url, { email, key, userId }).patch("/settings", { enable_login_emails: isOn });
  return { userId, email, logInWith, wantMails };
}

/** Number of emails to an address. */
function mailsTo(email: string): number {
  return far.received.filter(({ recipients }) => recipients.includes(email)).length;
}

t.test("[D31] a login with a new program sends an email; the first login and a known program do not", async (t) => {
  const { email, logInWith } = await account("ann");
  t.equal(await logInWith("First"), 200);
  t.equal(mailsTo(email), 0);
  t.equal(await logInWith("First"), 200);
  t.equal(mailsTo(email), 0);
  t.equal(await logInWith("Second"), 200);
  t.equal(mailsTo(email), 1);
  const mail = far.received.find(({ recipients }) => recipients.includes(email))?.email;
  t.equal(mail?.subject, "New login to Tea from Second");
  t.match(
    mail?.text,
    /Hello ann,[\s\S]*account ann@example\.com[\s\S]*Time: \w+[\s\S]*Program: Second\nAddress: 127\.0\.0\.1/,
  );
  t.equal(await logInWith("Second"), 200);
  t.equal(await logInWith("First"), 200);
  t.equal(mailsTo(email), 1);
});

t.test("[D31] a wrong password does not count as a login", async (t) => {
  const { email, logInWith } = await account("ben");
  await logInWith("First");
  t.equal(await logInWith("Second", "not the password"), 401);
  t.equal(mailsTo(email), 0);
  t.equal(await logInWith("Second"), 200);
  t.equal(mailsTo(email), 1, "and did not record the program");
});

t.test("[spec 2.3] enable_login_emails=false sends no emails; enabled again, new programs send them", async (t) => {
  const { email, logInWith, wantMails } = await account("cleo");
  await logInWith("First");
  t.equal((await wantMails(false)).status, 200);
  await logInWith("Second");
  t.equal(mailsTo(email), 0);
  await wantMails(true);
  await logInWith("Second");
  t.equal(mailsTo(email), 0, "it was recorded meanwhile");
  await logInWith("Third");
  t.equal(mailsTo(email), 1);
});

t.test("[S2] only hashes of programs and places are stored", async (t) => {
  const rows = server.realm.view.rows("logins", { limit: 100 });
  t.ok(rows.length > 5);
  t.notMatch(JSON.stringify(rows), /First|Second|127\.0/);
  for (const { key } of rows) t.match(key[1], /^[\w-]{43}$/);
});

async function knownPlaces(t: Test, userId: number): Promise<string[]> {
  const keys = server.realm.view.keys("logins", { start: [userId], end: [userId + 1], limit: 1000 });
  t.ok(keys.length <= limits.logins_per_user_max);
  return keys.map(([, fingerprint]) => fingerprint);
}

t.test("[S3] logins_per_user_max: the place of the user that was not seen for longest is evicted", async (t) => {
  const { userId } = await account("dora");
  const other = await account("emil");
  server.setUser(userId, { enable_login_emails: false });
  await logIn(server, other.userId, "theirs");
  const at = (index: number) => `place ${String(index).padStart(4, "0")}`;
  // The first place is used again after all others. They may share a millisecond, so time must pass for it not to be
  // evicted.
  for (let index = 0; index < limits.logins_per_user_max; index++) await logIn(server, userId, at(index));
  t.equal((await knownPlaces(t, userId)).length, limits.logins_per_user_max);
  const { now } = server.realm.view;
  await until(() => server.realm.view.now > now);
  await logIn(server, userId, at(0));
  await logIn(server, userId, "one more");
  const known = await knownPlaces(t, userId);
  t.equal(known.length, limits.logins_per_user_max);
  t.ok(known.includes(at(0)), "seen just now");
  t.ok(known.includes("one more"));
  t.strictSame(await knownPlaces(t, other.userId), ["theirs"]);
});

t.test("[D31] a place is coarse: a /24 of IPv4 or a /48 of IPv6; a program is its product name", async (t) => {
  const same = (a: string, b: string) =>
    t.equal(loginFrom("P", a).fingerprint, loginFrom("P", b).fingerprint, `${a} ${b}`);
  const differs = (a: string, b: string) =>
    t.not(loginFrom("P", a).fingerprint, loginFrom("P", b).fingerprint, `${a} ${b}`);
  same("192.0.2.1", "192.0.2.254");
  differs("192.0.2.1", "192.0.3.1");
  same("192.0.2.1", "0000:0000:0000:0000:0000:ffff:c000:0207");
  same("2001:0db8:0001:0000:0000:0000:0000:0001", "2001:0db8:0001:ffff:0000:0000:0000:0002");
  differs("2001:0db8:0001:0000:0000:0000:0000:0001", "2001:0db8:0002:0000:0000:0000:0000:0001");
  t.not(loginFrom("P", "192.0.2.1").fingerprint, loginFrom("Q", "192.0.2.1").fingerprint);
  t.equal(loginFrom("P", "0000:0000:0000:0000:0000:ffff:c000:0207").address, "192.0.2.7");
  t.equal(loginFrom("P", "2001:0db8:0000:0000:0000:0000:0000:0001").address, "2001:db8::1");
});
