/** Marks, receipts and the unread section of POST /register (spec 4.16; behaviour 2.16, 8, 12.18). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, Follower, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, anna, bert } = await startServerWithUsers(t, ["anna", "bert"]);
const kitchen = await owner.createChannel("kitchen", [anna, bert]);

const types = ["message", "update_message_flags"];
const follow = (client: Client) => client.follow({ event_types: types });
// biome-ignore lint/suspicious/noExplicitAny: the state is compared as a whole
const unreadOf = async (client: Client, params = {}): Promise<any> =>
  (await client.register({ event_types: types, fetch_event_types: types, ...params }))["unread_msgs"];
const flagsOf = async (client: Client, id: number): Promise<string[]> =>
  (await client.get(`/messages/${id}`)).body.message.flags;
const markTopic = (client: Client, channelId: number, topic: string) =>
  client.post("/mark_topic_as_read", { stream_id: channelId, topic_name: topic });
const direct = async (client: Client, to: readonly Client[], content = "hi") =>
  (await client.post("/messages", { type: "direct", to: to.map(({ userId }) => userId), content })).body.id as number;

t.test("[spec 4.16] a topic is marked as read, whatever its case, and only the caller gets an event", async (t) => {
  const first = await anna.say(kitchen, "Soup", "one");
  const other = await anna.say(kitchen, "bread", "two");
  const second = await anna.say(kitchen, "soup", "three");
  const [mine, theirs] = [await follow(bert), await follow(anna)];
  await expects(t, markTopic(bert, kitchen, "SOUP"), success());
  t.strictSame(await flagsOf(bert, first), ["read"]);
  t.strictSame(await flagsOf(bert, second), ["read"]);
  t.strictSame(await flagsOf(bert, other), []);
  await markTopic(bert, kitchen, "soup");
  await mine.settled();
  await theirs.settled();
  t.strictSame(mine.ofType("update_message_flags"), [
    {
      type: "update_message_flags",
      op: "add",
      operation: "add",
      flag: "read",
      messages: [first, second],
      all: false,
    },
  ]);
  t.strictSame(theirs.ofType("update_message_flags"), []);
  const later = await anna.say(kitchen, "soup", "four");
  t.strictSame(await flagsOf(bert, later), [], "later messages are unread");
});

t.test("[behaviour 2.16, 12.18] marking an unknown or hidden channel or topic is rejected", async (t) => {
  const secret = await owner.createChannel("secret", [anna], { invite_only: true });
  await anna.say(secret, "hidden", "one");
  await anna.say(kitchen, "theirs", "one");
  const outsider = await server.user("outsider");
  for (const id of [secret, 999]) {
    await expects(t, markTopic(bert, id, "hidden"), "Invalid channel ID");
    await expects(t, bert.post("/mark_stream_as_read", { stream_id: id }), "Invalid channel ID");
  }
  await expects(t, markTopic(bert, kitchen, "none"), "No such topic 'none'");
  await expects(t, markTopic(outsider, kitchen, "theirs"), "No such topic 'theirs'");
  await expects(t, markTopic(bert, kitchen, "general chat"), "No such topic ''");
  await expects(t, markTopic(bert, kitchen, ""), success(), "an empty name is not looked up");
  const empty = await anna.say(kitchen, "", "one");
  await expects(t, markTopic(bert, kitchen, "general chat"), success());
  t.strictSame(await flagsOf(bert, empty), ["read"]);
  t.match((await bert.post("/mark_topic_as_read", { stream_id: kitchen })).body, { code: "REQUEST_VARIABLE_MISSING" });
  t.equal((await bert.post("/mark_topic_as_read", { topic_name: "x", stream_id: "x" })).status, 400);
  t.equal((await markTopic(owner.anonymous(), kitchen, "theirs")).status, 401);
});

t.test("[behaviour 8] a channel or everything is marked as read; everything is one event without ids", async (t) => {
  const channel = await owner.createChannel("marked", [anna, bert]);
  const ids = [await anna.say(channel, "a", "1"), await anna.say(channel, "b", "2")];
  const elsewhere = await anna.say(kitchen, "marked", "3");
  const heard = await direct(anna, [bert]);
  const follower = await follow(bert);
  await expects(t, bert.post("/mark_stream_as_read", { stream_id: channel }), success());
  for (const id of ids) t.strictSame(await flagsOf(bert, id), ["read"]);
  t.strictSame(await flagsOf(bert, elsewhere), []);
  await expects(t, bert.post("/mark_all_as_read"), success({ complete: true }));
  await expects(t, bert.post("/mark_all_as_read"), success({ complete: true }));
  for (const id of [elsewhere, heard]) t.strictSame(await flagsOf(bert, id), ["read"]);
  t.match(await unreadOf(bert), { count: 0, pms: [], streams: [], huddles: [], mentions: [] });
  await follower.settled();
  t.match(follower.ofType("update_message_flags"), [
    { op: "add", flag: "read", messages: ids, all: false },
    { op: "add", flag: "read", messages: [], all: true },
  ]);
});

t.test("marking many messages is answered at once and stores one row; the events follow in slices", async (t) => {
  const channel = await owner.createChannel("flooded", [anna, bert]);
  const count = 2 * limits.read_rows_per_command_max + limits.read_rows_inline_max;
  const ids = await server.flood({ channelId: channel, topic: "t", count });
  const { lmdb } = server.realm;
  const rows = () => (["readWatermarks", "readExceptions", "readStates"] as const).map((table) => lmdb.count(table));
  const follower = await follow(bert);
  const before = rows();
  await markTopic(bert, channel, "t");
  t.strictSame((await unreadOf(bert)).streams, [], "read at once");
  const grown = rows().reduce((sum, now, index) => sum + now - (before[index] ?? 0), 0);
  t.ok(grown <= 3, `${grown} rows for ${count} messages`);
  const received: number[] = [];
  while (received.length < count) {
    await follower.until((event) => event.type === "update_message_flags" && !received.includes(event.messages[0]));
    const events = follower.ofType("update_message_flags");
    for (const { messages } of events) t.ok(messages.length <= limits.event_ids_per_piece_max);
    received.splice(0, received.length, ...events.flatMap((event) => event.messages));
  }
  t.strictSame(received, ids);
});

t.test("reading one by one advances read watermarks, without a row for each", async (t) => {
  const channel = await owner.createChannel("scrolled", [anna, bert]);
  const ids = await server.flood({ channelId: channel, topic: "t", count: 60 });
  const exceptions = () => server.realm.lmdb.count("readExceptions");
  const before = exceptions();
  for (let first = 0; first < ids.length; first += 6) {
    await bert.post("/messages/flags", { op: "add", flag: "read", messages: ids.slice(first, first + 6) });
  }
  t.equal(exceptions(), before, "read in order: no exception is left");
  await bert.post("/messages/flags", { op: "remove", flag: "read", messages: [ids[10]] });
  t.equal(exceptions(), before + 1);
  t.strictSame((await unreadOf(bert)).streams, [{ stream_id: channel, topic: "t", unread_message_ids: [ids[10]] }]);
  await bert.post("/messages/flags", { op: "add", flag: "read", messages: [ids[10]] });
  t.equal(exceptions(), before);
});

t.test("[behaviour 8] unread_msgs has direct and channel messages, mentions and muted topics in order", async (t) => {
  const reader = await server.user("reader");
  // A followed topic counts as unmuted, but this test is about muted ones.
  server.setUser(reader.userId, { automatically_follow_topics_where_mentioned: false });
  const [quiet, loud] = [
    await owner.createChannel("quiet", [reader, anna]),
    await owner.createChannel("loud", [reader, anna]),
  ];
  await reader.post("/users/me/subscriptions/properties", {
    subscription_data: [{ stream_id: quiet, property: "is_muted", value: true }],
  });
  const b = await anna.say(loud, "Beta", "x");
  const a = await anna.say(loud, "alpha", "@**all**");
  const q = await anna.say(quiet, "any", "@**all**");
  const named = await anna.say(quiet, "any", "@**reader 0**");
  const followed = await anna.say(quiet, "followed", "x");
  await reader.post("/user_topics", { stream_id: quiet, topic: "followed", visibility_policy: 3 });
  const empty = await anna.say(loud, "", "x");
  const one = await direct(anna, [reader]);
  const group = await direct(bert, [reader, anna]);
  const own = await direct(reader, [reader]);
  const people = [anna, bert, reader].map(({ userId }) => userId).sort((x, y) => x - y);
  const pms = [
    { other_user_id: anna.userId, sender_id: anna.userId, unread_message_ids: [one] },
    { other_user_id: reader.userId, sender_id: reader.userId, unread_message_ids: [own] },
  ].sort((x, y) => x.other_user_id - y.other_user_id);
  const expected = {
    count: 7,
    pms,
    huddles: [{ user_ids_string: people.join(","), unread_message_ids: [group] }],
    streams: [
      { stream_id: quiet, topic: "any", unread_message_ids: [q, named] },
      { stream_id: quiet, topic: "followed", unread_message_ids: [followed] },
      { stream_id: loud, topic: "", unread_message_ids: [empty] },
      { stream_id: loud, topic: "alpha", unread_message_ids: [a] },
      { stream_id: loud, topic: "Beta", unread_message_ids: [b] },
    ],
    mentions: [a, named],
    old_unreads_missing: false,
  };
  t.strictSame(await unreadOf(reader, { client_capabilities: { empty_topic_name: true } }), expected);
  t.match((await unreadOf(reader)).streams[2], { topic: "general chat" });
  const one_only = await reader.register({ event_types: ["message"], fetch_event_types: ["message"] });
  t.notOk("unread_msgs" in one_only, "only for clients that ask for messages and for flags");
});

t.test("[behaviour 8] leaving marks as read; after subscribing again only new messages are unread", async (t) => {
  const channel = await owner.createChannel("left", [anna, bert]);
  const id = await anna.say(channel, "t", "before");
  const follower = await follow(bert);
  await bert.delete("/users/me/subscriptions", { subscriptions: ["left"] });
  t.strictSame(await flagsOf(bert, id), ["read"]);
  const meanwhile = await anna.say(channel, "t", "meanwhile");
  await bert.post("/users/me/subscriptions", { subscriptions: [{ name: "left" }] });
  t.strictSame(await flagsOf(bert, id), ["read"]);
  t.strictSame(await flagsOf(bert, meanwhile), ["read", "historical"]);
  t.strictSame(await flagsOf(bert, await anna.say(channel, "t", "after")), []);
  await follower.settled();
  t.match(follower.ofType("update_message_flags"), [{ op: "add", flag: "read", messages: [id] }]);
});

t.test("[behaviour 2.20] messages unread before a deactivation are unread after the reactivation", async (t) => {
  const away = await server.user("away");
  const channel = await owner.createChannel("returned", [anna, away]);
  const id = await anna.say(channel, "t", "before");
  await owner.delete(`/users/${away.userId}`);
  const meanwhile = await anna.say(channel, "t", "meanwhile");
  await server.reactivate(owner, away);
  t.strictSame(await flagsOf(away, id), []);
  t.strictSame(await flagsOf(away, meanwhile), ["read", "historical"]);
  t.strictSame((await unreadOf(away)).streams[0].unread_message_ids, [id]);
});

t.test("[behaviour 5.1] a muted user's messages are read, those of before, too, but none after unmuting", async (t) => {
  const channel = await owner.createChannel("muting", [anna, bert]);
  const before = await anna.say(channel, "t", "before");
  const follower = await follow(bert);
  await bert.post(`/users/me/muted_users/${anna.userId}`);
  const during = await anna.say(channel, "t", "during");
  t.strictSame(await flagsOf(bert, before), ["read"]);
  t.strictSame(await flagsOf(bert, during), ["read"]);
  await follower.until(({ type, messages }) => type === "update_message_flags" && messages.includes(before));
  await bert.delete(`/users/me/muted_users/${anna.userId}`);
  t.strictSame(await flagsOf(bert, during), ["read"]);
  t.strictSame(await flagsOf(bert, await anna.say(channel, "t", "after")), []);
});

t.test("read_by_sender decides whether one's own message is read, by default the client does", async (t) => {
  const send = (params: object, agent = "node") =>
    anna.post(
      "/messages",
      { type: "channel", to: kitchen, topic: "own", content: "x", ...params },
      { "User-Agent": agent },
    );
  const flags = async (params: object, agent?: string) => flagsOf(anna, (await send(params, agent)).body.id);
  t.strictSame(await flags({ read_by_sender: true }), ["read"]);
  t.strictSame(await flags({ read_by_sender: false }, "Mozilla/5.0"), []);
  t.strictSame(await flags({}, "Mozilla/5.0"), ["read"]);
  t.strictSame(await flags({}, "ZulipMobile/27.0"), ["read"]);
  t.strictSame(await flags({}, "curl/8.0"), []);
});

t.test("[behaviour 5.2] has_alert_word matches whole words in any case, as set when it was sent", async (t) => {
  const before = await anna.say(kitchen, "words", "the pizza is here");
  await bert.post("/users/me/alert_words", { alert_words: ["Pizza", "new york"] });
  const cases: [string, boolean][] = [
    ["PIZZA!", true],
    ["a pizza.", true],
    ["to New York, now", true],
    ["pizzas", false],
    ["napizza", false],
    ["new  york", false],
  ];
  for (const [content, isAlerted] of cases) {
    const id = await anna.say(kitchen, "words", content);
    t.strictSame(await flagsOf(bert, id), isAlerted ? ["has_alert_word"] : [], content);
    t.strictSame(await flagsOf(anna, id), [], "nobody else");
  }
  t.strictSame(await flagsOf(bert, before), [], "it was sent before");
  const id = await anna.say(kitchen, "words", "pizza");
  await bert.delete("/users/me/alert_words", { alert_words: ["Pizza"] });
  t.strictSame(await flagsOf(bert, id), ["has_alert_word"]);
  await anna.patch(`/messages/${id}`, { content: "salad" });
  t.strictSame(await flagsOf(bert, id), []);
});

t.test("[spec 2.9] topic_wildcard_mentioned, with wildcard_mentioned, is for users who wrote there", async (t) => {
  const channel = await owner.createChannel("topical", [anna, bert]);
  await bert.say(channel, "t", "mine");
  const id = await anna.say(channel, "t", "@**topic**");
  t.strictSame(await flagsOf(bert, id), ["topic_wildcard_mentioned", "wildcard_mentioned"]);
  t.strictSame(await flagsOf(anna, id), ["topic_wildcard_mentioned", "wildcard_mentioned"]);
  const late = await server.user("silent");
  await late.post("/users/me/subscriptions", { subscriptions: [{ name: "topical" }] });
  t.strictSame(await flagsOf(late, await anna.say(channel, "t", "@**topic**")), []);
});

t.test("receipts list readers, but not users who hide theirs or are muted", async (t) => {
  const people = await Promise.all(["r1", "r2", "r3"].map((name) => server.user(name)));
  const [one, two, three] = people as [Client, Client, Client];
  const channel = await owner.createChannel("receipts", [anna, ...people]);
  const id = await anna.say(channel, "t", "x");
  const receipts = async (client: Client) => (await client.get(`/messages/${id}/read_receipts`)).body.user_ids;
  t.strictSame(await receipts(anna), []);
  for (const client of people) await markTopic(client, channel, "t");
  t.strictSame(
    await receipts(anna),
    people.map(({ userId }) => userId).sort((a, b) => a - b),
  );
  t.ok((await receipts(one)).includes(one.userId), "oneself, too");
  await two.patch("/settings", { send_read_receipts: false });
  t.notOk((await receipts(anna)).includes(two.userId));
  await three.post(`/users/me/muted_users/${anna.userId}`);
  t.strictSame(await receipts(anna), [one.userId], "nobody who has muted the caller");
  t.strictSame((await receipts(three)).includes(anna.userId), false);
  const late = await server.user("latereader");
  await late.post("/users/me/subscriptions", { subscriptions: [{ name: "receipts" }] });
  t.strictSame(await receipts(anna), [one.userId], "nobody who did not receive it");
  const secret = await owner.createChannel("unread secret", [anna], { invite_only: true });
  const hidden = await anna.say(secret, "t", "x");
  for (const out of [hidden, 999_999]) {
    await expects(t, one.get(`/messages/${out}/read_receipts`), "Invalid message(s)");
  }
  server.setRealm({ enable_read_receipts: false });
  const refused = refusal("Read receipts are disabled in this organization.");
  await expects(t, anna.get(`/messages/${id}/read_receipts`), refused);
  server.setRealm({ enable_read_receipts: true });
});

t.test("[S3] read_receipts_per_pass_max: receipts list the readers of every pass", async (t) => {
  const first = await server.user("first");
  const many = await server.users("crowd", limits.read_receipts_per_pass_max + 1);
  const last = await server.user("last");
  const subscribers = [anna.userId, first.userId, ...many, last.userId];
  const made = await owner.post("/channels/create", { name: "crowded", subscribers });
  const id = await anna.say(made.body.id, "t", "x");
  const receipts = async () => (await anna.get(`/messages/${id}/read_receipts`)).body.user_ids;
  t.strictSame(await receipts(), []);
  for (const reader of [last, first]) {
    await reader.post("/messages/flags", { op: "add", flag: "read", messages: [id] });
  }
  t.strictSame(await receipts(), [first.userId, last.userId]);
});

t.test("[behaviour 5.2] guests mark messages that they can read", async (t) => {
  const guest = await server.user("guest", roles.guest);
  const channel = await owner.createChannel("guests", [anna, guest]);
  const id = await anna.say(channel, "t", "x");
  t.equal((await markTopic(guest, channel, "t")).status, 200);
  t.strictSame(await flagsOf(guest, id), ["read"]);
  await expects(t, markTopic(guest, kitchen, "soup"), "Invalid channel ID");
});

t.test("[M1, M3] read state, stars and marks survive a restart, and pending announcements are sent", async (t) => {
  const first = await startTestServer(t);
  const reader = await first.user("reader");
  const channel = await first.owner.createChannel("kept", [reader]);
  const [one = 0, two = 0, three = 0] = await first.flood({
    channelId: channel,
    topic: "t",
    count: limits.read_rows_inline_max + 5,
  });
  await reader.post("/messages/flags", { op: "add", flag: "starred", messages: [one] });
  const { queue_id, last_event_id } = await reader.register({ event_types: types, fetch_event_types: types });
  await markTopic(reader, channel, "t");
  await reader.post("/messages/flags", { op: "remove", flag: "read", messages: [two] });
  await first.stop();
  const second = await startTestServer(t, { dataDir: first.dataDir });
  const again = new (reader.constructor as typeof Client)(second.url, reader.account);
  t.strictSame(await flagsOf(again, one), ["read", "starred"]);
  t.strictSame(await flagsOf(again, two), []);
  t.strictSame(await flagsOf(again, three), ["read"]);
  const state = await again.register({ fetch_event_types: [...types, "starred_messages"] });
  t.match(state, { starred_messages: [one], unread_msgs: { count: 1 } });
  const follower = new Follower(again, { queue_id, last_event_id });
  await follower.until(({ op, messages }) => op === "add" && messages.includes(three));
  await follower.settled();
  const about = follower.ofType("update_message_flags").filter(({ messages }) => messages.includes(two));
  t.equal(about.at(-1).op, "remove", "a message marked as unread since is not announced as read");
});
