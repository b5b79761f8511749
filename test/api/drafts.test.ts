/** Drafts: GET, POST, PATCH and DELETE /drafts (public API: drafts; spec 2.3; behaviour 1.8, 2.1). */
import t from "tap";
import { removeAllDrafts } from "../../actors/user/drafts.ts";
import { limits } from "../../schemas/limits.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { newUsers, oneOfEachKind, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest, former } = await startServerWithUsers(t, ["member", "guest", "former"]);
await owner.delete(`/users/${former.userId}`);
const general = 1;
const secret = await owner.createChannel("secret", [owner], { invite_only: true });

const wanted = { event_types: ["drafts", "message"] };
const missing = refusal("Draft does not exist", "NOT_FOUND", 404);
const disabled = refusal("User has disabled synchronizing drafts.");
const at = 1_595_479_019;
const toChannel = { type: "stream", to: [general], topic: "soup", content: "Is it hot?", timestamp: at };
const toPeople = { type: "private", to: [owner.userId, member.userId], topic: "", content: "Hi", timestamp: at + 1 };
const toNobody = { type: "", to: [], topic: "", content: "Not yet", timestamp: at + 2 };

const newUser = newUsers(server);

async function draftsOf(client: Client): Promise<Event[]> {
  return (await client.get("/drafts")).body.drafts;
}

async function keep(client: Client, ...drafts: readonly Params[]): Promise<number[]> {
  const { body } = await client.post("/drafts", { drafts });
  if (body.result !== "success") throw new Error(JSON.stringify(body));
  return body.ids;
}

t.test("drafts are stored, listed by last edit, and sent to their owner alone", async (t) => {
  const person = await newUser();
  const [own, other] = [await person.follow(wanted), await member.follow(wanted)];
  await expects(t, person.get("/drafts"), success({ count: 0, drafts: [] }));
  const given = [toPeople, toNobody, toChannel];
  const made = await person.post("/drafts", { drafts: given });
  const [first = 0] = made.body.ids;
  t.strictSame(outcome(made), success({ ids: [first, first + 1, first + 2] }), "ids in the order of the request");
  const kept = given.map((draft, index) => ({ id: first + index, ...draft }));
  const newestFirst = [kept[1], kept[0], kept[2]];
  await expects(t, person.get("/drafts"), success({ count: 3, drafts: newestFirst }));
  t.strictSame((await person.register({ fetch_event_types: ["drafts"] }))["drafts"], newestFirst);
  t.strictSame(await draftsOf(member), [], "other users do not see them");
  await own.settled();
  t.strictSame(own.ofType("drafts"), [{ type: "drafts", op: "add", drafts: kept }], "one event for all of them");
  await other.settled();
  t.strictSame(other.ofType("drafts"), []);
});

t.test("an empty list returns no ids and sends no event", async (t) => {
  const changes = await member.watchChanges();
  await expects(t, member.post("/drafts", { drafts: [] }), success({ ids: [] }));
  await expects(t, member.post("/drafts"), success({ ids: [] }));
  t.strictSame(await changes(), []);
});

t.test("fields that do not belong to the type of a draft are ignored", async (t) => {
  const person = await newUser();
  const unaddressed = { ...toNobody, timestamp: at };
  const cases: readonly (readonly [Params, object])[] = [
    [{ ...toPeople, topic: "ignored" }, toPeople],
    [
      { ...toPeople, to: [] },
      { ...unaddressed, content: "Hi", timestamp: at + 1 },
    ],
    [{ ...toNobody, to: [member.userId], topic: "ignored" }, toNobody],
    [
      { ...toPeople, to: [owner.userId, owner.userId, person.userId] },
      { ...toPeople, to: [owner.userId] },
    ],
    [
      { ...toPeople, to: [person.userId] },
      { ...toPeople, to: [person.userId] },
    ],
    [
      { ...toPeople, to: [former.userId] },
      { ...toPeople, to: [former.userId] },
    ],
    [
      { ...toChannel, topic: "" },
      { ...toChannel, topic: "" },
    ],
    [{ ...toChannel, timestamp: at + 0.75 }, toChannel],
    [
      { ...toChannel, content: " kept in front, not behind \n" },
      { ...toChannel, content: " kept in front, not behind" },
    ],
  ];
  for (const [given, expected] of cases) {
    const [id = 0] = await keep(person, given);
    t.strictSame(await draftsOf(person), [{ id, ...expected }], JSON.stringify(given));
    await person.delete(`/drafts/${id}`);
  }
});

t.test("the server fills in a missing timestamp", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const person = await clocked.user("person");
  const now = () => Math.floor(clock.now() / 1000);
  const { timestamp: _none, ...timeless } = toNobody;
  const [id = 0, other = 0] = await keep(person, timeless, { ...toNobody, timestamp: null });
  const made = now();
  t.strictSame(await draftsOf(person), [
    { id: other, ...timeless, timestamp: made },
    { id, ...timeless, timestamp: made },
  ]);
  clock.advance(3000);
  await expects(t, person.patch(`/drafts/${id}`, { draft: timeless }), success());
  const found = (await draftsOf(person)).map((draft) => [draft.id, draft.timestamp]);
  t.strictSame(found, [
    [id, made + 3],
    [other, made],
  ]);
});

t.test("[behaviour 1.8] content and topic that exceed their limits are truncated, in code points", async (t) => {
  const person = await newUser();
  const contentMax = limits.message_code_points_max;
  const topicMax = limits.topic_code_points_max;
  const mark = "\n[message truncated]";
  const cases = [
    [{ content: "🙂".repeat(contentMax) }, { content: "🙂".repeat(contentMax) }],
    [{ content: "🙂".repeat(contentMax + 1) }, { content: `${"🙂".repeat(contentMax - mark.length)}${mark}` }],
    [{ topic: "🙂".repeat(topicMax) }, { topic: "🙂".repeat(topicMax) }],
    [{ topic: "🙂".repeat(topicMax + 1) }, { topic: `${"🙂".repeat(topicMax - 3)}...` }],
  ] as const;
  for (const [given, expected] of cases) {
    const [id = 0] = await keep(person, { ...toChannel, ...given });
    t.strictSame(await draftsOf(person), [{ id, ...toChannel, ...expected }]);
    await person.delete(`/drafts/${id}`);
  }
});

/** Invalid drafts and the message for each; `draft` is the place of the draft in the request. */
const wrongDrafts: readonly (readonly [unknown, string])[] = [
  [{ ...toChannel, to: [] }, "Must specify exactly 1 channel ID for channel messages"],
  [{ ...toChannel, to: [general, secret] }, "Must specify exactly 1 channel ID for channel messages"],
  [{ ...toChannel, to: [secret] }, "Invalid channel ID"],
  [{ ...toChannel, to: [999_999] }, "Invalid channel ID"],
  [{ ...toPeople, to: [owner.userId, 999_999] }, "Invalid user ID 999999"],
  [{ ...toChannel, content: "a\0b" }, "Message must not contain null bytes"],
  [{ ...toChannel, topic: "a\0b" }, "Topic must not contain null bytes"],
  [{ ...toChannel, content: "" }, 'draft["content"] cannot be blank'],
  [{ ...toChannel, content: " \n" }, 'draft["content"] cannot be blank'],
  [{ ...toChannel, timestamp: -10.1 }, "Timestamp must not be negative."],
  [{ ...toChannel, timestamp: limits.draft_timestamp_s_max + 1 }, 'draft["timestamp"] is too large'],
  [{ ...toChannel, timestamp: "1" }, 'draft["timestamp"] is not a float'],
  [{ ...toChannel, type: "channel" }, 'Invalid draft["type"]'],
  [{ ...toChannel, to: "1" }, 'draft["to"] is not a list'],
  [{ ...toChannel, to: ["1"] }, 'draft["to"][0] is not an integer'],
  [{ ...toChannel, to: [-1] }, 'draft["to"][0] is too small'],
  [{ ...toPeople, to: Array(201).fill(owner.userId) }, 'draft["to"] is too long (limit: 200 items)'],
  [{ ...toChannel, id: 1 }, 'Argument "id" at draft is unexpected'],
  [{ ...toChannel, topic: undefined }, 'draft["topic"] field is missing'],
  [{ ...toChannel, content: 1 }, 'draft["content"] is not a string'],
  ["draft", "draft is not a dict"],
];

t.test("an invalid draft is rejected with its error message, together with the whole request", async (t) => {
  t.equal(limits.direct_recipients_max, 200);
  const person = await newUser();
  const [id = 0] = await keep(person, toChannel);
  const changes = await person.watchChanges();
  for (const [draft, msg] of wrongDrafts) {
    const posted = await person.post("/drafts", { drafts: JSON.stringify([toNobody, draft]) });
    t.strictSame(outcome(posted), refusal(msg.replace(/\bdraft(?=\[| is)/, "drafts[1]")), JSON.stringify(draft));
    const patched = await person.patch(`/drafts/${id}`, { draft: JSON.stringify(draft) });
    t.strictSame(outcome(patched), refusal(msg), JSON.stringify(draft));
  }
  await expects(t, person.post("/drafts", { drafts: "no" }), "drafts is not valid JSON");
  await expects(t, person.post("/drafts", { drafts: {} }), "drafts is not a list");
  const none = refusal("Missing 'draft' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "draft" });
  await expects(t, person.patch(`/drafts/${id}`), none);
  t.strictSame(await changes(), []);
  t.strictSame(await draftsOf(person), [{ id, ...toChannel }]);
  const latest = { ...toNobody, timestamp: limits.draft_timestamp_s_max };
  t.equal((await person.post("/drafts", { drafts: [latest] })).status, 200, "the last valid timestamp");
  const crowded = { ...toPeople, to: Array(200).fill(owner.userId) };
  t.equal((await person.post("/drafts", { drafts: [crowded] })).status, 200);
});

t.test("[S1] a guest can address drafts only to users they may see", async (t) => {
  const open = { ...toPeople, to: [member.userId] };
  t.equal((await guest.post("/drafts", { drafts: [open] })).status, 200);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const refused = await guest.post("/drafts", { drafts: [open] });
  t.strictSame(outcome(refused), refusal(`Invalid user ID ${member.userId}`));
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
  await expects(t, guest.post("/drafts", { drafts: [toChannel] }), "Invalid channel ID");
});

t.test("[S3] drafts_per_user_max: one more is rejected, also in one request", async (t) => {
  const person = await newUser();
  const countMax = limits.drafts_per_user_max;
  const rows = Array.from({ length: countMax - 2 }, (_, index) => {
    const id = 1_000_000 + index;
    const row = {
      id,
      userId: person.userId,
      type: "",
      to: [],
      topic: "",
      content: "x",
      changedAt: index * 1000,
    } as const;
    return [[person.userId, id], row] as const;
  });
  server.writeMany("drafts", rows);
  const tooMany = refusal("Too many drafts");
  await expects(t, person.post("/drafts", { drafts: [toNobody, toNobody, toNobody] }), tooMany);
  await keep(person, toNobody, toNobody);
  await expects(t, person.post("/drafts", { drafts: [toNobody] }), tooMany);
  const { body } = await person.get("/drafts");
  t.equal(body.count, countMax);
  t.equal(body.drafts.length, countMax);
  const state = await person.register({ fetch_event_types: ["drafts"] });
  t.equal((state["drafts"] as unknown[]).length, countMax, "[behaviour 1.8] all of them are in the state");
  const drafts = Array(countMax + 1).fill(toNobody);
  const tooLong = refusal(`drafts is too long (limit: ${countMax} items)`);
  await expects(t, member.post("/drafts", { drafts }), tooLong);
});

t.test("an edit replaces the draft, and sends the whole draft only if it differs", async (t) => {
  const person = await newUser();
  const [id = 0] = await keep(person, toChannel);
  const follower = await person.follow(wanted);
  for (const draft of [toPeople, toNobody, toChannel]) {
    await expects(t, person.patch(`/drafts/${id}`, { draft }), success());
    await expects(t, person.patch(`/drafts/${id}`, { draft }), success(), "repeating it changes nothing");
    t.strictSame(await draftsOf(person), [{ id, ...draft }]);
  }
  await follower.settled();
  const received = [toPeople, toNobody, toChannel].map((draft) => ({
    type: "drafts",
    op: "update",
    draft: { id, ...draft },
  }));
  t.strictSame(follower.ofType("drafts"), received);
});

t.test("a draft is deleted once; another user's draft does not exist", async (t) => {
  const person = await newUser();
  const [id = 0] = await keep(person, toChannel);
  const follower = await person.follow(wanted);
  await expects(t, member.delete(`/drafts/${id}`), missing);
  await expects(t, member.patch(`/drafts/${id}`, { draft: toNobody }), missing);
  t.strictSame(await draftsOf(person), [{ id, ...toChannel }]);
  await expects(t, person.delete(`/drafts/${id}`), success());
  await expects(t, person.delete(`/drafts/${id}`), missing);
  await expects(t, person.patch(`/drafts/${id}`, { draft: { ...toChannel, to: [secret] } }), missing);
  await expects(t, person.delete("/drafts/0"), missing);
  t.equal((await person.delete("/drafts/abc")).status, 404);
  await follower.settled();
  t.strictSame(follower.ofType("drafts"), [{ type: "drafts", op: "remove", draft_id: id }]);
  t.ok(((await keep(person, toNobody))[0] ?? 0) > id, "no id is used twice");
});

t.test("[spec 2.3] without enable_drafts_synchronization every operation on drafts is rejected", async (t) => {
  const person = await newUser();
  const [id = 0] = await keep(person, toChannel, toPeople);
  server.setUser(person.userId, { enable_drafts_synchronization: false });
  await expects(t, person.get("/drafts"), disabled);
  await expects(t, person.post("/drafts", { drafts: [] }), disabled);
  await expects(t, person.post("/drafts", { drafts: [toNobody] }), disabled);
  await expects(t, person.patch(`/drafts/${id}`, { draft: toNobody }), disabled);
  await expects(t, person.delete(`/drafts/${id}`), disabled);
  t.strictSame((await person.register({ fetch_event_types: ["drafts"] }))["drafts"], []);
  server.setUser(person.userId, { enable_drafts_synchronization: true });
  t.equal((await draftsOf(person)).length, 2);
});

t.test("[spec 2.3] turning synchronization off deletes all drafts of the user without an event", async (t) => {
  const person = await newUser();
  const ids = await keep(person, toChannel, toPeople, toNobody);
  await keep(member, toNobody);
  t.strictSame(
    removeAllDrafts(server.realm.view, person.userId),
    ids.map((id) => ({ kind: "remove", table: "drafts", key: [person.userId, id], row: null })),
  );
});

t.test("every user can keep drafts, guests and bots included", async (t) => {
  for (const client of await oneOfEachKind(server)) {
    const [id = 0] = await keep(client, toNobody);
    await expects(t, client.patch(`/drafts/${id}`, { draft: toPeople }), success(), `${client.userId}`);
    t.ok((await draftsOf(client)).some((draft) => draft.id === id));
    await expects(t, client.delete(`/drafts/${id}`), success());
  }
});
