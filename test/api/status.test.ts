/**
 * Status: POST /users/me/status, POST and GET /users/{user_id}/status (spec 2.7, 4.11, 4.12, 7; behaviour 2.11, 2.12).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { everyRole, newUsers, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const bot = await server.bot("helper", member);
const former = await server.user("former");
await owner.delete(`/users/${former.userId}`);

const car = { emoji_name: "car", emoji_code: "1f697", reaction_type: "unicode_emoji" };
const wanted = { event_types: ["user_status", "user_settings", "message"] };
const textMax = limits.status_text_code_points_max;

async function statusOf(person: Client, by: Client = owner): Promise<Event> {
  return (await by.get(`/users/${person.userId}/status`)).body.status;
}

async function stateOf(viewer: Client): Promise<Event> {
  return (await viewer.register({ fetch_event_types: ["user_status"] }))["user_status"];
}

/** A new user, so that tests share no status. */
const newUser = newUsers(server);

const realmEmoji = { authorId: 2, isActive: true, file: "x.png", stillFile: null, createdAt: 0 };
server.write("realmEmoji", 1, { ...realmEmoji, id: 1, name: "party" });
server.write("realmEmoji", 2, { ...realmEmoji, id: 2, name: "gone", isActive: false });
server.write("realmEmoji", 3, { ...realmEmoji, id: 3, name: "smile" });

t.test("[spec 4.12] a status is returned to others, sent to everybody, and in the state of /register", async (t) => {
  const person = await newUser();
  const follower = await member.follow(wanted);
  await expects(t, person.post("/users/me/status", { status_text: "  on vacation ", ...car }), success());
  const set = { status_text: "on vacation", ...car };
  await expects(t, member.get(`/users/${person.userId}/status`), success({ status: set }));
  t.strictSame(await statusOf(person, guest), set);
  t.strictSame((await stateOf(member))[person.userId], set);
  await follower.settled();
  t.strictSame(follower.ofType("user_status"), [{ type: "user_status", user_id: person.userId, ...set }]);
});

t.test("a user without a status has an empty one and is not in the state", async (t) => {
  const person = await newUser();
  await expects(t, member.get(`/users/${person.userId}/status`), success({ status: {} }));
  t.notOk(String(person.userId) in (await stateOf(member)));
});

t.test("[spec 4.12] only the parameters sent change; an empty string clears each", async (t) => {
  const person = await newUser();
  const follower = await member.follow(wanted);
  const id = { type: "user_status", user_id: person.userId };
  const none = { emoji_name: "", emoji_code: "", reaction_type: "unicode_emoji" };
  const steps: readonly (readonly [Params, object, object])[] = [
    [{ status_text: "first" }, { status_text: "first" }, { status_text: "first" }],
    [{ emoji_name: "car" }, { status_text: "first", ...car }, car],
    [{ status_text: "second" }, { status_text: "second", ...car }, { status_text: "second" }],
    [{ emoji_name: "" }, { status_text: "second" }, none],
    [{ ...car, status_text: "" }, car, { status_text: "", ...car }],
    [{ status_text: "", emoji_name: "", emoji_code: "", reaction_type: "" }, {}, { status_text: "", ...none }],
    [{ emoji_name: "", emoji_code: "1f697", reaction_type: "realm_emoji" }, {}, none],
  ];
  for (const [params, expected, received] of steps) {
    await expects(t, person.post("/users/me/status", params), success(), JSON.stringify(params));
    t.strictSame(await statusOf(person), expected, JSON.stringify(params));
    await follower.settled();
    t.strictSame(follower.ofType("user_status").at(-1), { ...id, ...received });
  }
  t.equal(follower.ofType("user_status").length, steps.length);
  t.equal(server.realm.view.row("statuses", person.userId), undefined, "an empty status has no row");
});

t.test("[behaviour 2.12] an event is sent even if nothing changed", async (t) => {
  const person = await newUser();
  const follower = await member.follow(wanted);
  await person.post("/users/me/status", { status_text: "same" });
  await person.post("/users/me/status", { status_text: "same" });
  await follower.settled();
  t.equal(follower.ofType("user_status").length, 2);
});

t.test("[spec 8] status_text has at most 60 code points after trimming", async (t) => {
  const person = await newUser();
  for (const text of ["x".repeat(textMax), "🚗".repeat(textMax), ` ${"ß".repeat(textMax)} `]) {
    await expects(t, person.post("/users/me/status", { status_text: text }), success());
    t.equal((await statusOf(person)).status_text, text.trim());
  }
  const tooLong = refusal("status_text is too long (limit: 60 characters)");
  for (const text of ["x".repeat(textMax + 1), "🚗".repeat(textMax + 1)]) {
    await expects(t, person.post("/users/me/status", { status_text: text }), tooLong);
    await expects(t, owner.post(`/users/${person.userId}/status`, { status_text: text }), tooLong);
  }
  t.equal((await statusOf(person)).status_text, "ß".repeat(textMax), "a rejected request changes nothing");
});

const refusals: readonly (readonly [Params, string])[] = [
  [{}, "Client did not pass any new values."],
  [{ unknown: "x" }, "Client did not pass any new values."],
  [{ emoji_code: "1f697" }, "Client did not pass any new values."],
  [
    { status_text: "x", emoji_code: "1f697" },
    "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
  ],
  [
    { status_text: "x", reaction_type: "unicode_emoji" },
    "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
  ],
  [{ emoji_name: "invalid" }, "Emoji 'invalid' does not exist"],
  [{ emoji_name: "invalid", emoji_code: "1f697" }, "Emoji 'invalid' does not exist"],
  [{ emoji_name: "gone" }, "Emoji 'gone' does not exist"],
  [{ emoji_name: "car", emoji_code: "1f4bb" }, "Invalid emoji name."],
  [{ emoji_name: "nothing", emoji_code: "1f697", reaction_type: "unicode_emoji" }, "Invalid emoji name."],
  [{ emoji_name: "car", emoji_code: "1F697" }, "Invalid emoji code."],
  [{ emoji_name: "car", emoji_code: "" }, "Invalid emoji code."],
  [{ emoji_name: "car", emoji_code: "1f697", reaction_type: "zulip_extra_emoji" }, "Invalid emoji code."],
  [{ emoji_name: "car", emoji_code: "zulip", reaction_type: "service_extra_emoji" }, "Invalid emoji name."],
  [{ emoji_name: "car", emoji_code: "1f697", reaction_type: "emoji" }, "Invalid emoji type."],
  [{ emoji_name: "car", reaction_type: "" }, "Invalid emoji type."],
  [{ emoji_name: "car", emoji_code: "1f4bb", reaction_type: "realm_emoji" }, "Invalid custom emoji."],
  [{ emoji_name: "party", emoji_code: "99", reaction_type: "realm_emoji" }, "Invalid custom emoji."],
  [{ emoji_name: "party", emoji_code: "01", reaction_type: "realm_emoji" }, "Invalid custom emoji."],
  [{ emoji_name: "car", emoji_code: "1", reaction_type: "realm_emoji" }, "Invalid custom emoji name."],
  [{ emoji_name: "gone", emoji_code: "2", reaction_type: "realm_emoji" }, "This custom emoji has been deactivated."],
  [{ emoji_name: "x".repeat(201) }, "emoji_name is too long (limit: 200 characters)"],
  [{ emoji_name: "car", emoji_code: "x".repeat(201) }, "emoji_code is too long (limit: 200 characters)"],
  [{ emoji_name: "car", reaction_type: "x".repeat(201) }, "reaction_type is too long (limit: 200 characters)"],
];

t.test("[spec 7] each invalid status is rejected with its message, for oneself and others", async (t) => {
  t.equal(limits.emoji_name_or_code_code_points_max, 200);
  const person = await newUser();
  await person.post("/users/me/status", { status_text: "before", ...car });
  const follower = await member.follow(wanted);
  for (const [params, msg] of refusals) {
    await expects(t, person.post("/users/me/status", params), msg, JSON.stringify(params));
    await expects(t, owner.post(`/users/${person.userId}/status`, params), msg);
  }
  await expects(t, person.post("/users/me/status", { away: "maybe" }), "away is not valid JSON");
  await expects(t, person.post("/users/me/status", { away: 1 }), "away is not a boolean");
  t.strictSame(await statusOf(person), { status_text: "before", ...car });
  await follower.settled();
  t.strictSame(follower.ofType("user_status"), []);
  const longest = await person.post("/users/me/status", { emoji_name: "x".repeat(200) });
  t.strictSame(outcome(longest), refusal(`Emoji '${"x".repeat(200)}' does not exist`));
});

t.test("[spec 2.7] emoji names are looked up in three namespaces, the realm's first; aliases are kept", async (t) => {
  const person = await newUser();
  const cases: readonly (readonly [Params, object])[] = [
    [{ emoji_name: "car" }, car],
    [{ emoji_name: "+1" }, { emoji_name: "+1", emoji_code: "1f44d", reaction_type: "unicode_emoji" }],
    [{ emoji_name: "thumbs_up" }, { emoji_name: "thumbs_up", emoji_code: "1f44d", reaction_type: "unicode_emoji" }],
    [{ emoji_name: "party" }, { emoji_name: "party", emoji_code: "1", reaction_type: "realm_emoji" }],
    [{ emoji_name: "smile" }, { emoji_name: "smile", emoji_code: "3", reaction_type: "realm_emoji" }],
    [{ emoji_name: "zulip" }, { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "service_extra_emoji" }],
    ...["zulip_extra_emoji", "service_extra_emoji"].map(
      (type) =>
        [
          { emoji_name: "zulip", emoji_code: "zulip", reaction_type: type },
          { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "service_extra_emoji" },
        ] as const,
    ),
  ];
  for (const [params, expected] of cases) {
    await expects(t, person.post("/users/me/status", params), success(), JSON.stringify(params));
    t.strictSame(await statusOf(person), expected, `[D22] ${JSON.stringify(params)}`);
  }
});

t.test("[spec 4.12] away is the inverse of presence_enabled, which changes with it", async (t) => {
  const person = await newUser();
  const own = await person.follow(wanted);
  const other = await member.follow(wanted);
  const settingOf = async () =>
    (await person.register({ fetch_event_types: ["user_settings"] }))["user_settings"] as Event;
  const setting = (value: boolean) => ({ type: "user_settings", op: "update", property: "presence_enabled", value });
  const received = (rest: object) => ({ type: "user_status", user_id: person.userId, ...rest });

  await expects(t, person.post("/users/me/status", { away: true, status_text: "out" }), success());
  t.equal((await settingOf()).presence_enabled, false);
  t.strictSame(await statusOf(person), { away: true, status_text: "out" });
  t.strictSame((await stateOf(member))[person.userId], { away: true, status_text: "out" });
  await person.post("/users/me/status", { away: true });
  await expects(t, person.post("/users/me/status", { away: false }), success());
  t.equal((await settingOf()).presence_enabled, true);
  t.strictSame(await statusOf(person), { status_text: "out" });
  t.strictSame(server.realm.view.users.get(person.userId)?.settings, {}, "only values that differ are stored");

  await own.settled();
  t.strictSame(
    own.ofType("user_settings"),
    [setting(false), setting(true)],
    "one event each, and none without a change",
  );
  await other.settled();
  const events = [received({ away: true, status_text: "out" }), received({ away: true }), received({ away: false })];
  t.strictSame(other.ofType("user_status"), events);
  t.strictSame(other.ofType("user_settings"), [], "settings are private to the user");
});

t.test("[spec 4.11] only administrators change the status of others, for every role", async (t) => {
  const person = await newUser();
  const path = `/users/${person.userId}/status`;
  const denied = refusal("Insufficient permission");
  const matrix = [
    [owner, success()],
    [administrator, success()],
    [moderator, denied],
    [member, denied],
    [guest, denied],
    [bot, denied],
  ] as const;
  for (const [client, expected] of matrix) {
    const text = `by ${client.userId}`;
    await expects(t, client.post(path, { status_text: text }), expected, `role of ${client.userId}`);
    const changed = expected === denied ? { status_text: `by ${administrator.userId}` } : { status_text: text };
    t.strictSame(await statusOf(person), changed);
    t.equal((await client.get(path)).status, 200, "everybody may read it");
  }
  await expects(t, member.post(path, {}), denied, "the permission is checked before the values");
  await expects(t, member.post(`/users/${member.userId}/status`, { status_text: "x" }), denied);
});

t.test("[spec 4.12] every user but bots has a status", async (t) => {
  for (const client of [owner, administrator, moderator, member, guest]) {
    await expects(t, client.post("/users/me/status", { status_text: "mine" }), success());
    t.strictSame(await statusOf(client), { status_text: "mine" });
  }
  const noBots = refusal("This endpoint does not accept bot requests.");
  await expects(t, bot.post("/users/me/status", { status_text: "mine" }), noBots);
});

t.test("[spec 4.11] an administrator's change sends the same event as the user's; away is no parameter", async (t) => {
  const person = await newUser();
  const follower = await guest.follow(wanted);
  const answer = await administrator.post(`/users/${person.userId}/status`, { status_text: "ill", away: true });
  t.strictSame(outcome(answer), success({ ignored_parameters_unsupported: ["away"] }));
  await follower.settled();
  const received = { type: "user_status", user_id: person.userId, status_text: "ill" };
  t.strictSame(follower.ofType("user_status"), [received]);
  t.strictSame(await statusOf(person), { status_text: "ill" });
});

t.test("[behaviour 2.11] unknown users, bots and deactivated users have no status", async (t) => {
  const missing = refusal("No such user");
  const gone = refusal("User is deactivated");
  const cases = [
    [999_999, missing],
    [0, missing],
    [bot.userId, missing],
    [1, missing],
    [former.userId, gone],
  ] as const;
  for (const [id, expected] of cases) {
    for (const client of [owner, member, guest]) {
      await expects(t, client.post(`/users/${id}/status`, { status_text: "x" }), expected, `${id}`);
      await expects(t, client.get(`/users/${id}/status`), expected, `${id}`);
    }
  }
  t.equal((await owner.get("/users/abc/status")).status, 404);
  t.equal((await owner.get("/users/me/status")).status, 405);
});

t.test("[S1] a guest who may not see a user receives nothing about their status", async (t) => {
  const person = await newUser();
  const follower = await guest.follow(wanted);
  const queue = await guest.register({ event_types: ["user_status"], fetch_event_types: [] });
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await person.post("/users/me/status", { status_text: "secret", away: true });
  await guest.post("/users/me/status", { status_text: "own" });
  await follower.settled();
  const received = [{ type: "user_status", user_id: guest.userId, status_text: "own" }];
  t.strictSame(follower.ofType("user_status"), received);
  t.equal((await guest.readNow(queue)).length, 1, "nor later from the log");
  t.strictSame(Object.keys(await stateOf(guest)), [String(guest.userId)]);
  const missing = refusal("No such user");
  await expects(t, guest.get(`/users/${person.userId}/status`), missing);
  await expects(t, guest.post(`/users/${person.userId}/status`, { status_text: "x" }), missing);
  await expects(t, guest.get(`/users/${former.userId}/status`), missing);
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("a guest to whom a user becomes visible receives the status that was set before", async (t) => {
  const [met, written, plain] = [await newUser(), await newUser(), await newUser()];
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await met.post("/users/me/status", { status_text: "in a channel", away: true });
  await written.post("/users/me/status", { emoji_name: "car" });
  const follower = await guest.follow(wanted);
  const before = await stateOf(guest);
  await owner.createChannel("meeting", [guest, met, plain]);
  await written.post("/messages", { type: "direct", to: [guest.userId], content: "hello" });
  await follower.settled();
  const events = follower.ofType("user_status");
  t.equal(events.length, 2, "no other user's, and nothing of users without a status");
  const fresh = await stateOf(guest);
  t.strictSame(applied(before, events), fresh);
  t.strictSame(fresh[met.userId], { away: true, status_text: "in a channel" });
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("a user who joins while presence sharing is off by default is away from the start", async (t) => {
  const follower = await member.follow(wanted);
  await owner.patch("/realm/user_settings_defaults", { presence_enabled: false });
  const newcomer = await newUser();
  await owner.patch("/realm/user_settings_defaults", { presence_enabled: true });
  await newUser();
  await follower.settled();
  const away = { type: "user_status", user_id: newcomer.userId, away: true };
  t.strictSame(follower.ofType("user_status"), [away]);
  t.strictSame((await stateOf(member))[newcomer.userId], { away: true });
});

/** Behaviour 4.5: empty texts and false remove keys; a user without keys is removed. */
function applied(state: Event, events: readonly Event[]): Event {
  const next = structuredClone(state);
  for (const { type: _type, user_id: id, ...parts } of events) {
    const all = { ...next[id], ...parts };
    if (all.emoji_name === "") for (const key of ["emoji_name", "emoji_code", "reaction_type"]) delete all[key];
    const kept = Object.entries(all).filter(([, value]) => value !== "" && value !== false);
    next[id] = Object.fromEntries(kept);
    if (kept.length === 0) delete next[id];
  }
  return next;
}

t.test("state before + events = fresh state", async (t) => {
  const [first, second] = [await newUser(), await newUser()];
  await first.post("/users/me/status", { status_text: "before", emoji_name: "car" });
  const follower = await member.follow(wanted);
  const before = await stateOf(member);
  await first.post("/users/me/status", { status_text: "", emoji_name: "" });
  await second.post("/users/me/status", { status_text: "new", away: true });
  await owner.post(`/users/${second.userId}/status`, { emoji_name: "party" });
  await second.post("/users/me/status", { away: false, status_text: "" });
  // The setting is the inverse of `away`, so changing it changes the status that others see.
  await first.patch("/settings", { presence_enabled: false, full_name: "First" });
  await second.patch("/settings", { presence_enabled: false });
  await second.patch("/settings", { presence_enabled: true });
  await second.patch("/settings", { presence_enabled: true });
  await owner.delete(`/users/${second.userId}`);
  await follower.settled();
  const fresh = await stateOf(member);
  t.strictSame(applied(before, follower.ofType("user_status")), fresh);
  t.match(fresh[second.userId], { emoji_name: "party" });
  t.strictSame(fresh[first.userId], { away: true });
  const bySettings = follower.ofType("user_status").slice(-3);
  t.strictSame(bySettings, [
    { type: "user_status", user_id: first.userId, away: true },
    { type: "user_status", user_id: second.userId, away: true },
    { type: "user_status", user_id: second.userId, away: false },
  ]);
});
