/**
 * Invitations by email (public API: POST /invites, resend, DELETE /invites/{invite_id}): emails and single-use links.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { attribute, field, inviteLink, logIn, submit, visit } from "../support/join.ts";
import { MailServer, outboxMails, pendingMails, type Received } from "../support/mail.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member, guest } = await startServerWithUsers(
  t,
  ["administrator", "member", "guest"],
  { environment: { REALM_NAME: "Tea & Co" } },
);

const invite = async (by: Client, emails: string, params: Params = {}) =>
  outcome(await by.post("/invites", { invitee_emails: emails, ...params }));
const listed = async (by: Client) => (await by.get("/invites")).body.invites;

/** This server has no mail server. */
const sent = success({ server_sends_email: false });

let mails = 0;

/** Waits for this many further emails. */
async function arrived(count: number, own: TestServer = server): Promise<Received[]> {
  if (own !== server) return (await outboxMails(own.dataDir, count)).slice(-count);
  mails += count;
  return (await outboxMails(own.dataDir, mails)).slice(mails - count);
}

function linkIn({ email }: Received): string {
  return /^http\S+$/m.exec(email.text ?? "")?.[0] ?? "";
}

const failed = (msg: string, errors: unknown[]) =>
  refusal(msg, "INVITATION_FAILED", 400, {
    errors,
    sent_invitations: false,
    license_limit_reached: false,
    daily_limit_reached: false,
  });

t.test("POST /invites sends each email a link that creates one account with that email", async (t) => {
  const plans = await owner.createChannel("plans", [owner, member], { invite_only: true });
  const text = "ann@example.org, Bob B <bob@example.org>\nANN@example.org\r\n,, ";
  t.strictSame(await invite(member, text, { stream_ids: [plans], invite_as: 600 }), sent);
  const [toAnn, toBob] = await arrived(2);
  t.strictSame([toAnn?.email.to?.[0]?.address, toBob?.email.to?.[0]?.address], ["ann@example.org", "bob@example.org"]);
  t.equal(toAnn?.email.subject, "member 0 has invited you to Tea & Co");
  t.match(toAnn?.email.text, /^Hello,/);
  t.match(toAnn?.email.text, "member 0 has invited you to join Tea & Co.");
  t.match(toAnn?.email.text, "The link is good until ");
  const own = await listed(member);
  const found = own.map((each: Params) => [each["email"], each["is_multiuse"], each["invited_as"], each["link_url"]]);
  t.strictSame(found, [
    ["ann@example.org", false, 600, undefined],
    ["bob@example.org", false, 600, undefined],
  ]);

  const link = linkIn(toAnn as Received);
  t.match(link, new RegExp(`^${server.url}/join/[A-Za-z0-9]{32}/$`));
  const page = await visit(link);
  t.equal(page.status, 200);
  t.match(page.text, "ann@example.org");
  t.equal(attribute(field(page, "email"), "value"), undefined, "the email cannot be changed");
  const follower = await member.follow({ event_types: ["invites_changed", "message"] });
  const done = await submit(link, { email: "other@example.org", full_name: "Ann" });
  t.equal(done.status, 200, done.text);
  t.equal(
    (await logIn(owner, "other@example.org")).status,
    401,
    "the email of the invitation is used, whatever the form sends",
  );
  const { body } = await logIn(owner, "ann@example.org");
  const people = (await owner.get("/users")).body.members;
  const seen = people.find(({ user_id: id }: { user_id: number }) => id === body.user_id);
  t.match(seen, { full_name: "Ann", role: 600 });
  const again = await submit(link, { full_name: "Another", password: "another password" });
  t.equal(again.status, 404);
  t.match(again.text, "This invitation has been used already.");
  t.match((await visit(link)).text, "has been used already");
  t.equal((await submit(link, { full_name: "Ann" })).status, 200, "the form submitted twice reports success");
  t.equal((await owner.get("/users")).body.members.length, people.length);
  const emails = (await listed(member)).map(({ email }: { email: string }) => email);
  t.strictSame(emails, ["bob@example.org"]);
  await follower.settled();
  t.equal(follower.ofType("invites_changed").length, 1);
});

t.test("[D5] `can_invite_users_group` decides who may invite, with the rules of links; guests may not", async (t) => {
  t.strictSame(await invite(guest, "x@example.org"), refusal("Not allowed for guest users"));
  t.strictSame(
    await invite(member, "x@example.org", { invite_as: 200 }),
    refusal("Must be an organization administrator"),
  );
  t.strictSame(
    await invite(administrator, "x@example.org", { invite_as: 100 }),
    refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL"),
  );
  t.strictSame(
    await invite(member, "x@example.org", { stream_ids: [99] }),
    refusal("Invalid channel ID 99. No invites were sent."),
  );
  t.strictSame(await invite(member, "x@example.org", { group_ids: [99] }), refusal("Invalid user group"));
  server.setRealm({ can_invite_users_group: server.group("role:administrators") });
  t.strictSame(await invite(member, "x@example.org"), refusal("Insufficient permission"));
  const state = await member.register({ fetch_event_types: ["realm_user"] });
  t.equal(state["can_invite_others_to_realm"], false);
  server.setRealm({ can_invite_users_group: server.group("role:members") });
  t.equal(pendingMails(server).length, 0, "a rejected request sends no email");
});

t.test("one email that cannot be invited rejects the request, and the error has the reason for each", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const taken = ["OWNER@localhost", "Already has an account.", false];
  const deactivated = ["gone0@example.com", "Account has been deactivated.", true];
  const before = (await listed(owner)).length;
  t.strictSame(
    await invite(member, "new@example.org,OWNER@localhost,gone0@example.com"),
    failed("Some of those addresses have an account already, so we didn't send any invitations.", [taken, deactivated]),
  );
  t.strictSame(await invite(member, "OWNER@localhost"), failed("We weren't able to invite anyone.", [taken]));
  const hidden = [`a\u0001${"b".repeat(70)}@example.org`, "a\u200bb@example.org", "a\u0000b@example.org"];
  const invalid = ["nobody", `user2@colloquy.invalid`, "a@b@c", ...hidden];
  t.strictSame(
    await invite(member, `new@example.org\n${invalid.join("\n")}`),
    failed(
      "Some emails did not validate, so we didn't send any invitations.",
      invalid.map((email) => [email, "Invalid address.", false]),
    ),
  );
  for (const none of ["", " , \n", ","]) {
    t.strictSame(await invite(member, none), refusal("You must specify at least one email address."));
  }
  t.equal((await listed(owner)).length, before);
  t.equal(pendingMails(server).length, 0);
});

t.test("[S3] invitation_addresses_per_request_max: one more email is rejected", async (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `many${index}@example.org`).join(",");
  const most = limits.invitation_addresses_per_request_max;
  t.strictSame(await invite(owner, many(most + 1)), refusal(`Too many addresses in one request (maximum ${most})`));
  t.strictSame(await invite(owner, many(most)), sent);
  await arrived(most);
  const over = await invite(owner, "a".repeat(limits.invitation_addresses_code_points_max + 1));
  t.match(over.body, { msg: /^invitee_emails is too long/ });
  for (const { id, email } of await listed(owner)) {
    if (email !== undefined) await expects(t, owner.delete(`/invites/${id}`), success());
  }
});

t.test("DELETE /invites/{invite_id}: the inviter and administrators may revoke", async (t) => {
  await invite(member, "carl@example.org,dora@example.org");
  const [toCarl] = await arrived(2);
  const [carl, dora] = (await listed(member)).slice(-2);
  const none = refusal("No such invitation");
  const other = await server.user("other");
  await expects(t, other.delete(`/invites/${carl.id}`), none, "[S1]");
  await expects(t, owner.delete("/invites/99999"), none);
  await expects(t, owner.delete(`/invites/multiuse/${carl.id}`), none, "an id is valid only with its own is_multiuse");
  await expects(t, member.delete(`/invites/${carl.id}`), success());
  await expects(t, member.delete(`/invites/${carl.id}`), none);
  await expects(t, administrator.delete(`/invites/${dora.id}`), success());
  t.match((await submit(linkIn(toCarl as Received), {})).text, "This invitation has been revoked.");
});

t.test("[S2] resend sends another email with its own link; keys are stored as hashes", async (t) => {
  await invite(member, "emma@example.org");
  const [first] = await arrived(1);
  const { id } = (await listed(member)).at(-1);
  const none = refusal("No such invitation");
  const other = await server.user("outsider");
  await expects(t, other.post(`/invites/${id}/resend`), none);
  await expects(t, owner.post("/invites/99999/resend"), none);
  const links = [linkIn(first as Received)];
  for (let count = 1; count <= limits.invitation_links_per_address_max; count++) {
    await expects(t, (count === 1 ? administrator : member).post(`/invites/${id}/resend`), sent);
    const [mail] = await arrived(1);
    t.equal(mail?.email.to?.[0]?.address, "emma@example.org");
    t.match(mail?.email.subject, "member 0 has invited you");
    links.push(linkIn(mail as Received));
  }
  const statuses = await Promise.all(links.map(async (link) => (await visit(link)).status));
  t.strictSame(statuses, [404, ...links.slice(1).map(() => 200)], "[S3] the newest five links are valid");
  await server.realm.dispatcher.idle();
  for (const link of links) {
    const key = /join\/(\w+)\//.exec(link)?.[1] ?? "";
    for (const table of ["invitations", "invitationKeys", "invitationLinks", "events", "timers", "mailbox"] as const) {
      t.notMatch(JSON.stringify(server.realm.view.rows(table, { limit: 10_000 })), key, table);
    }
  }
  t.equal((await submit(links[2] ?? "", { full_name: "Emma" })).status, 200);
  t.match((await visit(links[1] ?? "")).text, "used already", "all of them are links to one invitation");
  await expects(t, member.post(`/invites/${id}/resend`), none);
});

t.test("[S3] resent emails count for the daily limit, too", async (t) => {
  await invite(administrator, "fay@example.org");
  await arrived(1);
  const { id } = (await listed(administrator)).at(-1);
  const now = Date.now();
  const present = server.realm.view.keys("invitationSends", {
    start: [administrator.userId],
    end: [administrator.userId + 1],
    limit: 1000,
  });
  for (let count = present.length; count < limits.invitations_per_user_per_day_max; count++) {
    server.write("invitationSends", [administrator.userId, now, 50_000 + count], {});
  }
  t.match((await administrator.post(`/invites/${id}/resend`)).body, {
    code: "INVITATION_FAILED",
    daily_limit_reached: true,
  });
  t.match((await invite(administrator, "gil@example.org")).body, {
    code: "INVITATION_FAILED",
    daily_limit_reached: true,
  });
});

t.test("[spec 4.14] a user who joined in another way has no open invitation any more", async (t) => {
  await invite(member, "hal@example.org,ida@example.org,jim@example.org");
  const [toHal, toIda] = await arrived(3);
  t.equal((await submit(await inviteLink(owner), { email: "HAL@example.org", full_name: "Hal" })).status, 200);
  await server.person("Ida");
  await owner.post("/users", { email: "ida@example.org", full_name: "Ida I", password: "correct horse battery" });
  const left = (await listed(member)).map(({ email }: { email: string }) => email);
  t.notOk(left.includes("hal@example.org"));
  t.notOk(left.includes("ida@example.org"));
  t.ok(left.includes("jim@example.org"));
  for (const mail of [toHal, toIda]) t.match((await visit(linkIn(mail as Received))).text, "revoked");
});

t.test("with notify_referrer_on_join=false the inviter gets no message", async (t) => {
  const inviter = await server.user("quiet");
  await invite(inviter, "kim@example.org", { notify_referrer_on_join: false });
  await invite(inviter, "lea@example.org");
  const [toKim, toLea] = await arrived(2);
  const found = (await listed(inviter)).map((each: Params) => each["notify_referrer_on_join"]);
  t.strictSame(found, [false, true]);
  for (const mail of [toKim, toLea]) await submit(linkIn(mail as Received), { full_name: "Guest Of Quiet" });
  const range = { anchor: "newest", num_before: 10, num_after: 0, apply_markdown: false };
  const { body } = await inviter.get("/messages", range);
  t.equal(body.messages.filter(({ content }: { content: string }) => content.includes("accepted")).length, 1);
});

t.test("[M8, spec 4.14] an invitation by email expires like a link; with null it never does", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const own = await startTestServer(t, { clock });
  const ask = (emails: string, minutes: unknown) =>
    own.owner.post("/invites", { invitee_emails: emails, invite_expires_in_minutes: minutes });
  await ask("mia@example.org", 60);
  await ask("noa@example.org", "null");
  const [toMia, toNoa] = await arrived(2, own);
  t.match(toMia?.email.text, /The link is good until .*1 May 2026.*13:00 \(UTC\)\./);
  t.notMatch(toNoa?.email.text, "good until");
  clock.advance(60 * 60_000);
  await own.realm.dispatcher.idle();
  t.match((await submit(linkIn(toMia as Received), {})).text, "expired");
  t.equal((await visit(linkIn(toNoa as Received))).status, 200);
  await expects(t, own.owner.post("/invites/1/resend"), "No such invitation");
  clock.jump(limits.invitation_kept_ms);
  await own.realm.dispatcher.idle();
  t.equal(own.realm.lmdb.count("invitationAddresses"), 1);
});

t.test("[S1] a Host header that is not a plain host is rejected, so links contain only scheme and host", async (t) => {
  const { HostClient } = await import("../support/http.ts");
  for (const host of ["evil.example.org/x?", "evil.example.org#", "user@evil.example.org"]) {
    const client = new HostClient(owner, host);
    t.equal((await client.post("/invites", { invitee_emails: "olga@example.org" })).status, 400, host);
    t.equal((await client.post("/invites/multiuse")).status, 400, host);
  }
  t.equal(pendingMails(server).length, 0);
});

t.test("[D276] answers and /register say whether the server sends emails", async (t) => {
  const far = await MailServer.start(t);
  const sending = await startTestServer(t, { environment: { SMTP_URL: far.url } });
  for (const [own, isSending] of [
    [server, false],
    [sending, true],
  ] as const) {
    const says = success({ server_sends_email: isSending });
    const headers = { "Idempotency-Key": "once" };
    const params = { invitee_emails: "lena@example.org" };
    for (const _ of [1, 2]) await expects(t, own.owner.post("/invites", params, headers), says);
    const { id } = (await listed(own.owner)).at(-1);
    await expects(t, own.owner.post(`/invites/${id}/resend`), says);
    await expects(t, own.owner.patch("/settings", { email: "other@example.org" }), says);
    await expects(t, own.owner.patch("/settings", { color_scheme: 2 }), success(), "no email is asked for");
    const state = await own.owner.register({ fetch_event_types: ["realm"] });
    t.equal(state["server_sends_email"], isSending);
  }
});
