/**
 * Accounts: POST /users (public API), GET /users and GET /users/me (spec 2.6, 4.15, D27). users-deactivation.test.ts
 * tests deactivation.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const general = 1;

const adminNeeded = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
const good = { email: "new@example.com", password: "12345678", full_name: "New" };

/** All users in the list, as the client sees them, by id. */
async function membersSeenBy(client: Client, params: Params = {}): Promise<Map<number, Event>> {
  const { body } = await client.get("/users", params);
  return new Map(body.members.map((user: Event) => [user.user_id, user]));
}

function emailOf(client: Client): string {
  return client.account?.email ?? "";
}

t.test("an administrator creates an account, and everybody receives an event", async (t) => {
  const follower = await member.follow({ event_types: ["realm_user", "subscription", "message"] });
  const made = await administrator.post("/users", { ...good, email: "Nora@Example.com", full_name: "  Nora  " });
  t.strictSame(outcome(made), success({ user_id: made.body.user_id }));
  const [added] = (await follower.settled()) && follower.ofType("realm_user");
  t.match(added, { op: "add", person: { user_id: made.body.user_id, full_name: "Nora", email: "Nora@Example.com" } });
  const seen = (await membersSeenBy(member)).get(made.body.user_id);
  t.match(seen.date_joined, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/, "[spec 2.6] ISO 8601");
  t.strictSame(seen, {
    user_id: made.body.user_id,
    email: "Nora@Example.com",
    delivery_email: "Nora@Example.com",
    full_name: "Nora",
    avatar_url: null,
    avatar_version: 1,
    date_joined: seen.date_joined,
    timezone: "",
    role: roles.member,
    is_active: true,
    is_admin: false,
    is_owner: false,
    is_guest: false,
    is_bot: false,
    bot_type: null,
    bot_owner_id: null,
  });
});

t.test("[spec 2.4] new members join the default channels, guests do not; subscribers receive an event", async (t) => {
  const extra = await owner.createChannel("for everybody", [], { is_default_stream: true });
  const other = await owner.createChannel("not for everybody", []);
  const follower = await owner.follow({ event_types: ["subscription", "message"] });
  const { body } = await owner.post("/users", { ...good, email: "joiner@example.com" });
  const [guestId = 0] = await server.users("visitor", 1, roles.guest);
  await follower.settled();
  const joined = follower.ofType("subscription").filter((event) => event.op === "peer_add");
  const channelsOf = (id: number) =>
    joined
      .filter((event) => event.user_ids.includes(id))
      .flatMap((event) => event.stream_ids)
      .sort((a, b) => a - b);
  t.strictSame(
    channelsOf(body.user_id),
    [general, extra].sort((a, b) => a - b),
  );
  t.strictSame(channelsOf(guestId), []);
  const { body: fetched } = await anonymousKey("joiner@example.com");
  t.strictSame(fetched.subscriptions.map((own: Event) => own.stream_id).sort(), [general, extra].sort());
  t.notOk(fetched.subscriptions.some((own: Event) => own.stream_id === other));
});

/** Subscriptions of a user with the password of `good`. */
async function anonymousKey(email: string) {
  const { body } = await owner.anonymous().post("/fetch_api_key", { username: email, password: good.password });
  const Authorization = `Basic ${Buffer.from(`${email}:${body.api_key}`).toString("base64")}`;
  return owner.anonymous().get("/users/me/subscriptions", {}, { Authorization });
}

t.test("only administrators create users; a rejected request writes nothing", async (t) => {
  const changes = await owner.watchChanges();
  for (const client of [moderator, member, guest]) {
    await expects(t, client.post("/users", good), adminNeeded);
    await expects(t, client.post("/users", { ...good, email: emailOf(owner) }), adminNeeded);
  }
  t.strictSame(await changes(), []);
});

t.test("each parameter is required and validated; an error writes nothing", async (t) => {
  const changes = await owner.watchChanges();
  const tooLong = (name: string, limit: number) => refusal(`${name} is too long (limit: ${limit} characters)`);
  const inUse = refusal("Email is already in use.");
  const badAddress = refusal("Enter a valid email address.");
  const badName = refusal("Invalid characters in name!");
  const cases: readonly (readonly [Params, object])[] = [
    [{ email: "" }, badAddress],
    [{ email: "nobody" }, badAddress],
    [{ email: "@example.com" }, badAddress],
    [{ email: "a@" }, badAddress],
    [{ email: "a@b@example.com" }, badAddress],
    [{ email: "a b@example.com" }, badAddress],
    [{ email: "a:b@example.com" }, badAddress],
    [{ email: "a@exam\nple.com" }, badAddress],
    [{ email: "a@example.com\0" }, badAddress],
    [{ email: "<a@example.com>" }, badAddress],
    [{ email: "e".repeat(limits.email_code_points_max + 1) }, tooLong("email", limits.email_code_points_max)],
    [{ email: emailOf(owner) }, inUse],
    [{ email: ` ${emailOf(member).toUpperCase()} ` }, inUse],
    [{ email: "notification-bot@colloquy.invalid" }, inUse],
    [{ password: "" }, refusal("New password is too weak!")],
    [{ password: "p".repeat(limits.password_code_points_min - 1) }, refusal("New password is too weak!")],
    [{ password: "🔑".repeat(limits.password_code_points_min - 1) }, refusal("New password is too weak!")],
    [{ password: "p".repeat(limits.password_bytes_max + 1) }, tooLong("password", limits.password_bytes_max)],
    [{ full_name: "" }, refusal("Name too short!")],
    [{ full_name: "  " }, refusal("Name too short!")],
    [{ full_name: "n".repeat(limits.full_name_code_points_max + 1) }, refusal("Name too long!")],
    [{ full_name: "Name|12" }, refusal("Invalid format!")],
    ...["*", "`", "\\", ">", '"', "@", "\n", "\0", "\u{fdd0}"].map(
      (character) => [{ full_name: `a${character}b` }, badName] as const,
    ),
  ];
  for (const [params, expected] of cases) {
    await expects(t, owner.post("/users", { ...good, ...params }), expected, JSON.stringify(params));
  }
  for (const name of ["email", "password", "full_name"]) {
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, owner.post("/users", { ...good, [name]: undefined }), expected);
  }
  t.strictSame(await changes(), []);
});

t.test("[D8] emails, names and passwords are accepted at their limits, in code points", async (t) => {
  const longest = {
    email: `${"e".repeat(limits.email_code_points_max - "@example.com".length)}@example.com`,
    password: "p".repeat(limits.password_bytes_max),
    full_name: "🙂".repeat(limits.full_name_code_points_max),
  };
  const made = await owner.post("/users", longest);
  t.equal(made.status, 200);
  const key = await owner.anonymous().post("/fetch_api_key", { username: longest.email, password: longest.password });
  t.equal(key.body.user_id, made.body.user_id);
  t.equal((await membersSeenBy(owner)).get(made.body.user_id).full_name, longest.full_name);
  const shortest = { email: "a@b", password: "🔑".repeat(limits.password_code_points_min), full_name: "ß" };
  t.equal((await owner.post("/users", shortest)).status, 200);
});

t.test("[M7] of two concurrent requests for one email, one is rejected", async (t) => {
  const twins = await Promise.all(
    ["twin@example.com", "TWIN@example.com"].map((email) => owner.post("/users", { ...good, email })),
  );
  t.strictSame(twins.map(({ status }) => status).sort(), [200, 400]);
  t.strictSame(twins.filter(({ status }) => status === 400).map(outcome), [refusal("Email is already in use.")]);
});

t.test("GET /users/me returns the caller's own account", async (t) => {
  const said = await member.say("general", "users", "hello");
  const { status, body } = await member.get("/users/me");
  const { date_joined: joined, max_message_id: last } = body;
  t.ok(last >= said);
  t.strictSame(
    { status, body },
    success({
      user_id: member.userId,
      email: emailOf(member),
      delivery_email: emailOf(member),
      full_name: "member 0",
      avatar_url: body.avatar_url,
      avatar_version: 1,
      date_joined: joined,
      timezone: "",
      role: roles.member,
      is_active: true,
      is_admin: false,
      is_owner: false,
      is_guest: false,
      is_bot: false,
      bot_type: null,
      bot_owner_id: null,
      max_message_id: last,
      profile_data: {},
    }),
  );
  t.match(body.avatar_url, /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}/);
});

t.test("[spec 2.6] role and its flags agree, for every role", async (t) => {
  const seen = await membersSeenBy(member);
  const flagsOf = (client: Client) => {
    const { role, is_owner, is_admin, is_guest } = seen.get(client.userId);
    return [role, is_owner, is_admin, is_guest];
  };
  t.strictSame([owner, administrator, moderator, member, guest].map(flagsOf), [
    [100, true, true, false],
    [200, false, true, false],
    [300, false, false, false],
    [400, false, false, false],
    [600, false, false, true],
  ]);
});

t.test("[spec 4.15] all users are listed by id: people, bots and deactivated users", async (t) => {
  const bot = await server.bot("helper", member);
  const [gone = 0] = await server.users("departed", 1);
  await owner.delete(`/users/${gone}`);
  for (const client of [member, guest, bot]) {
    const { body } = await client.get("/users");
    const ids: number[] = body.members.map((user: Event) => user.user_id);
    t.strictSame(
      ids,
      [...ids].sort((a, b) => a - b),
    );
    t.strictSame(
      ids,
      Array.from({ length: Math.max(...ids) }, (_, index) => index + 1),
      "no gap: nobody is left out",
    );
    const listed = new Map<number, Event>(body.members.map((user: Event) => [user.user_id, user]));
    t.equal(listed.get(gone).is_active, false);
    t.match(listed.get(bot.userId), { is_bot: true, bot_type: 1, bot_owner_id: member.userId });
  }
});

t.test("[spec 4.15] user_ids limits the result: unknown ids are omitted, repeated ones count once", async (t) => {
  const idsOf = async (ids: unknown) =>
    (await member.get("/users", { user_ids: ids })).body.members.map((user: Event) => user.user_id);
  t.strictSame(await idsOf([member.userId, owner.userId, 999_999, member.userId]), [owner.userId, member.userId]);
  t.strictSame(await idsOf([]), []);
  t.strictSame(await idsOf([0]), []);
});

t.test("[spec 4.15] client_gravatar: null where the client can compute the avatar, a URL otherwise", async (t) => {
  const shy = await server.user("shy");
  server.setUser(shy.userId, { email_address_visibility: 4 });
  const url = /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}/;
  const byDefault = await membersSeenBy(member);
  t.equal(byDefault.get(owner.userId).avatar_url, null);
  t.match(byDefault.get(shy.userId).avatar_url, url, "without the email it cannot be computed");
  const computed = await membersSeenBy(member, { client_gravatar: false });
  t.match(computed.get(owner.userId).avatar_url, url);
});

t.test("[spec 4.15] include_custom_profile_fields adds profile_data, but not for bots", async (t) => {
  const bot = await server.bot("worker", member);
  const seen = await membersSeenBy(member, { include_custom_profile_fields: true });
  t.strictSame(seen.get(owner.userId).profile_data, {});
  t.notOk("profile_data" in seen.get(bot.userId));
  t.notOk("profile_data" in (await membersSeenBy(member)).get(owner.userId));
});

t.test("[spec 2.3] email_address_visibility decides which users see the email; others get a dummy email", async (t) => {
  const target = await server.user("target");
  const viewers = { owner, administrator, moderator, member, guest, target };
  const expected: Readonly<Record<number, readonly (keyof typeof viewers)[]>> = {
    1: ["owner", "administrator", "moderator", "member", "guest", "target"],
    2: ["owner", "administrator", "moderator", "member", "target"],
    3: ["owner", "administrator", "target"],
    4: ["target"],
    5: ["owner", "administrator", "moderator", "target"],
  };
  for (const [visibility, names] of Object.entries(expected)) {
    server.setUser(target.userId, { email_address_visibility: Number(visibility) });
    const email = visibility === "1" ? emailOf(target) : `user${target.userId}@colloquy.invalid`;
    for (const [name, viewer] of Object.entries(viewers)) {
      const seen = (await membersSeenBy(viewer)).get(target.userId);
      const address = names.includes(name as keyof typeof viewers) ? emailOf(target) : null;
      t.strictSame([seen.email, seen.delivery_email], [email, address], `visibility ${visibility}, seen by ${name}`);
    }
  }
});

t.test("[D27] without credentials only spectators can list users, and get no emails", async (t) => {
  const anonymous = owner.anonymous();
  const refused = await anonymous.get("/users");
  const expected = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);
  t.strictSame(outcome(refused), expected);
  server.setRealm({ enable_spectator_access: true });
  for (const params of [{}, { client_gravatar: false, include_custom_profile_fields: true }]) {
    const { status, body } = await anonymous.get("/users", params);
    t.equal(status, 200);
    t.ok(body.members.length > 5);
    for (const user of body.members) {
      t.equal(user.delivery_email, null);
      t.equal(user.email, `user${user.user_id}@colloquy.invalid`);
      t.type(user.avatar_url, "string", "[spec 2.9] null only for viewers who can see the email");
      t.notOk("profile_data" in user);
    }
    t.notMatch(JSON.stringify(body), /@(?!colloquy\.invalid)/);
  }
  await expects(t, anonymous.get("/users/me"), expected, "other operations stay closed");
  server.setRealm({ enable_spectator_access: false });
});

t.test("[behaviour 2.15] guests under can_access_all_users_group see users in a common place", async (t) => {
  const [outsider = 0] = await server.users("outsider", 1);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const seen = await membersSeenBy(guest, { user_ids: [outsider, guest.userId, 1] });
  t.strictSame([...seen.keys()], [1, guest.userId], "themselves and bots");
  t.equal((await membersSeenBy(member)).has(outsider), true);
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("[spec 4.2] a new account gets the organization's defaults and keeps them when they change", async (t) => {
  const { realm } = server.realm.view;
  const setDefaults = (userDefaults: Readonly<Record<string, unknown>>) =>
    server.write("realm", "realm", { ...realm, userDefaults });
  setDefaults({ email_address_visibility: 4 });
  const [early = 0] = await server.users("early", 1);
  setDefaults({});
  const [late = 0] = await server.users("late", 1);
  const seen = await membersSeenBy(owner);
  const found = [early, late].map((id) => seen.get(id).delivery_email);
  t.strictSame(found, [null, "late0@example.com"]);
});
