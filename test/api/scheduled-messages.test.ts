/**
 * Scheduled messages: GET, POST, PATCH and DELETE /scheduled_messages (public API; behaviour 4.1, 5.1). Delivery is
 * tested in scheduled-delivery.test.ts.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { followLists, laterS, schedule, scheduledOf, scheduledStage } from "../support/scheduled.ts";
import { newUsers } from "../support/server-with-users.ts";

const stage = await scheduledStage(t);
const { server, owner, member, other } = stage;
const channelId = await owner.createChannel("plans", [owner, member, other]);
const missing = refusal("Scheduled message does not exist", "NOT_FOUND", 404);
const notInFuture = refusal("Scheduled delivery time must be in the future.");

const newUser = newUsers(server);

function toChannel(more: Params = {}): Params {
  const when = { scheduled_delivery_timestamp: stage.in(laterS) };
  return { type: "channel", to: channelId, topic: "lunch", content: "Soup is **ready**", ...when, ...more };
}

function timers(): number {
  return server.realm.lmdb.count("timers");
}

t.test("a message is listed and sent to its author alone", async (t) => {
  const person = await newUser();
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "plans" }], principals: [person.userId] });
  const [own, others] = [await followLists(person), await followLists(other)];
  const made = await person.post("/scheduled_messages", toChannel({ content: "Soup is **ready** \n" }));
  const id = made.body.scheduled_message_id;
  t.strictSame(outcome(made), success({ scheduled_message_id: id }));
  const first = {
    scheduled_message_id: id,
    type: "stream",
    to: channelId,
    topic: "lunch",
    content: "Soup is **ready**",
    rendered_content: "<p>Soup is <strong>ready</strong></p>",
    scheduled_delivery_timestamp: stage.in(laterS),
    failed: false,
  };
  const earlier = await schedule(person, {
    type: "direct",
    to: [person.userId, other.userId, member.userId],
    content: "hi",
    scheduled_delivery_timestamp: stage.in(60),
  });
  const second = {
    scheduled_message_id: earlier,
    type: "private",
    to: [member.userId, other.userId],
    content: "hi",
    rendered_content: "<p>hi</p>",
    scheduled_delivery_timestamp: stage.in(60),
    failed: false,
  };
  const all = { scheduled_messages: [second, first] };
  await expects(t, person.get("/scheduled_messages"), success(all), "the next one first");
  const state = await person.register({ fetch_event_types: ["scheduled_messages"] });
  t.strictSame(state["scheduled_messages"], all.scheduled_messages);
  await own.settled();
  const received = (record: object) => ({ type: "scheduled_messages", op: "add", scheduled_messages: [record] });
  t.strictSame(own.ofType("scheduled_messages"), [received(first), received(second)]);
  await others.settled();
  t.strictSame(others.ofType("scheduled_messages"), []);
  t.strictSame(await scheduledOf(other), []);
});

t.test("both names of each type work, for a user, a channel and a note to oneself", async (t) => {
  const person = await newUser();
  const at = { content: "x", scheduled_delivery_timestamp: stage.in(laterS) };
  const cases: readonly (readonly [Params, object])[] = [
    [
      { type: "stream", to: channelId, topic: "t" },
      { type: "stream", to: channelId, topic: "t" },
    ],
    [
      { type: "channel", to: [channelId], topic: " t " },
      { type: "stream", to: channelId, topic: "t" },
    ],
    [
      { type: "channel", to: channelId, topic: "(no topic)" },
      { type: "stream", to: channelId, topic: "" },
    ],
    [
      { type: "channel", to: channelId },
      { type: "stream", to: channelId, topic: "" },
    ],
    [
      { type: "private", to: [member.userId], topic: "ignored" },
      { type: "private", to: [member.userId] },
    ],
    [
      { type: "direct", to: member.userId },
      { type: "private", to: [member.userId] },
    ],
    [
      { type: "direct", to: [person.userId] },
      { type: "private", to: [person.userId] },
    ],
  ];
  for (const [params, expected] of cases) {
    const id = await schedule(person, { ...at, ...params });
    const record = (await scheduledOf(person)).find((one) => one.scheduled_message_id === id);
    const { scheduled_message_id: _id, content: _c, rendered_content: _r, failed: _f, ...place } = record;
    const { scheduled_delivery_timestamp: _at, ...rest } = place;
    t.strictSame(rest, expected);
  }
});

t.test("[behaviour 5.1] a message that could not be sent now cannot be scheduled", async (t) => {
  const hidden = await owner.createChannel("hidden", [owner], { invite_only: true });
  const closed = await owner.createChannel("announcements", [owner, member], {
    can_send_message_group: server.group("role:administrators"),
  });
  const named = await owner.createChannel("named", [owner, member], { topics_policy: "disable_empty_topic" });
  const gone = await newUser();
  await owner.delete(`/users/${gone.userId}`);
  const changes = await member.watchChanges();
  const noChannel = (id: number) =>
    refusal(`Channel with ID '${id}' does not exist`, "STREAM_DOES_NOT_EXIST", 400, { stream_id: id });
  const cases: readonly (readonly [Params, object])[] = [
    [{ to: 99_999 }, noChannel(99_999)],
    [{ to: hidden }, noChannel(hidden)],
    [{ to: [channelId, closed] }, refusal("Expected exactly one channel")],
    [{ to: closed }, refusal("You do not have permission to post in this channel.")],
    [
      { to: named, topic: "" },
      refusal("Sending messages to the general chat is not allowed in this channel.", "BAD_REQUEST", 400, {
        empty_topic_display_name: "general chat",
      }),
    ],
    [{ topic: "a\u0007" }, refusal("Invalid character in topic, at position 2!")],
    [{ content: " \n" }, refusal("Message must not be empty")],
    [{ content: "a\0b" }, refusal("Message must not contain null bytes")],
    [{ type: "direct", to: [] }, refusal("Message must have recipients")],
    [{ type: "direct", to: [10_000] }, refusal("Invalid user ID 10000")],
    [{ type: "direct", to: [gone.userId] }, refusal(`'${gone.account?.email}' is no longer using Colloquy.`)],
    [{ type: "post" }, refusal("Invalid type")],
    [{ scheduled_delivery_timestamp: stage.in(0) }, notInFuture],
    [{ scheduled_delivery_timestamp: -5 }, notInFuture],
    [
      { scheduled_delivery_timestamp: limits.delivery_timestamp_s_max + 1 },
      refusal("scheduled_delivery_timestamp is too large"),
    ],
    [{ scheduled_delivery_timestamp: "soon" }, refusal("scheduled_delivery_timestamp is not valid JSON")],
    [{ to: '"plans"' }, refusal("to is not an integer")],
  ];
  for (const [params, expected] of cases) {
    await expects(t, member.post("/scheduled_messages", toChannel(params)), expected, JSON.stringify(params));
  }
  for (const name of ["type", "to", "content", "scheduled_delivery_timestamp"]) {
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, member.post("/scheduled_messages", toChannel({ [name]: undefined })), expected);
  }
  t.strictSame(await scheduledOf(member), []);
  t.strictSame(await changes(), []);
  t.equal(
    (await member.post("/scheduled_messages", toChannel({ scheduled_delivery_timestamp: stage.in(1) }))).status,
    200,
  );
});

t.test("[behaviour 5.1] scheduled mentions require permission, and long texts are truncated", async (t) => {
  const person = await newUser();
  const crowd = await Promise.all(Array.from({ length: 16 }, () => newUser()));
  const large = await owner.createChannel("large", [owner, person, ...crowd]);
  const wildcard = await person.post("/scheduled_messages", toChannel({ to: large, content: "@**all** lunch" }));
  t.match(wildcard.body, { code: "STREAM_WILDCARD_MENTION_NOT_ALLOWED" });
  const id = await schedule(person, toChannel({ content: "🙂".repeat(limits.message_code_points_max + 1) }));
  const changed = await person.patch(`/scheduled_messages/${id}`, { to: large, content: "@**all** lunch" });
  t.match(changed.body, { code: "STREAM_WILDCARD_MENTION_NOT_ALLOWED" });
  const [record] = await scheduledOf(person);
  t.equal(Array.from(record.content).length, limits.message_code_points_max);
  t.match(record, { content: /\[message truncated\]$/, to: channelId });
});

t.test("only values sent change, and the event has the whole message", async (t) => {
  const person = await newUser();
  const id = await schedule(person, toChannel());
  const [before] = await scheduledOf(person);
  const follower = await followLists(person);
  const steps: readonly (readonly [Params, object])[] = [
    [{ content: " New\n" }, { ...before, content: " New", rendered_content: "<p>New</p>" }],
    [{ topic: "dinner" }, { topic: "dinner" }],
    [{ scheduled_delivery_timestamp: stage.in(60) }, { scheduled_delivery_timestamp: stage.in(60) }],
    [
      { type: "direct", to: [other.userId], topic: "ignored" },
      { type: "private", to: [other.userId], topic: undefined },
    ],
    [
      { topic: "ignored, too", content: "x" },
      { content: "x", rendered_content: "<p>x</p>" },
    ],
    [{ to: [member.userId, other.userId] }, { to: [member.userId, other.userId] }],
    [
      { type: "stream", to: channelId, topic: "back" },
      { type: "stream", to: channelId, topic: "back" },
    ],
  ];
  let expected = before;
  const received: object[] = [];
  for (const [params, change] of steps) {
    await expects(t, person.patch(`/scheduled_messages/${id}`, params), success());
    await expects(t, person.patch(`/scheduled_messages/${id}`, params), success(), "again: nothing");
    expected = JSON.parse(JSON.stringify({ ...expected, ...change }));
    t.same(await scheduledOf(person), [expected]);
    received.push({ type: "scheduled_messages", op: "update", scheduled_message: expected });
  }
  await follower.settled();
  t.same(follower.ofType("scheduled_messages"), received);
});

t.test("each invalid change is rejected with its error message", async (t) => {
  const person = await newUser();
  const id = await schedule(person, toChannel());
  const before = await scheduledOf(person);
  const changes = await person.watchChanges();
  const cases: readonly (readonly [Params, object])[] = [
    [{}, refusal("Nothing to change")],
    [{ type: "direct" }, refusal("Recipient required when updating type of scheduled message.")],
    [{ type: "channel", to: channelId }, refusal("Topic required when updating scheduled message type to channel.")],
    [{ scheduled_delivery_timestamp: stage.in(0) }, notInFuture],
    [{ content: "" }, refusal("Message must not be empty")],
    [{ to: [channelId, 2] }, refusal("Expected exactly one channel")],
    [{ type: "direct", to: [10_000] }, refusal("Invalid user ID 10000")],
  ];
  for (const [params, expected] of cases) {
    await expects(t, person.patch(`/scheduled_messages/${id}`, params), expected, JSON.stringify(params));
  }
  t.strictSame(await scheduledOf(person), before);
  t.strictSame(await changes(), []);
});

t.test("a deleted message is not sent; its author gets an event", async (t) => {
  const person = await newUser();
  const id = await schedule(person, toChannel());
  const follower = await followLists(person);
  await expects(t, person.delete(`/scheduled_messages/${id}`), success());
  await expects(t, person.delete(`/scheduled_messages/${id}`), missing);
  await expects(t, person.patch(`/scheduled_messages/${id}`, { content: "x" }), missing);
  t.strictSame(await scheduledOf(person), []);
  await follower.settled();
  t.strictSame(follower.ofType("scheduled_messages"), [
    { type: "scheduled_messages", op: "remove", scheduled_message_id: id },
  ]);
  t.ok((await schedule(person, toChannel())) > id, "no id is used twice");
});

t.test("[S1] another user's scheduled message gets the answer for a missing one", async (t) => {
  const id = await schedule(await newUser(), toChannel());
  const changes = await member.watchChanges();
  for (const client of [member, owner]) {
    for (const where of [id, 0, 999_999_999_999]) {
      await expects(t, client.patch(`/scheduled_messages/${where}`, { content: "x" }), missing);
      await expects(t, client.delete(`/scheduled_messages/${where}`), missing);
    }
  }
  t.strictSame(await changes(), []);
});

t.test("[S1] a restricted guest gets their own text as typed, even with a hidden user's name", async (t) => {
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const guest = await server.user("guest", roles.guest);
  const content = "@**member 0** and @**nobody at all**";
  const follower = await followLists(guest);
  const params = { type: "direct", to: [guest.userId], content, scheduled_delivery_timestamp: stage.in(laterS) };
  await schedule(guest, params);
  const record = { content, rendered_content: `<p>${content}</p>` };
  t.match(await scheduledOf(guest), [record]);
  await follower.settled();
  t.match(follower.ofType("scheduled_messages"), [{ scheduled_messages: [record] }]);
  const outsider = await guest.post("/scheduled_messages", { ...params, to: [member.userId] });
  t.strictSame(outcome(outsider), refusal("You do not have permission to access some of the recipients."));
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("[S3] scheduled_messages_per_user_max: one more is rejected until one is deleted", async (t) => {
  const person = await newUser();
  const first = await schedule(person, toChannel());
  const row = server.realm.lmdb.get("scheduledMessages", [person.userId, first]);
  if (row === undefined) throw new Error("no row");
  const countMax = limits.scheduled_messages_per_user_max;
  const rows = Array.from({ length: countMax - 2 }, (_, index) => {
    const id = 1_000_000 + index;
    return [[person.userId, id], { ...row, id, timer: null }] as const;
  });
  server.writeMany("scheduledMessages", rows);
  await schedule(person, toChannel());
  t.equal((await scheduledOf(person)).length, countMax);
  await expects(t, person.post("/scheduled_messages", toChannel()), "Too many scheduled messages");
  await person.delete(`/scheduled_messages/${first}`);
  t.equal((await person.post("/scheduled_messages", toChannel())).status, 200);
});

t.test("[S3] delivery_timestamp_s_max: a later time is rejected", async (t) => {
  const person = await newUser();
  const last = { scheduled_delivery_timestamp: limits.delivery_timestamp_s_max };
  const id = await schedule(person, toChannel(last));
  t.match(await scheduledOf(person), [last]);
  await expects(t, person.delete(`/scheduled_messages/${id}`), success());
});

t.test("[S3] a message has one timer, however often its time changes, and none after it was deleted", async (t) => {
  const person = await newUser();
  const before = timers();
  const id = await schedule(person, toChannel());
  for (let minutes = 1; minutes <= 20; minutes++) {
    await person.patch(`/scheduled_messages/${id}`, { scheduled_delivery_timestamp: stage.in(laterS + 60 * minutes) });
  }
  t.equal(timers(), before + 1);
  await person.delete(`/scheduled_messages/${id}`);
  t.equal(timers(), before);
});

t.test("guests and bots can schedule messages, anonymous callers cannot", async (t) => {
  const everybody = [owner, await server.user("visitor", roles.guest), await server.bot("helper", member)];
  for (const client of everybody) {
    const to = [client.userId];
    await schedule(client, { type: "direct", to, content: "x", scheduled_delivery_timestamp: stage.in(laterS) });
  }
  t.equal((await owner.anonymous().get("/scheduled_messages")).status, 401);
  t.equal((await owner.anonymous().post("/scheduled_messages", toChannel())).status, 401);
});
