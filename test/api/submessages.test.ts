/** Polls and to-do lists: POST /submessage, and messages that begin with /poll or /todo (OpenAPI, submessage event). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, Follower, type Params, refusal, success } from "../support/client.ts";
import { MessageMirror, snapshotOf } from "../support/message-mirror.ts";
import { restart } from "../support/restart.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const channelId = await owner.createChannel("polls", [owner, member, other]);

const vote = { type: "vote", key: "canned,0", vote: 1 };
const noWidget = refusal("You cannot attach a submessage to this message.");

function attach(by: Client, message_id: number, content: unknown, more: Params = {}) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return by.post("/submessage", { message_id, msg_type: "widget", content: text, ...more });
}

async function submessagesOf(by: Client, id: number): Promise<Event[]> {
  return (await by.get(`/messages/${id}`)).body.message.submessages;
}

/** The content of the first submessage of a message. */
async function widgetOf(content: string): Promise<unknown> {
  const id = await member.say(channelId, "t", content);
  const [first] = await submessagesOf(member, id);
  return first === undefined ? null : JSON.parse(first.content);
}

const poll = (question: string, options: readonly string[]) => ({
  widget_type: "poll",
  extra_data: { question, options },
});
const todo = (task_list_title: string, tasks: readonly { task: string; desc: string }[]) => ({
  widget_type: "todo",
  extra_data: { task_list_title, tasks },
});

t.test("a message that begins with /poll or /todo is a widget from the start", async (t) => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["/poll", poll("", [])],
    ["/poll Lunch?", poll("Lunch?", [])],
    [
      "/poll  Lunch? \nSoup\n- Rice\n\n* Bread\n   \n -5 degrees",
      poll("Lunch?", ["Soup", "Rice", "Bread", "5 degrees"]),
    ],
    ["/poll\nSoup\nRice", poll("", ["Soup", "Rice"])],
    ["/poll\tTab?\r\nSoup\rRice", poll("Tab?", ["Soup", "Rice"])],
    ["/todo", todo("", [])],
    [
      "/todo Party\ncake: with candles: many\n* music",
      todo("Party", [
        { task: "cake", desc: "with candles: many" },
        { task: "music", desc: "" },
      ]),
    ],
    ["/polls Lunch?", null],
    ["/Poll Lunch?", null],
    ["a /poll Lunch?", null],
    ["/constructor", null],
    ["/me eats", null],
  ];
  for (const [content, widget] of cases) t.strictSame(await widgetOf(content), widget, content);
});

t.test("votes, options and questions are stored in order and sent to readers", async (t) => {
  const follower = await other.follow({ event_types: ["submessage", "message"] });
  const id = await member.say(channelId, "t", "/poll Lunch?\nSoup");
  const steps: readonly (readonly [Client, Params])[] = [
    [other, vote],
    [owner, { type: "new_option", option: "Rice", idx: 1 }],
    [member, { type: "question", question: "Dinner?" }],
    [other, { ...vote, vote: -1 }],
  ];
  for (const [who, step] of steps) await expects(t, attach(who, id, step), success());
  const submessages = await submessagesOf(owner, id);
  const expected = steps.map(([who, step]) => ({
    sender_id: who.userId,
    msg_type: "widget",
    content: JSON.stringify(step),
  }));
  t.strictSame(
    submessages.map(({ id: _id, message_id: _message, ...rest }) => rest),
    [{ sender_id: member.userId, msg_type: "widget", content: JSON.stringify(poll("Lunch?", ["Soup"])) }, ...expected],
  );
  t.ok(submessages.every(({ message_id }) => message_id === id));
  const ids = submessages.map((one) => one.id);
  t.strictSame(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
    "ids ascend",
  );
  await follower.settled();
  t.strictSame(
    follower.ofType("submessage"),
    expected.map((one, index) => ({ type: "submessage", message_id: id, submessage_id: ids[index + 1], ...one })),
  );
});

t.test("steps of polls and to-do lists are validated as on the public server", async (t) => {
  const pollId = await member.say(channelId, "t", "/poll Lunch?");
  const todoId = await member.say(channelId, "t", "/todo Party");
  const task = { type: "new_task", key: 1, task: "cake", desc: "", completed: false };
  const cases: readonly (readonly [number, unknown, string])[] = [
    [pollId, "{", "Invalid json for submessage"],
    [pollId, "[".repeat(100), "Invalid json for submessage"],
    [pollId, [], "poll data is not a dict"],
    [pollId, "null", "poll data is not a dict"],
    [pollId, {}, "type key is missing from poll data"],
    [pollId, { type: 1 }, 'poll data["type"] is not a string'],
    [pollId, { type: "constructor" }, "Unknown type for poll data: constructor"],
    [pollId, { type: "vote", vote: 1 }, "key key is missing from poll data"],
    [pollId, { ...vote, key: 1 }, 'poll data["key"] is not a string'],
    [pollId, { ...vote, vote: 2 }, 'Invalid poll data["vote"]'],
    [pollId, { ...vote, vote: "1" }, 'poll data["vote"] is not an integer'],
    [pollId, { ...vote, more: 1 }, "Unexpected arguments: more"],
    [pollId, { type: "question", question: "?" }, "You can't edit a question unless you are the author."],
    [pollId, { type: "new_option", option: "x", idx: 1001 }, 'poll data["idx"] is too large'],
    [pollId, { type: "new_option", option: "x", idx: -1 }, 'poll data["idx"] is too small'],
    [todoId, vote, "Unknown type for todo data: vote"],
    [todoId, { ...task, completed: 1 }, 'todo data["completed"] is not a boolean'],
    [
      todoId,
      { type: "new_task_list_title", title: "x" },
      "You can't edit the task list title unless you are the author.",
    ],
  ];
  const changes = await owner.watchChanges();
  for (const [id, content, msg] of cases) await expects(t, attach(other, id, content), msg, msg);
  t.strictSame(await changes(), []);
  for (const step of [task, { type: "strike", key: "1,2" }, { ...task, key: 1000 }]) {
    await expects(t, attach(other, todoId, step), success());
  }
  await expects(t, attach(member, todoId, { type: "new_task_list_title", title: "x" }), success());
  await expects(t, attach(other, pollId, { type: "new_option", option: "x", idx: 1000 }), success());
});

t.test("the first one must come from the message's sender, who may send any data", async (t) => {
  const id = await member.say(channelId, "t", "plain");
  await expects(t, attach(other, id, vote), noWidget);
  await expects(t, attach(member, id, { widget_type: "poll", extra_data: {} }), success());
  await expects(t, attach(other, id, vote), success());
  await expects(t, attach(other, id, "[]"), "poll data is not a dict", "it is a poll now");
  const free = await member.say(channelId, "t", "plain");
  await expects(t, attach(member, free, "7", { msg_type: "game" }), success());
  await expects(t, attach(other, free, '"move"', { msg_type: "game" }), success());
  const found = (await submessagesOf(owner, free)).map(({ msg_type, content }) => [msg_type, content]);
  t.strictSame(found, [
    ["game", "7"],
    ["game", '"move"'],
  ]);
});

t.test("[S1] a message that is missing or unreadable accepts no submessage", async (t) => {
  const secret = await owner.createChannel("secret polls", [owner], { invite_only: true });
  const id = await owner.say(secret, "t", "/poll Lunch?");
  const invalid = refusal("Invalid message(s)");
  await expects(t, attach(member, id, vote), invalid);
  await expects(t, attach(member, 987_654_321, vote), invalid);
  const follower = await member.follow({ event_types: ["submessage", "message"] });
  await attach(owner, id, vote);
  await follower.settled();
  t.strictSame(follower.ofType("submessage"), []);
  const gone = await member.say(channelId, "t", "/poll Lunch?");
  await owner.delete(`/messages/${gone}`);
  await expects(t, attach(member, gone, vote), invalid);
  t.equal(server.realm.view.row("widgets", gone), undefined, "the widget is removed with it");
  t.strictSame(server.realm.view.keys("submessages", { start: [gone], end: [gone + 1], limit: 1 }), []);
});

t.test("[S1] a poll does not reveal the names of hidden users to a restricted guest", async (t) => {
  const guest = await server.user("guest", roles.guest);
  const bob = await server.user("bob");
  const shared = await owner.createChannel("with a guest", [owner, guest]);
  const id = await owner.say(shared, "t", "/poll Whom?\n@**bob 0**");
  const follower = await guest.follow({ event_types: ["submessage", "message"] });
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  t.teardown(() => server.setRealm({ can_access_all_users_group: server.group("role:everyone") }));
  await attach(owner, id, { type: "new_option", option: `or @**bob 0|${bob.userId}**`, idx: 1 });
  await follower.until((event) => event.type === "submessage");
  t.notMatch(JSON.stringify(follower.events), /bob 0/);
  t.match(JSON.stringify(follower.events), /Unknown user/);
  t.notMatch(JSON.stringify(await submessagesOf(guest, id)), /bob 0/);
  t.match(JSON.stringify(await submessagesOf(owner, id)), /bob 0/);
});

t.test("a widget can be moved, but not edited", async (t) => {
  const id = await member.say(channelId, "movable", "/poll Lunch?");
  await expects(t, member.patch(`/messages/${id}`, { content: "x" }), "Widgets cannot be edited.");
  t.equal((await member.patch(`/messages/${id}`, { topic: "moved" })).status, 200);
  t.equal((await submessagesOf(other, id)).length, 1);
  await expects(t, attach(other, id, vote), success());
});

t.test("[S3] contents, types, number and total size of submessages are limited", async (t) => {
  const id = await member.say(channelId, "t", "plain");
  const longest = JSON.stringify("x".repeat(limits.submessage_code_points_max - 2));
  const tooLong = refusal(`content is too long (limit: ${limits.submessage_code_points_max} characters)`);
  await expects(t, attach(member, id, longest), success());
  await expects(t, attach(member, id, `${longest} `), tooLong);
  const type = "t".repeat(limits.submessage_type_code_points_max);
  t.equal((await attach(member, id, "1", { msg_type: type })).status, 200);
  t.equal((await attach(member, id, "1", { msg_type: `${type}t` })).status, 400);
  const row = server.realm.view.row("widgets", id);
  t.strictSame(row, { widgetType: "", count: 2, characters: limits.submessage_code_points_max + 1 });
  const { submessages_per_message_max: countMax, submessage_characters_per_message_max: charactersMax } = limits;
  const full = refusal("Too many submessages");
  server.write("widgets", id, { widgetType: "", count: countMax - 1, characters: 0 });
  await expects(t, attach(other, id, "1"), success());
  await expects(t, attach(other, id, "1"), full);
  server.write("widgets", id, { widgetType: "", count: 1, characters: charactersMax - 1 });
  await expects(t, attach(other, id, "12"), full);
  await expects(t, attach(other, id, "1"), success());
});

t.test("[S3] submessages count for the size of an answer", async (t) => {
  const ids = [await member.say(channelId, "t", "/poll 1"), await member.say(channelId, "t", "/poll 2")];
  const half = limits.fetch_characters_max / limits.submessage_overhead_characters / 2;
  const fetched = async () => (await member.get("/messages", { message_ids: ids })).status;
  for (const id of ids) server.write("widgets", id, { widgetType: "poll", count: half - 1, characters: 0 });
  t.equal(await fetched(), 200);
  for (const id of ids) server.write("widgets", id, { widgetType: "poll", count: half, characters: 0 });
  t.equal(await fetched(), 400);
});

t.test("[E2] state before + events = fresh fetch, live and resumed after a restart", async (t) => {
  const before = await startTestServer(t, { dataDir: temporaryFolder(t) });
  const person = await before.user("person");
  const first = await before.owner.say("general", "t", "/poll Lunch?");
  await attach(person, first, vote);
  const fetched = async (client: Client) =>
    (await client.get("/messages", { anchor: "newest", num_before: 10, num_after: 0, apply_markdown: true })).body
      .messages;
  const start = await fetched(person);
  const wanted = { event_types: ["message", "submessage"], apply_markdown: true };
  const queue = await person.register(wanted);
  const follower = new Follower(person, queue);
  await attach(before.owner, first, { type: "question", question: "Dinner?" });
  const second = await person.say("general", "t", "/todo Party\ncake");
  await attach(before.owner, second, { type: "strike", key: "canned,0" });
  await follower.until((event) => event.type === "submessage" && event.message_id === second);
  const fresh = snapshotOf(await fetched(person));
  t.match(fresh, [{ submessages: { length: 3 } }, { submessages: { length: 2 } }]);
  const after = await restart(t, before);
  const repeated = await after.as(person).readNow(queue as never);
  for (const events of [follower.events, repeated]) {
    const mirror = new MessageMirror(start);
    mirror.apply(events);
    t.strictSame(mirror.snapshot(), fresh);
  }
  t.strictSame(snapshotOf(await fetched(after.as(person))), fresh);
});
