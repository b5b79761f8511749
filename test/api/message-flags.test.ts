/** POST /messages/flags and /messages/flags/narrow (public API: update-message-flags; behaviour 5.2). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Follower, outcome, success } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, anna, bert, outsider } = await startServerWithUsers(t, ["anna", "bert", "outsider"]);
const kitchen = await owner.createChannel("kitchen", [anna, bert]);

const flagsOf = async (client: Client, id: number): Promise<string[]> =>
  (await client.get(`/messages/${id}`)).body.message.flags;
const flag = (client: Client, op: string, name: string, messages: readonly number[]) =>
  client.post("/messages/flags", { op, flag: name, messages });
/** Flag events since the follower registered, without ids. */
const received = async (follower: Follower) => {
  await follower.settled();
  return follower.ofType("update_message_flags");
};
const follow = (client: Client) => client.follow({ event_types: ["message", "update_message_flags"] });

t.test("[behaviour 5.2] a flag is added and removed for the caller alone, with one event each", async (t) => {
  const id = await anna.say(kitchen, "flags", "one");
  for (const name of ["read", "starred", "collapsed"]) {
    const [mine, theirs] = [await follow(bert), await follow(anna)];
    t.strictSame(await flagsOf(bert, id), [], "nothing at first");
    await expects(t, flag(bert, "add", name, [id]), success({ messages: [id] }));
    t.strictSame(await flagsOf(bert, id), [name]);
    await flag(bert, "add", name, [id]);
    const answer = await flag(bert, "remove", name, [id]);
    const ignored = name === "read" ? { ignored_because_not_subscribed_channels: [] } : {};
    t.strictSame(outcome(answer), success({ messages: [id], ...ignored }));
    await flag(bert, "remove", name, [id]);
    t.strictSame(await flagsOf(bert, id), []);
    const event = (op: string) => ({
      type: "update_message_flags",
      op,
      operation: op,
      flag: name,
      messages: [id],
      all: false,
    });
    const place = { type: "stream", stream_id: kitchen, topic: "flags" };
    const details = name === "read" ? { message_details: { [id]: place } } : {};
    t.strictSame(
      await received(mine),
      [event("add"), { ...event("remove"), ...details }],
      "no event when nothing changes",
    );
    t.strictSame(await received(theirs), [], "other users receive no event");
    t.strictSame(await flagsOf(anna, id), []);
  }
});

t.test("[behaviour 5.2] a flag that cannot be changed is rejected with the public API's error message", async (t) => {
  const id = await anna.say(kitchen, "refused", "one");
  const derived = ["mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned", "wildcard_mentioned"];
  for (const name of [...derived, "has_alert_word", "historical"]) {
    await expects(t, flag(bert, "add", name, [id]), `Flag not editable: '${name}'`);
  }
  for (const name of ["", "Read", "unread", "active_mobile_push_notification"]) {
    await expects(t, flag(bert, "add", name, [id]), `Invalid flag: '${name}'`);
  }
  for (const op of ["", "toggle", "ADD"]) {
    await expects(t, flag(bert, op, "read", [id]), `Invalid message flag operation: '${op}'`);
  }
  await expects(t, flag(bert, "toggle", "mentioned", [id]), "Flag not editable: 'mentioned'");
  t.match((await bert.post("/messages/flags", { op: "add", flag: "read" })).body, { code: "REQUEST_VARIABLE_MISSING" });
  t.match((await bert.post("/messages/flags", { op: "add", flag: "read", messages: "x" })).status, 400);
  t.match((await bert.post("/messages/flags", { op: "add", flag: "read", messages: ["1"] })).status, 400);
  await expects(t, flag(bert, "add", "read", []), success({ messages: [] }), "none are none");
  t.strictSame(await flagsOf(bert, id), []);
});

t.test("[behaviour 5.2] one inaccessible message rejects the request like a missing one", async (t) => {
  const secret = await owner.createChannel("secret", [anna], { invite_only: true });
  const hidden = await anna.say(secret, "hidden", "one");
  const id = await anna.say(kitchen, "reach", "one");
  for (const out of [hidden, 999_999]) {
    for (const name of ["read", "starred", "collapsed"]) {
      for (const op of ["add", "remove"]) {
        await expects(t, flag(bert, op, name, [id, out]), "Invalid message(s)", `${op} ${name}`);
      }
    }
  }
  t.strictSame(await flagsOf(bert, id), []);
});

t.test("[behaviour 5.2] marking as unread skips channels without a subscription; starring needs none", async (t) => {
  const id = await anna.say(kitchen, "outside", "one");
  const heard = await anna.post("/messages", { type: "direct", to: [outsider.userId], content: "hi" });
  const direct = heard.body.id as number;
  const follower = await follow(outsider);
  t.strictSame(await flagsOf(outsider, id), ["read", "historical"]);
  await flag(outsider, "add", "read", [direct]);
  await expects(
    t,
    flag(outsider, "remove", "read", [id, direct]),
    success({ messages: [id, direct], ignored_because_not_subscribed_channels: [kitchen] }),
  );
  await flag(outsider, "add", "starred", [id]);
  t.strictSame(await flagsOf(outsider, id), ["read", "starred", "historical"]);
  const events = await received(follower);
  t.match(events.slice(1), [
    {
      op: "remove",
      messages: [direct],
      message_details: { [direct]: { type: "private", user_ids: [anna.userId] } },
    },
    { op: "add", flag: "starred", messages: [id] },
  ]);
  t.equal(Object.keys(events[1].message_details).length, 1);
});

t.test("[behaviour 5.2] a subscriber can mark messages from before the subscription as unread", async (t) => {
  const id = await anna.say(kitchen, "before", "one");
  const late = await server.user("late");
  await late.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
  t.strictSame(await flagsOf(late, id), ["read", "historical"]);
  await flag(late, "remove", "read", [id]);
  t.strictSame(await flagsOf(late, id), ["historical"]);
  const unread = (await late.register()) as { unread_msgs?: { streams: unknown } };
  t.match(unread.unread_msgs?.streams, [{ stream_id: kitchen, topic: "before", unread_message_ids: [id] }]);
});

t.test("[S3] the messages of a request are limited; many are processed in slices with one answer", async (t) => {
  const most = limits.flagged_messages_per_request_max;
  const id = await anna.say(kitchen, "many", "one");
  const ids: number[] = [];
  for (let index = 0; index <= limits.flagged_messages_per_command_max; index++) {
    ids.push(index < 3 ? await anna.say(kitchen, "many", `${index}`) : id);
  }
  const follower = await follow(bert);
  t.strictSame((await flag(bert, "add", "starred", ids)).body.messages, ids);
  const found = (await received(follower)).flatMap((event) => event.messages).sort((a: number, b: number) => a - b);
  t.same(
    found,
    [...new Set(ids)].sort((a, b) => a - b),
  );
  t.equal((await flag(bert, "add", "read", new Array(most).fill(id))).status, 200);
  t.equal((await flag(bert, "add", "read", new Array(most + 1).fill(id))).status, 400);
});

t.test("users of every role and bots change their own flags", async (t) => {
  const people = await Promise.all(Object.entries(roles).map(([name, role]) => server.user(`of${name}`, role)));
  const bot = await server.bot("marker", anna);
  const channel = await owner.createChannel("roles", [...people, bot, anna]);
  const id = await anna.say(channel, "t", "one");
  for (const client of [...people, bot]) {
    t.equal((await flag(client, "add", "starred", [id])).status, 200);
    t.equal((await client.post("/mark_topic_as_read", { stream_id: channel, topic_name: "t" })).status, 200);
    t.strictSame(await flagsOf(client, id), ["read", "starred"]);
  }
  t.equal((await flag(owner.anonymous(), "add", "starred", [id])).status, 401);
});

t.test("[behaviour 8] a range of a narrow is processed, and the answer counts the changed messages", async (t) => {
  const channel = await owner.createChannel("narrows", [anna, bert]);
  const ids: number[] = [];
  for (let index = 0; index < 6; index++) ids.push(await anna.say(channel, index % 2 === 0 ? "even" : "odd", "x"));
  const narrow = [
    { operator: "channel", operand: channel },
    { operator: "topic", operand: "even" },
  ];
  const send = (params: Record<string, unknown>) =>
    bert.post("/messages/flags/narrow", {
      op: "add",
      flag: "read",
      narrow,
      anchor: "oldest",
      num_before: 0,
      num_after: 2,
      ...params,
    });
  await expects(
    t,
    send({}),
    success({
      processed_count: 2,
      updated_count: 2,
      first_processed_id: ids[0],
      last_processed_id: ids[2],
      found_oldest: true,
      found_newest: false,
    }),
  );
  t.match((await send({ num_after: 10 })).body, { processed_count: 3, updated_count: 1, found_newest: true });
  t.strictSame(await flagsOf(bert, ids[1] ?? 0), []);
  t.match((await send({ op: "remove", anchor: String(ids[2]), num_after: 0 })).body, {
    processed_count: 1,
    updated_count: 1,
    ignored_because_not_subscribed_channels: [],
  });
  t.match((await send({ anchor: "first_unread", num_after: 0 })).body, { first_processed_id: ids[2] });
  t.match((await send({ anchor: "newest", num_before: 5, num_after: 0 })).body, { processed_count: 3 });
  t.match((await send({ anchor: String(ids[0]), include_anchor: false })).body, { first_processed_id: ids[2] });
  const empty = await send({
    narrow: [
      { operator: "channel", operand: channel },
      { operator: "topic", operand: "none" },
    ],
  });
  t.match(empty.body, { processed_count: 0, updated_count: 0, first_processed_id: null, last_processed_id: null });
  t.match((await send({ flag: "historical" })).body, { msg: "Flag not editable: 'historical'" });
  t.match((await send({ op: "x" })).body, { msg: "Invalid message flag operation: 'x'" });
  t.match((await send({ anchor: "soon" })).body, { msg: "Invalid anchor" });
  t.match((await send({ narrow: [{ operator: "nonsense", operand: "x" }] })).body, { code: "BAD_NARROW" });
  t.match((await send({ num_before: 1, include_anchor: false, anchor: String(ids[2]) })).body, {
    msg: "The anchor can only be excluded at an end of the range",
  });
  t.equal((await send({ num_after: -1 })).status, 400);
});

t.test("[S3] a range of more than 5,000 messages around an anchor is shortened, not rejected", async (t) => {
  const channel = await owner.createChannel("clamped", [anna, bert]);
  const id = await anna.say(channel, "t", "x");
  const answer = await bert.post("/messages/flags/narrow", {
    op: "add",
    flag: "read",
    narrow: [{ operator: "channel", operand: channel }],
    anchor: String(id),
    num_before: limits.flagged_messages_per_narrow_max,
    num_after: limits.flagged_messages_per_narrow_max + 1,
  });
  t.match(answer.body, { result: "success", processed_count: 1, updated_count: 1 });
});

t.test("an event for unread messages has details of each, also when it is read late", async (t) => {
  const [gone, kept] = [await anna.say(kitchen, "late", "one"), await anna.say(kitchen, "late", "two")];
  await flag(bert, "add", "read", [gone, kept]);
  const late = await follow(bert);
  await flag(bert, "remove", "read", [gone, kept]);
  const alone = await follow(bert);
  await flag(bert, "add", "read", [gone]);
  await flag(bert, "remove", "read", [gone]);
  await anna.delete(`/messages/${gone}`);
  const unreading = async (follower: Follower) =>
    (await received(follower)).flatMap(({ op, messages, message_details }) =>
      op === "remove" ? [[messages, Object.keys(message_details)]] : [],
    );
  t.strictSame(await unreading(late), [[[kept], [`${kept}`]]], "a message deleted since is omitted");
  t.strictSame(await unreading(alone), []);
});
