/**
 * Topic policies: POST /user_topics and PATCH /users/me/subscriptions/muted_topics (public API: update-user-topic,
 * mute-topic; behaviour 4.3, 4.4), and what happens to them when a channel is left or archived.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Follower, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import type { TestServer } from "../support/server.ts";
import { newUsers, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);
const bot = await server.bot("helper", member);
const former = await server.user("former");
await owner.delete(`/users/${former.userId}`);
const open = await owner.createChannel("open", [guest]);
const sealed = await owner.createChannel("sealed", [owner], { invite_only: true });
const gone = await owner.createChannel("gone", [owner, member]);
await archive(server, gone);

const [none, muted, unmuted, followed] = [0, 1, 2, 3];
const capable = { client_capabilities: { notification_settings_null: true, empty_topic_name: true } };
const unknown = refusal("Invalid channel ID");

async function archive(where: TestServer, id: number): Promise<void> {
  const channel = where.realm.view.channels.get(id);
  if (channel === undefined) throw new Error(`there is no channel ${id}`);
  where.write("channels", id, { ...channel, isArchived: true });
}

const newUser = newUsers(server);

function set(client: Client, id: number, topic: string, policy: number) {
  return client.post("/user_topics", { stream_id: id, topic, visibility_policy: policy });
}

async function topicsOf(client: Client, more: Params = capable): Promise<[number, string, number][]> {
  const state = await client.register({ fetch_event_types: ["user_topic"], ...more });
  const entries = state["user_topics"] as { stream_id: number; topic_name: string; visibility_policy: number }[];
  return entries.map((entry) => [entry.stream_id, entry.topic_name, entry.visibility_policy]);
}

async function mutedOf(client: Client): Promise<[string, string][]> {
  const state = await client.register({ fetch_event_types: ["muted_topics"], ...capable });
  return (state["muted_topics"] as [string, string, number][]).map(([channel, topic]) => [channel, topic]);
}

t.test("each policy is sent to its user alone, and 0 removes it", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const [person, other] = [await clocked.user("person"), await clocked.user("other")];
  const wanted = { event_types: ["user_topic", "message"] };
  const [own, others] = [await person.follow(wanted), await other.follow(wanted)];
  const received: unknown[] = [];
  for (const policy of [muted, unmuted, followed, none]) {
    clock.advance(3000);
    await expects(t, set(person, 1, "Lunch", policy), success());
    const at = Math.floor(clock.now() / 1000);
    const entry = { stream_id: 1, topic_name: "Lunch", last_updated: at, visibility_policy: policy };
    const state = await person.register({ fetch_event_types: ["user_topic"] });
    t.strictSame(state["user_topics"], policy === none ? [] : [entry]);
    received.push({ type: "user_topic", ...entry });
  }
  await own.settled();
  t.strictSame(own.ofType("user_topic"), received);
  await others.settled();
  t.strictSame(others.ofType("user_topic"), []);
  t.strictSame(await topicsOf(other), []);
});

t.test("setting an existing policy or removing a missing one changes nothing", async (t) => {
  const person = await newUser();
  await set(person, open, "Lunch", followed);
  const changes = await person.watchChanges();
  await expects(t, set(person, open, " lunch ", followed), success());
  await expects(t, set(person, open, "dinner", none), success());
  t.strictSame(await changes(), []);
  t.strictSame(await topicsOf(person), [[open, "Lunch", followed]]);
});

t.test("topics ignore case, and the first spelling is kept", async (t) => {
  const person = await newUser();
  const follower = await person.follow({ event_types: ["user_topic", "message"] });
  await set(person, open, "Straße", muted);
  await set(person, open, "STRASSE", muted);
  await set(person, open, "sTRAßE", followed);
  t.strictSame(await topicsOf(person), [
    [open, "STRASSE", muted],
    [open, "Straße", followed],
  ]);
  await follower.settled();
  const found = follower.ofType("user_topic").map(({ topic_name: name }) => name);
  t.strictSame(found, ["Straße", "STRASSE", "Straße"]);
});

t.test("[spec 2.4] the empty topic has several names; clients without the capability get one", async (t) => {
  const person = await newUser();
  const [old, modern] = [
    await person.follow({ event_types: ["user_topic", "message"] }),
    await person.follow({ event_types: ["user_topic", "message"], ...capable }),
  ];
  for (const [index, name] of ["general chat", "", "(no topic)", "  "].entries()) {
    await expects(t, set(person, open, name, 1 + (index % 3)), success(), name);
  }
  t.strictSame(await topicsOf(person), [[open, "", muted]]);
  t.strictSame(await topicsOf(person, {}), [[open, "general chat", muted]]);
  await old.settled();
  await modern.settled();
  const names = (follower: Follower) => [...new Set(follower.ofType("user_topic").map((event) => event.topic_name))];
  t.strictSame([names(old), names(modern)], [["general chat"], [""]]);
});

t.test("[behaviour 4.3] clients that do not ask for user_topic receive muted_topics", async (t) => {
  const person = await newUser();
  const follow = (types: string[] | null) =>
    person.follow(types === null ? capable : { event_types: [...types, "message"], ...capable });
  const [older, both, newer, all] = await Promise.all([
    follow(["muted_topics"]),
    follow(["muted_topics", "user_topic"]),
    follow(["user_topic"]),
    follow(null),
  ]);
  await set(person, open, "noise", muted);
  await set(person, open, "", followed);
  await set(person, open, "noise", none);
  const kinds = async (follower: Follower) => {
    await follower.settled();
    return follower.events
      .filter(({ type }) => type !== "message")
      .map(({ type, muted_topics: list }) =>
        type === "muted_topics" ? list.map(([channel, topic]: string[]) => [channel, topic]) : type,
      );
  };
  // The list has the state at the time when it is read.
  t.strictSame(await kinds(older), [[], []]);
  t.strictSame(await kinds(both), ["user_topic", "user_topic", "user_topic"]);
  t.strictSame(await kinds(newer), ["user_topic", "user_topic", "user_topic"]);
  t.strictSame(await kinds(all), [[], "user_topic", "user_topic", [], "user_topic"]);
  const { muted_topics: list } = await person.register({ fetch_event_types: ["muted_topics", "user_topic"] });
  t.equal(list, undefined, "nor is it in the state");
  t.strictSame((await person.register({ fetch_event_types: null, ...capable }))["muted_topics"], []);
});

t.test("the older operation mutes and unmutes, by the channel's id or name", async (t) => {
  const person = await newUser();
  const path = "/users/me/subscriptions/muted_topics";
  const mute = (params: Params) => person.patch(path, { topic: "noise", ...params });
  await expects(t, mute({ stream_id: open, op: "add" }), success());
  await expects(t, mute({ stream: " OPEN ", op: "add", topic: "more" }), success());
  t.strictSame(await mutedOf(person), [
    ["open", "more"],
    ["open", "noise"],
  ]);
  const follower = await person.follow({ event_types: ["muted_topics", "user_topic", "message"] });
  await expects(t, mute({ stream_id: open, op: "add" }), success(), "already");
  await expects(t, mute({ stream: "open", op: "remove", topic: "MORE" }), success());
  await expects(t, mute({ stream_id: open, op: "remove", topic: "never" }), success());
  await follower.settled();
  t.equal(follower.ofType("user_topic").length, 1);
  t.strictSame(await mutedOf(person), [["open", "noise"]]);
  const notMuted = refusal("Topic is not muted");
  for (const [params, refused] of [
    [{ op: "add" }, refusal("Missing 'stream_id' argument")],
    [
      { op: "add", stream: "open", stream_id: open },
      refusal("Unsupported parameter combination: stream_id, stream", "BAD_REQUEST", 400, {
        parameters: "stream_id, stream",
      }),
    ],
    [{ op: "mute", stream_id: open }, refusal("Invalid op")],
    [{ op: "add", stream_id: sealed }, unknown],
    [{ op: "add", stream_id: 9999 }, unknown],
    [{ op: "add", stream: "sealed" }, refusal("Invalid channel name 'sealed'")],
    [{ op: "add", stream: "no such" }, refusal("Invalid channel name 'no such'")],
    [{ op: "remove", stream_id: sealed }, notMuted],
    [{ op: "remove", stream_id: 9999 }, notMuted],
    [{ op: "remove", stream: "sealed" }, notMuted],
    [{ op: "remove", stream: "no such" }, notMuted],
  ] as const) {
    await expects(t, mute(params), refused, JSON.stringify(params));
  }
});

t.test("each invalid request is rejected with its error message", async (t) => {
  const person = await newUser();
  const changes = await person.watchChanges();
  const long = "x".repeat(limits.topic_code_points_max);
  for (const [params, msg] of [
    [{ visibility_policy: 4 }, "Invalid visibility_policy"],
    [{ visibility_policy: -1 }, "Invalid visibility_policy"],
    [{ visibility_policy: "often" }, "visibility_policy is not valid JSON"],
    [{ topic: `${long}x` }, `topic is too long (limit: ${limits.topic_code_points_max} characters)`],
    [{ topic: "a\u0000" }, "Invalid character in topic, at position 2!"],
    [{ stream_id: 9999 }, "Invalid channel ID"],
    [{ stream_id: -1 }, "stream_id is too small"],
    [{ stream_id: "x" }, "stream_id is not valid JSON"],
    [{ stream_id: gone }, "Invalid channel ID"],
  ] as const) {
    const sent = { stream_id: open, topic: "t", visibility_policy: 1, ...params };
    t.match((await person.post("/user_topics", sent)).body, { result: "error", msg }, JSON.stringify(params));
  }
  for (const name of ["stream_id", "topic", "visibility_policy"]) {
    const { [name]: _left, ...sent } = { stream_id: open, topic: "t", visibility_policy: 1 } as Params;
    const missing = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, person.post("/user_topics", sent), missing);
  }
  t.strictSame(await changes(), []);
  await expects(t, set(person, open, "𝒳".repeat(limits.topic_code_points_max), muted), success());
});

t.test("[S1] a user can set a policy only in channels that they may read", async (t) => {
  const administrator = await server.user("administrator", roles.administrator);
  const moderator = await server.user("moderator", roles.moderator);
  const web = await (async () => {
    server.setRealm({ enable_spectator_access: true });
    return await owner.createChannel("web", [], { is_web_public: true });
  })();
  const rest = await owner.createChannel("members alone", []);
  const rows: [string, Client, readonly boolean[]][] = [
    ["owner", owner, [true, true, true, true]],
    ["administrator", administrator, [true, true, true, false]],
    ["moderator", moderator, [true, true, true, false]],
    ["member", member, [true, true, true, false]],
    ["bot", bot, [true, true, true, false]],
    ["guest", guest, [true, true, false, false]],
  ];
  for (const [name, client, allowed] of rows) {
    for (const [index, id] of [web, open, rest, sealed].entries()) {
      const expected = allowed[index] === true ? success() : unknown;
      await expects(t, set(client, id, "matrix", followed), expected, `${name}: ${index}`);
      await expects(t, set(client, id, "matrix", none), expected, `${name}: ${index}, none`);
    }
  }
  t.equal((await set(former, open, "t", muted)).status, 401);
});

t.test("[behaviour 2.20] a policy is kept when a channel is left or archived, and can be removed there", async (t) => {
  const person = await newUser();
  const id = await owner.createChannel("fleeting", [owner, person], { invite_only: true });
  await set(person, id, "secret", muted);
  t.strictSame(await mutedOf(person), [["fleeting", "secret"]]);
  await person.delete("/users/me/subscriptions", { subscriptions: ["fleeting"] });
  t.strictSame(await topicsOf(person), [[id, "secret", muted]]);
  t.strictSame(await mutedOf(person), [], "[S1] a name that the user may no longer see is not revealed");
  await expects(t, set(person, id, "other", muted), unknown);
  await expects(t, set(person, id, "secret", followed), unknown);
  await expects(t, set(person, id, "secret", none), success());
  await expects(t, set(person, id, "secret", none), unknown);
  const public2 = await owner.createChannel("fading", [person]);
  await set(person, public2, "old", followed);
  await archive(server, public2);
  t.strictSame(await topicsOf(person), [[public2, "old", followed]]);
  await expects(t, set(person, public2, "new", followed), unknown);
  await expects(t, set(person, public2, "old", none), success());
});

t.test("[S3] user_topics_per_user_max: one more is rejected until one goes; a change does not count", async (t) => {
  const person = await newUser();
  const countMax = limits.user_topics_per_user_max;
  const names = Array.from({ length: countMax - 1 }, (_, index) => `t${index}`);
  server.writeMany(
    "userTopics",
    names.map((topic) => [[person.userId, open, topic], { topic, visibilityPolicy: 3, changedAt: 0 }] as const),
  );
  await expects(t, set(person, open, "last", muted), success());
  await expects(t, set(person, open, "beyond", muted), "Too many topics");
  await expects(t, set(person, open, "last", followed), success());
  t.equal((await topicsOf(person)).length, countMax);
  await expects(t, set(person, open, "t0", none), success());
  await expects(t, set(person, open, "beyond", muted), success());
});
