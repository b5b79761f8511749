/**
 * The page behind an invitation link (spec 4.14, D197): the form is parsed and submitted over HTTP. Covers the account
 * that it creates and every reason for a rejection.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { Client, expects, type Params } from "../support/client.ts";
import { attribute, byTag, field, goodPassword, inviteLink, logIn, problem, submit, visit } from "../support/join.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";
import { watch } from "../support/watch.ts";

const nasty = `Tea & <b>"Co"</b>`;
const server = await startTestServer(t, { environment: { REALM_NAME: nasty } });
const { owner } = server;

interface Person {
  readonly user_id: number;
  readonly email: string;
  readonly role: number;
  readonly full_name: string;
}

const everybody = async (): Promise<Person[]> => (await owner.get("/users")).body.members;

/** Opens a link and submits valid values. @returns a client of the new user */
async function joinBy(link: string, email: string, more: Readonly<Record<string, string>> = {}): Promise<Client> {
  const page = await submit(link, { email, ...more });
  if (page.status !== 200) throw new Error(`not joined: ${page.text}`);
  const { body } = await logIn(owner, email);
  return new Client(new URL(link).origin, { email, key: body.api_key, userId: body.user_id });
}

const joined = async (client: Client): Promise<string[]> =>
  (await client.get("/users/me/subscriptions")).body.subscriptions.map(({ name }: { name: string }) => name).sort();

const received = async (client: Client): Promise<string[]> => {
  const narrow = [{ operator: "is", operand: "dm" }];
  const range = { anchor: "newest", num_before: 100, num_after: 0, narrow, apply_markdown: false };
  const { body } = await client.get("/messages", range);
  return body.messages.map(({ content }: { content: string }) => content);
};

t.test("[D197] the page is a plain form with labels, a language and protective headers, no scripts", async (t) => {
  const link = await inviteLink(owner);
  const page = await visit(link);
  t.equal(page.status, 200);
  t.match(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    t.match(policy, part);
  }
  t.equal(page.headers.get("referrer-policy"), "same-origin", "the link is the secret: no other server learns it");
  t.equal(page.headers.get("x-content-type-options"), "nosniff");
  t.equal(page.headers.get("cache-control"), "no-store");
  t.match(page.text, `Join ${nasty}`);
  t.match(page.text, "Owner has invited you.");
  t.equal(byTag(page, "b").length, 0, "names are text");
  for (const tag of ["script", "img", "link", "iframe", "object"]) t.equal(byTag(page, tag).length, 0, tag);
  t.notOk(page.elements.some(({ attrs }) => attrs.some(({ name }) => /^on|^src$|^href$/.test(name))));
  t.equal(attribute(byTag(page, "html")[0], "lang"), "en");
  t.ok(byTag(page, "meta").some((meta) => attribute(meta, "name") === "viewport"));
  const inputs = byTag(page, "input");
  const found = inputs.map((input) => attribute(input, "name"));
  t.strictSame(found, ["full_name", "email", "password"]);
  for (const input of inputs) {
    const id = attribute(input, "id");
    t.ok(
      byTag(page, "label").some((label) => attribute(label, "for") === id),
      `${id} has a label`,
    );
  }
  t.equal(attribute(field(page, "password"), "type"), "password");
  const [form] = byTag(page, "form");
  t.strictSame([attribute(form, "method"), attribute(form, "action")], ["post", undefined], "submitted to its own URL");
});

t.test("[spec 4.14] the new account has the role, channels, groups and welcome message of the link", async (t) => {
  const plans = await owner.createChannel("plans", [owner], { invite_only: true });
  const crew = await owner.post("/user_groups/create", { name: "crew", description: "", members: [owner.userId] });
  const link = await inviteLink(owner, {
    invite_as: roles.moderator,
    stream_ids: [plans],
    group_ids: [crew.body.group_id],
    welcome_message_custom_text: "**Hello**, and tea at four",
  });
  const follower = await owner.follow({ event_types: ["realm_user", "user_group", "subscription", "message"] });
  const page = await submit(link, { full_name: " Ada ", email: " ada@example.org " });
  t.equal(page.status, 200, page.text);
  t.match(page.text, `Welcome to ${nasty}`);
  t.match(page.text, `${server.url}/api/v1/fetch_api_key`, "the page says how to sign in");
  t.match(page.text, "ada@example.org");
  t.notMatch(page.html, goodPassword);
  const { status, body } = await logIn(owner, "ada@example.org");
  t.equal(status, 200, "email and password work at once");
  const ada = new Client(server.url, { email: "ada@example.org", key: body.api_key, userId: body.user_id });
  t.match((await ada.get("/users/me")).body, { role: roles.moderator, full_name: "Ada", email: "ada@example.org" });
  t.strictSame(await joined(ada), ["plans"], "no default channels unless the link includes them");
  t.equal(
    (await owner.get(`/user_groups/${crew.body.group_id}/members/${ada.userId}`)).body.is_user_group_member,
    true,
  );
  t.strictSame(await received(ada), ["**Hello**, and tea at four"]);
  t.match((await received(owner)).at(-1), /^@_\*\*Ada\|\d+\*\* accepted your invitation/, "notify_referrer_on_join");

  await follower.settled();
  const added = follower.ofType("realm_user").find((event) => event.op === "add");
  t.match(added.person, { user_id: ada.userId, full_name: "Ada" });
  t.ok(
    follower
      .ofType("user_group")
      .some((event) => event.group_id === crew.body.group_id && event.user_ids?.[0] === ada.userId),
  );
  t.ok(follower.ofType("subscription").some((event) => event.op === "peer_add" && event.stream_ids[0] === plans));
});

t.test("[spec 4.14] a link works many times, with its default channels and welcome text", async (t) => {
  const extra = await owner.createChannel("extra", [owner]);
  server.setRealm({ welcome_message_custom_text: "from all of us" });
  const cases: [Params, string[], string[]][] = [
    [{ include_realm_default_subscriptions: true, stream_ids: [extra, 1] }, ["extra", "general"], ["from all of us"]],
    [{ stream_ids: [extra] }, ["extra"], ["from all of us"]],
    [{}, [], ["from all of us"]],
    [{ welcome_message_custom_text: "" }, [], []],
    [
      { include_realm_default_subscriptions: true, invite_as: roles.guest, stream_ids: [extra] },
      ["extra"],
      ["from all of us"],
    ],
  ];
  for (const [index, [params, channels, messages]] of cases.entries()) {
    const link = await inviteLink(owner, params);
    for (const name of ["first", "second"]) {
      const client = await joinBy(link, `${name}${index}@example.org`);
      t.strictSame(await joined(client), channels, JSON.stringify(params));
      t.strictSame(await received(client), messages);
      t.equal((await client.get("/users/me")).body.role, params["invite_as"] ?? 400);
    }
  }
  server.setRealm({ welcome_message_custom_text: "" });
});

t.test("[D197] expired, revoked and unknown links say so on GET and POST and create no account", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const own = await startTestServer(t, { clock });
  const [expiring, revoked] = [
    await inviteLink(own.owner, { invite_expires_in_minutes: 5 }),
    await inviteLink(own.owner),
  ];
  await own.owner.delete("/invites/multiuse/2");
  clock.advance(5 * 60_000);
  const cases: [string, string][] = [
    [expiring, "This invitation has expired."],
    [revoked, "This invitation has been revoked."],
    ...["", "x/", "%00/", "a/b/c", "<script>", "k".repeat(2000)].map((key): [string, string] => [
      `${own.url}/join/${key}`,
      "This invitation is not known here.",
    ]),
  ];
  for (const [link, says] of cases) {
    for (const page of [await visit(link), await submit(link, { email: "late@example.org" })]) {
      t.equal(page.status, 404);
      t.match(page.text, says);
      t.equal(byTag(page, "form").length + byTag(page, "script").length, 0);
    }
  }
  t.equal((await own.owner.get("/users")).body.members.length, 2);
});

t.test("[D197] invalid values return the form with an error message and all values except the password", async (t) => {
  const link = await inviteLink(owner);
  const before = (await everybody()).length;
  const cases: [Readonly<Record<string, string>>, string, RegExp][] = [
    [{ full_name: " " }, "full_name", /^Enter your name\.$/],
    [{ full_name: "a".repeat(limits.full_name_code_points_max + 1) }, "full_name", /too long: at most 100 characters/],
    [{ full_name: "A * B" }, "full_name", /cannot hold the characters/],
    [{ full_name: "A|2" }, "full_name", /cannot end with/],
    [{ email: "nobody" }, "email", /valid email address/],
    [{ email: "" }, "email", /valid email address/],
    [{ email: `${"e".repeat(limits.email_code_points_max)}@x.org` }, "email", /valid email address/],
    [{ password: "a".repeat(limits.password_code_points_min - 1) }, "password", /at least 8 characters/],
    [{ password: "a".repeat(limits.password_bytes_max + 1) }, "password", /too long/],
    [{ email: "OWNER@localhost" }, "email", /has an account already/],
  ];
  for (const [fields, wrong, says] of cases) {
    const typed = { full_name: `Grace "H" <i>`.replaceAll(/["<>]/g, ""), email: "grace@example.org", ...fields };
    const page = await submit(link, typed);
    t.equal(page.status, 400);
    t.match(problem(page), says);
    t.equal(attribute(field(page, "full_name"), "value"), typed.full_name.trim());
    t.equal(attribute(field(page, "email"), "value"), typed.email);
    t.equal(attribute(field(page, "password"), "value"), undefined);
    t.equal(attribute(field(page, wrong), "aria-describedby"), "problem", "the wrong field is marked");
    t.notMatch(page.html, `value="${fields["password"] ?? goodPassword}"`);
  }
  const injected = await submit(link, { full_name: `"><script>alert(1)</script>`, email: `"><img src=x>` });
  t.equal(byTag(injected, "script").length + byTag(injected, "img").length, 0);
  t.equal(attribute(field(injected, "full_name"), "value"), `"><script>alert(1)</script>`, "shown as it was typed");
  t.equal((await everybody()).length, before, "nobody has come");
  server.setRealm({ require_unique_names: true });
  const shared = await submit(link, { full_name: "owner", email: "grace@example.org" });
  t.match(problem(shared), "already has this name");
  server.setRealm({ require_unique_names: false });
  t.equal(
    (await submit(link, { full_name: "a".repeat(100), email: "grace@example.org", password: "a".repeat(8) })).status,
    200,
    "at the bounds",
  );
});

t.test("[S1] the email of a deactivated account stays in use, and its password is not accepted", async (t) => {
  const link = await inviteLink(owner);
  const gone = await joinBy(link, "gone@example.org");
  await owner.delete(`/users/${gone.userId}`);
  const page = await submit(link, { email: "gone@example.org" });
  t.equal(page.status, 400);
  t.match(problem(page), "has an account already");
});

t.test("[D197] a form that is submitted twice creates one account, and both answers report success", async (t) => {
  const link = await inviteLink(owner);
  const before = (await everybody()).length;
  const twice = { email: "twice@example.org", full_name: "Twice" };
  const pages = await Promise.all([submit(link, twice), submit(link, twice), submit(link, twice)]);
  const found = pages.map(({ status }) => status);
  t.strictSame(found, [200, 200, 200]);
  t.equal((await submit(link, twice)).status, 200, "a reload");
  t.equal((await everybody()).length, before + 1);
  const outsider = await submit(link, { ...twice, password: "another password" });
  t.equal(outsider.status, 400, "another visitor, who does not know the password");
  t.equal((await logIn(owner, "twice@example.org", "another password")).status, 401, "and the attempt changes nothing");
});

t.test("[D197] GET changes nothing; other methods and bodies are rejected", async (t) => {
  const link = await inviteLink(owner);
  const head = await visit(link, "HEAD");
  t.strictSame([head.status, head.html], [200, ""]);
  t.equal((await visit(link.replace(/\/$/, ""))).status, 200, "without the trailing slash");
  for (const method of ["DELETE", "PATCH", "PUT"]) {
    const answer = await fetch(link, { method });
    t.strictSame([answer.status, answer.headers.get("allow")], [405, "GET, HEAD, POST"]);
  }
  const before = (await everybody()).length;
  const bodies: [string, string][] = [
    ["application/x-www-form-urlencoded", "full_name=%ff&email=%"],
    ["application/x-www-form-urlencoded", "full_name=a&full_name=b"],
    ["multipart/form-data", "nothing"],
    ["application/json", '{"full_name":"A","email":"a@b.org","password":"12345678"}'],
    ["text/plain", ""],
  ];
  for (const [type, body] of bodies) {
    const answer = await fetch(link, { method: "POST", headers: { "Content-Type": type }, body });
    t.equal(answer.status, 400, type);
    t.match(answer.headers.get("content-type"), "text/html");
  }
  const large = await fetch(link, { method: "POST", body: "a".repeat(limits.body_bytes_max + 1) }).catch(() => null);
  t.ok(large === null || large.status === 413 || large.status === 400, "[S3] body_bytes_max");
  const inQuery = await fetch(`${link}?full_name=Q&email=q@example.org&password=${"q".repeat(9)}`, { method: "POST" });
  t.equal(inQuery.status, 400, "values in the query are ignored");
  t.equal((await everybody()).length, before);
});

t.test("[D28, D197] attempts are limited like logins; successful ones do not count", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1, 12));
  const limited = await startTestServer(t, { clock, environment: { RATE_LIMITS: "login=2/60,anonymous=100/60" } });
  const link = await inviteLink(limited.owner);
  for (const name of ["a", "b", "c", "d"]) t.equal((await submit(link, { email: `${name}@example.org` })).status, 200);
  const guess = { email: "owner@localhost", password: "a guess of mine" };
  t.strictSame([(await submit(link, guess)).status, (await submit(link, guess)).status], [400, 400]);
  const refused = await submit(link, { email: "e@example.org" });
  t.equal(refused.status, 429);
  t.match(refused.text, "Try again in 30 seconds.");
  t.equal(refused.headers.get("retry-after"), "30");
  t.equal((await logIn(limited.owner, "a@example.org")).status, 429, "one bucket with logins");
  clock.advance(30_000);
  t.equal((await submit(link, { email: "e@example.org" })).status, 200);
  const looks = await startTestServer(t, { environment: { RATE_LIMITS: "anonymous=3/3600" } });
  const other = await inviteLink(looks.owner);
  for (const expected of [200, 200, 200, 429]) t.equal((await visit(other)).status, expected);
});

/** Runs a change between the creation of a link and its use. */
async function following(t: Test, change: () => Promise<unknown>, link: string, email: string): Promise<string[]> {
  await change();
  const page = await submit(link, { email });
  t.equal(page.status, 200, page.text);
  const { body } = await logIn(owner, email);
  return joined(new Client(server.url, { email, key: body.api_key, userId: body.user_id }));
}

t.test("[S1] a link grants the channels and groups that its inviter can grant when it is used", async (t) => {
  server.setRealm({ create_multiuse_invite_group: server.group("role:members") });
  const inviter = await server.user("inviter");
  const [archived, closed, kept] = [
    await owner.createChannel("to be archived", [owner, inviter]),
    await owner.createChannel("to be closed", [owner]),
    await owner.createChannel("kept", [owner]),
  ];
  const link = await inviteLink(inviter, { stream_ids: [archived, closed, kept] });
  const change = async () => {
    await owner.delete(`/streams/${archived}`);
    await owner.patch(`/streams/${closed}`, { is_private: true });
  };
  t.strictSame(await following(t, change, link, "places@example.org"), ["kept"]);
  t.notOk(await inviter.channel(closed));

  const make = async (name: string) =>
    (await owner.post("/user_groups/create", { name, description: "", members: [owner.userId] })).body.group_id;
  const [ended, going] = [await make("to be ended"), await make("going on")];
  const toGroups = await inviteLink(owner, { group_ids: [ended, going] });
  await owner.post(`/user_groups/${ended}/deactivate`);
  const person = await joinBy(toGroups, "groups@example.org");
  const isIn = async (id: number) => (await owner.get(`/user_groups/${id}/members/${person.userId}`)).body;
  t.equal((await isIn(going)).is_user_group_member, true);
  t.not((await isIn(ended)).is_user_group_member, true);
});

t.test("[S1] a link is invalid while its inviter lacks the role, the permission or an active account", async (t) => {
  const inviter = await server.user("former", roles.administrator);
  server.setRealm({ create_multiuse_invite_group: server.group("role:members") });
  const [high, plain] = [await inviteLink(inviter, { invite_as: 200 }), await inviteLink(inviter)];
  await owner.patch(`/users/${inviter.userId}`, { role: roles.member });
  const refused = await submit(high, { email: "high@example.org" });
  t.equal(refused.status, 404);
  t.match(refused.text, "revoked");
  t.equal((await submit(plain, { email: "plain@example.org" })).status, 200, "members still may invite members");
  server.setRealm({ create_multiuse_invite_group: server.group("role:administrators") });
  t.equal((await submit(plain, { email: "plain2@example.org" })).status, 404);
  await owner.patch(`/users/${inviter.userId}`, { role: roles.administrator });
  t.equal((await visit(high)).status, 200, "valid again once the inviter has the permission");
  await owner.delete(`/users/${inviter.userId}`);
  t.equal((await submit(plain, { email: "plain3@example.org" })).status, 404);
  t.notOk((await everybody()).some(({ email }) => /^(high|plain[23])@/.test(email)));
});

t.test("an account created by POST /users gets the organization's welcome message, too", async (t) => {
  server.setRealm({ welcome_message_custom_text: "come in" });
  const made = await server.person("Greeted");
  t.strictSame(await received(made), ["come in"]);
  server.setRealm({ welcome_message_custom_text: "" });
});

t.test("[S1] a link of one organization is unknown to another server", async (t) => {
  const link = await inviteLink(owner);
  const other = await startTestServer(t);
  t.match((await visit(link.replace(server.url, other.url))).text, "not known here");
  await expects(t, other.owner.delete("/invites/multiuse/1"), "No such invitation");
});

t.test("state before + events = fresh state when users join by links", (t) =>
  watch(t, async ({ owner: by, member, other }) => {
    const crew = await by.post("/user_groups/create", { name: "the crew", description: "", members: [member.userId] });
    const secret = await by.createChannel("for newcomers", [by, other], { invite_only: true });
    const params = { stream_ids: [secret, 1], group_ids: [crew.body.group_id] };
    for (const role of [roles.administrator, roles.member, roles.guest]) {
      const link = await inviteLink(by, { ...params, invite_as: role, include_realm_default_subscriptions: true });
      const page = await submit(link, { email: `comes${role}@example.org`, full_name: `Comes ${role}` });
      if (page.status !== 200) throw new Error(page.text);
    }
  }),
);
