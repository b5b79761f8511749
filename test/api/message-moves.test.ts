/**
 * Moving messages between topics and channels with PATCH /messages/{id} (spec 2.4, 2.9; public API: update-message;
 * behaviour 5.6): renaming, resolving, parts of topics, other channels. message-moves-permissions.test.ts tests
 * permissions, message-moves-events.test.ts events, and test/runtime/message-moves.test.ts many messages.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { auditRealm } from "../support/audit.ts";
import { type Client, expects, outcome, type Params, refusal } from "../support/client.ts";
import { audit, idsOf, move, moved, placeMaker, quietly, read, say, topicOf } from "../support/message-moves.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest, moderator, administrator } = await startServerWithUsers(t, [
  ...everyRole,
  "other",
]);
const everybody = [owner, member, other, guest, moderator, administrator];
const { place } = placeMaker(everybody);

t.test("[S3] move_batch_characters: long messages are moved in smaller batches, all of them", async (t) => {
  const [from, to] = [await place(), await place()];
  const { lmdb } = server.realm;
  const rendered = "x".repeat(limits.move_batch_characters / 2);
  const ids = await say(member, from, "long", 40);
  const rows = ids.flatMap((id) => lmdb.get("messages", id) ?? []);
  for (const row of rows) server.write("messages", row.id, { ...row, rendered });
  t.ok(ids.length * rendered.length > limits.turn_bytes_max, "together they exceed one turn");
  const follower = await member.follow({ event_types: ["update_message", "message"] });
  await expects(t, move(administrator, ids[0] ?? 0, { stream_id: to, propagate_mode: "change_all" }), moved);
  await follower.settled();
  const received = follower.ofType("update_message").map(({ message_ids }) => message_ids);
  t.strictSame(received.flat(), ids);
  t.equal(received.length, 20, "two have exactly the characters of a batch");
  const keys = lmdb.keys("channelMessages", { start: [to], end: [to + 1], limit: 100 });
  const found = keys.map(([, id]) => id);
  t.strictSame(found, ids);
});

t.test("renaming a whole topic changes all its messages, with time and history", async (t) => {
  const id = await place();
  const ids = await say(member, id, "lunch", 3);
  await expects(t, move(other, ids[1] ?? 0, { topic: "dinner", propagate_mode: "change_all" }), moved);
  t.strictSame(await idsOf(member, id, "dinner"), ids);
  t.strictSame(await idsOf(member, id, "lunch"), []);
  const message = await read(member, ids[0] ?? 0);
  t.match(message, { subject: "dinner", last_moved_timestamp: Number });
  t.notOk("last_edit_timestamp" in message);
  t.strictSame(message.edit_history, [
    { user_id: other.userId, timestamp: message.last_moved_timestamp, prev_topic: "lunch", topic: "dinner" },
  ]);
  const fresh = await member.say(id, "dinner", "later");
  t.notOk("edit_history" in (await read(member, fresh)), "a later message never had another topic");
  t.same(await idsOf(member, id, "dinner"), [...ids, fresh]);
  await member.say(id, "lunch", "a new lunch");
  t.equal((await idsOf(member, id, "lunch")).length, 1, "a post with the old name starts a new topic");
  audit(t, server);
});

t.test("[spec 2.9] the history has the topic in the spelling of the target topic", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "from", 1);
  await say(member, id, "Kept", 1);
  await expects(t, move(owner, a, { topic: "KEPT" }), moved);
  t.match(await read(member, a), { subject: "Kept", edit_history: [{ prev_topic: "from", topic: "Kept" }] });
});

t.test("change_one and change_later do not move the other messages", async (t) => {
  const id = await place();
  const [a = 0, b = 0, c = 0, d = 0] = await say(member, id, "from", 4);
  await expects(t, move(member, b, { topic: "to" }), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[a, c, d], [b]]);
  await expects(t, move(member, c, { topic: "to", propagate_mode: "change_later" }), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[a], [b, c, d]]);
  await expects(t, move(member, a, { topic: "to", propagate_mode: "change_later" }), moved);
  t.strictSame([await idsOf(member, id, "from"), await idsOf(member, id, "to")], [[], [a, b, c, d]]);
  t.equal((await read(member, c)).edit_history.length, 1);
  audit(t, server);
});

t.test("[spec 2.9] a message keeps its own history across a move and gets no entries of other messages", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "one", 1);
  const [b = 0] = await say(member, id, "target", 1);
  await move(member, b, { topic: "target before", propagate_mode: "change_all" });
  await move(member, a, { topic: "two", propagate_mode: "change_all" });
  await move(member, a, { topic: "target before", propagate_mode: "change_all" });
  await move(member, b, { topic: "target after", propagate_mode: "change_all" });
  await move(member, a, { topic: "alone" });
  const names = async (messageId: number) =>
    (await read(member, messageId)).edit_history.map((entry: Params) => [entry["prev_topic"], entry["topic"]]);
  t.strictSame(await names(a), [
    ["target after", "alone"],
    ["target before", "target after"],
    ["two", "target before"],
    ["one", "two"],
  ]);
  t.strictSame(await names(b), [
    ["target before", "target after"],
    ["target", "target before"],
  ]);
  const { body } = await member.get(`/messages/${a}/history`);
  const found = body.message_history.map((entry: Params) => entry["topic"]);
  t.strictSame(found, ["one", "two", "target before", "target after", "alone"]);
});

t.test("[spec 2.9] resolving sets no last_moved_timestamp, adds to the history, and posts a notice", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "question", 1);
  await expects(t, member.patch(`/messages/${a}`, { topic: "✔ question", propagate_mode: "change_all" }), moved);
  const message = await read(member, a);
  t.match(message, { subject: "✔ question", edit_history: [{ prev_topic: "question", topic: "✔ question" }] });
  t.notOk("last_moved_timestamp" in message);
  const mention = `@_**member 0|${member.userId}**`;
  const found = (await topicOf(member, id, "✔ question")).map(([, content]) => content);
  t.strictSame(found, ["number 0", `${mention} has marked this topic as resolved.`]);
  t.equal(
    (await read(member, (await idsOf(member, id, "✔ question"))[1] ?? 0)).sender_id,
    1,
    "by the notification bot",
  );
  const narrow = [
    { operator: "is", operand: "resolved" },
    { operator: "channel", operand: id },
  ];
  const { body } = await member.get("/messages", { anchor: 0, num_before: 0, num_after: 10, narrow });
  t.equal(body.messages.length, 2);
  audit(t, server);
});

t.test("unresolving at once deletes the notice; later there are two notices", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const id = await owner.say("general", "q", "text");
  const rename = (topic: string) => owner.patch(`/messages/${id}`, { topic, propagate_mode: "change_all" });
  await rename("✔ q");
  clock.advance(limits.resolve_undo_s * 1000);
  await rename("q");
  const found = (await topicOf(owner, 1, "q")).map(([, content]) => content);
  t.strictSame(found, ["text"]);
  await rename("✔ q");
  clock.advance(limits.resolve_undo_s * 1000 + 1);
  await rename("q");
  const contents = (await topicOf(owner, 1, "q")).map(([, content]) => content);
  t.strictSame(contents, [
    "text",
    "@_**Owner|2** has marked this topic as resolved.",
    "@_**Owner|2** has marked this topic as unresolved.",
  ]);
});

for (const { what, topic, contents } of [
  { what: "a member who came back and missed nothing of the topic", topic: "other", contents: ["text"] },
  {
    what: "not a member who missed a message of the topic: it stays, and so does the notice",
    topic: "q",
    contents: ["Away has marked this topic as unresolved.", "Owner has marked this topic as resolved.", "away", "text"],
  },
]) {
  t.test(`who unresolves at once in protected history and thereby deletes the notice: ${what}`, async (t) => {
    const { server } = await startClockedServer(t);
    const { owner } = server;
    const away = await server.person("Away");
    const more = { invite_only: true, history_public_to_subscribers: false };
    const channel = await owner.createChannel("protected", [owner, away], more);
    const id = await away.say("protected", "q", "text");
    await away.delete("/users/me/subscriptions", { subscriptions: ["protected"] });
    await owner.say("protected", topic, "away");
    const again = { subscriptions: [{ name: "protected" }], principals: [away.userId] };
    await owner.post("/users/me/subscriptions", again);
    const rename = (by: Client, name: string) =>
      by.patch(`/messages/${id}`, { topic: name, propagate_mode: "change_all" });
    await expects(t, rename(owner, "✔ q"), moved);
    await expects(t, rename(away, "q"), moved);
    const left = ["q", "✔ q"].map((name) => topicOf(owner, channel, name));
    const texts = (await Promise.all(left)).flat().map(([, content]) => content.replace(/@_\*\*(\w+)\|\d+\*\*/, "$1"));
    t.strictSame(texts.sort(), contents);
  });
}

t.test("topic names are trimmed, truncated and must be printable; the empty topic cannot be resolved", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "names", 1);
  const long = "🍎".repeat(limits.topic_code_points_max);
  for (const [topic, expected] of [
    ["  padded ", "padded"],
    [long, long],
    [`${long}x`, `${"🍎".repeat(limits.topic_code_points_max - 3)}...`],
    [" general chat ", "general chat"],
  ]) {
    await expects(t, move(member, a, { topic }), moved);
    t.equal((await read(member, a)).subject, expected);
  }
  await expects(t, move(member, a, { topic: "(no topic)" }), "Nothing to change", "means the empty topic");
  t.equal((await member.get(`/messages/${a}`, { allow_empty_topic_name: true })).body.message.subject, "");
  t.match((await member.get(`/messages/${a}`, { allow_empty_topic_name: true })).body.message.edit_history[0], {
    topic: "",
  });
  for (const topic of ["✔", "✔ general chat", " ✔ "]) {
    await expects(t, move(member, a, { topic }), "General chat cannot be marked as resolved");
  }
  await expects(t, move(member, a, { topic: "a\u0007b" }), "Invalid character in topic, at position 2!");
  await expects(
    t,
    member.patch(`/messages/${a}`, { topic: "x", subject: "y" }),
    refusal("Can't decide between 'topic' and 'subject' arguments", "REQUEST_CONFUSING_VAR", 400, {
      var_name1: "topic",
      var_name2: "subject",
    }),
  );
});

t.test("[D53] changing the case of a topic's name always applies to the whole topic", async (t) => {
  const id = await place();
  const ids = await say(member, id, "Lunch", 2);
  await expects(t, move(member, ids[0] ?? 0, { topic: "LUNCH" }), moved);
  for (const messageId of ids) t.equal((await read(member, messageId)).subject, "LUNCH");
  t.strictSame(await idsOf(member, id, "lunch"), ids);
  audit(t, server);
});

t.test("[spec 2.4] topics_policy applies to moved messages", async (t) => {
  const named = await place({ topics_policy: "disable_empty_topic" });
  const empty = await place({ topics_policy: "empty_topic_only" });
  const [a = 0] = await say(member, named, "t", 1);
  t.match(await move(member, a, { topic: "" }), {
    status: 400,
    body: { msg: "Sending messages to the general chat is not allowed in this channel." },
  });
  t.match(await move(member, a, { stream_id: empty }), {
    status: 400,
    body: { msg: "Only the general chat topic is allowed in this channel." },
  });
  await expects(t, move(member, a, { stream_id: empty, topic: "" }), moved);
  await expects(t, move(member, a, { stream_id: named, topic: "t" }), moved);
});

t.test("moving messages to another channel updates indexes and first message ids", async (t) => {
  const from = await place();
  const to = await place();
  const ids = await say(member, from, "travel", 3);
  const rest = await member.say(from, "stay", "x");
  await expects(t, move(member, ids[0] ?? 0, { stream_id: to, propagate_mode: "change_all" }), moved);
  t.strictSame(await idsOf(member, to, "travel"), ids);
  t.strictSame(await idsOf(member, from, "travel"), []);
  const message = await read(member, ids[2] ?? 0);
  t.match(message, { stream_id: to, subject: "travel", last_moved_timestamp: Number });
  t.match(message.edit_history, [{ user_id: member.userId, prev_stream: from, stream: to }]);
  t.notOk("topic" in message.edit_history[0], "the topic did not change");
  t.equal((await owner.channel(to)).first_message_id, ids[0]);
  t.equal((await owner.channel(from)).first_message_id, rest);
  const onward = await move(member, ids[1] ?? 0, { stream_id: from, topic: "back" });
  t.strictSame(outcome(onward), moved);
  t.match((await read(member, ids[1] ?? 0)).edit_history[0], {
    prev_stream: to,
    stream: from,
    prev_topic: "travel",
    topic: "back",
  });
  audit(t, server);
});

t.test("[spec 2.9] content and topic changed in one request make one history entry and one event", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "both", 1);
  const watcher = await other.follow();
  await expects(t, move(member, a, { topic: "both now", content: "new" }), moved);
  const message = await read(member, a);
  t.match(message.edit_history, [{ prev_content: "number 0", prev_topic: "both", topic: "both now" }]);
  t.equal(message.edit_history.length, 1);
  await watcher.settled();
  const events = watcher.ofType("update_message");
  t.equal(events.length, 1);
  t.match(events[0], { content: "new", orig_content: "number 0", orig_subject: "both", subject: "both now" });
  await say(member, id, "both now", 1);
  await expects(t, move(member, a, { topic: "apart", content: "newer" }), moved, "and it left the topic");
  t.match((await read(member, a)).edit_history[0], { prev_content: "new", prev_topic: "both now", topic: "apart" });
  t.equal((await read(member, a)).edit_history.length, 2);
  audit(t, server);
});

t.test("moving a whole topic moves the users' visibility policies", async (t) => {
  const id = await place();
  const [a = 0] = await say(member, id, "followed", 2);
  await other.post("/user_topics", { stream_id: id, topic: "followed", visibility_policy: 3 });
  const policies = async () => {
    const { user_topics: all } = await other.register({ fetch_event_types: ["user_topic"] });
    return (all as Params[]).filter((entry) => entry["stream_id"] === id).map((entry) => entry["topic_name"]);
  };
  await move(member, a, { topic: "part" });
  t.strictSame(await policies(), ["followed"], "moving a part does not move policies");
  await move(member, (await idsOf(member, id, "followed"))[0] ?? 0, { topic: "part" });
  t.strictSame(await policies(), ["part"]);
  await move(member, a, { topic: "renamed", propagate_mode: "change_all" });
  t.strictSame(await policies(), ["renamed"]);
});

t.test("[M1, D25] moves survive a restart, and a repeated key moves once", async (t) => {
  const before = await startTestServer(t);
  const to = await before.owner.createChannel("to", [before.owner]);
  const ids = await say(before.owner, 1, "from", 3);
  const key = { "Idempotency-Key": "move-1" };
  const request = { ...quietly, stream_id: to, propagate_mode: "change_later" };
  await expects(t, before.owner.patch(`/messages/${ids[1]}`, request, key), moved);
  await move(before.owner, ids[0] ?? 0, { topic: "renamed", propagate_mode: "change_all" });
  const { server, as } = await restart(t, before);
  const again = as(server.owner);
  await expects(t, again.patch(`/messages/${ids[1]}`, request, key), moved);
  t.strictSame(await idsOf(again, to, "from"), ids.slice(1));
  t.strictSame(await idsOf(again, 1, "renamed"), ids.slice(0, 1));
  t.match((await read(again, ids[2] ?? 0)).edit_history, [{ prev_stream: 1, stream: to }]);
  t.strictSame(auditRealm(server.realm.lmdb), []);
});
