/**
 * Permission to read, the same on every path (S1; spec 4.10; behaviour 2.10, 5.4): spectators without an account,
 * restricted guests, and the topics of a channel.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, refusal, success } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, anna, guest } = await startServerWithUsers(t, ["anna", "guest"]);
server.setRealm({ enable_spectator_access: true });
const webId = await owner.createChannel("web", [owner, anna], { is_web_public: true });
const publicId = await owner.createChannel("open", [owner, anna]);
const web = await owner.say("web", "hello", "hello, world");
const open = await owner.say("open", "hello", "hello, members");
const nobody = owner.anonymous();
const narrow = [{ operator: "channels", operand: "web-public" }];
const range = { anchor: "newest", num_before: 10, num_after: 0 };
const notLoggedIn = refusal("Not logged in: API authentication or user session required", "UNAUTHORIZED", 401);

t.test("[behaviour 5.4] a spectator reads web-public channels, without anybody's email (D27)", async (t) => {
  const { body } = await nobody.get("/messages", { ...range, narrow });
  const ids = body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(ids, [web]);
  const [message] = body.messages;
  t.strictSame(message.flags, ["read", "historical"]);
  t.match(message, { content: "<p>hello, world</p>", sender_email: /^user2@/, avatar_url: /gravatar/ });
  t.notMatch(JSON.stringify(body), owner.account?.email ?? "");
  const one = await nobody.get(`/messages/${web}`);
  t.strictSame(one.body.message, message, "the same by id");
  t.equal(one.body.raw_content, "hello, world");
  const searched = await nobody.get("/messages", {
    ...range,
    narrow: [...narrow, { operator: "search", operand: "hello" }],
  });
  t.match(searched.body.messages, [{ id: web, match_content: '<p><span class="highlight">hello</span>, world</p>' }]);
  t.equal(searched.body.messages.length, 1);
  const byIds = await nobody.get("/messages", { message_ids: [web, open], narrow });
  const found = byIds.body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(found, [web]);
  await expects(t, nobody.get(`/users/me/${webId}/topics`), success({ topics: [{ name: "hello", max_id: web }] }));
});

t.test("[behaviour 5.4] a spectator can request nothing else and receives nothing about it", async (t) => {
  const refused = [
    [],
    [{ operator: "channel", operand: "web" }],
    [{ operator: "channels", operand: "public" }],
    [{ ...narrow[0], negated: true }],
    [...narrow, { operator: "is", operand: "unread" }],
    [...narrow, { operator: "dm", operand: [2] }],
    [...narrow, { operator: "unheard", operand: "of" }],
  ];
  for (const narrow of refused) {
    await expects(t, nobody.get("/messages", { ...range, narrow }), notLoggedIn, JSON.stringify(narrow));
  }
  for (const id of [open, 999_999]) await expects(t, nobody.get(`/messages/${id}`), notLoggedIn);
  for (const id of [publicId, 999_999]) {
    await expects(t, nobody.get(`/users/me/${id}/topics`), "Invalid channel ID");
  }
  const named = [...narrow, { operator: "channel", operand: "open" }];
  t.match((await nobody.get("/messages", { ...range, narrow: named })).body, {
    code: "BAD_NARROW",
    desc: "unknown channel open",
  });
});

t.test("[D27] where spectator access is off, spectators get nothing", async (t) => {
  server.setRealm({ enable_spectator_access: false });
  await expects(t, nobody.get("/messages", { ...range, narrow }), notLoggedIn);
  await expects(t, nobody.get(`/messages/${web}`), notLoggedIn);
  await expects(t, nobody.get(`/users/me/${webId}/topics`), notLoggedIn);
  server.setRealm({ enable_spectator_access: true });
  const wrong = new (nobody.constructor as typeof Client)(server.url, {
    email: "owner@localhost",
    key: "wrong",
    userId: 0,
  });
  t.equal(
    (await wrong.get("/messages", { ...range, narrow })).status,
    401,
    "invalid credentials do not make the caller a spectator",
  );
});

t.test("[D34] a guest who may not see the sender gets an unknown user, in events and in history", async (t) => {
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "web" }], principals: [guest.userId] });
  const bert = await server.user("bert");
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "web" }], principals: [bert.userId] });
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const follower = await guest.follow({ event_types: ["message"] });
  const other = await anna.follow({ event_types: ["message"] });
  const id = await bert.say("web", "hello", "who am I?");
  const known = (await guest.get(`/messages/${id}`)).body.message;
  t.equal(known.sender_full_name, "bert 0");
  await bert.delete("/users/me/subscriptions", { subscriptions: ["web"] });
  const late = await bert.say("web", "hello", "and now?");
  const { message } = await follower.until((event) => event.type === "message" && event.message.id === late);
  const fetched = (await guest.get(`/messages/${late}`)).body.message;
  for (const shown of [message, fetched]) {
    t.match(shown, {
      sender_id: bert.userId,
      sender_full_name: "Unknown user",
      sender_email: `user${bert.userId}@colloquy.invalid`,
    });
  }
  const seen = await other.until((event) => event.type === "message" && event.message.id === late);
  t.equal(seen.message.sender_full_name, "bert 0", "others know them");
});

t.test("topics are ordered by newest message; the empty one has its name", async (t) => {
  const id = await owner.createChannel("many", [owner, anna]);
  const first = await owner.say("many", "First", "x");
  const second = await owner.say("many", "second", "x");
  const again = await owner.say("many", "FIRST", "x");
  const empty = await owner.say("many", "", "x");
  const topics = async (params = {}) => (await anna.get(`/users/me/${id}/topics`, params)).body.topics;
  t.strictSame(await topics(), [
    { name: "general chat", max_id: empty },
    { name: "First", max_id: again },
    { name: "second", max_id: second },
  ]);
  t.equal((await topics({ allow_empty_topic_name: true }))[0].name, "");
  await owner.delete(`/messages/${again}`);
  await owner.delete(`/messages/${empty}`);
  t.strictSame(await topics(), [
    { name: "second", max_id: second },
    { name: "First", max_id: first },
  ]);
});

t.test("[S1] protected history: only topics with received messages, each with the newest received one", async (t) => {
  const id = await owner.createChannel("vault", [owner], { invite_only: true });
  const join = () =>
    owner.post("/users/me/subscriptions", { subscriptions: [{ name: "vault" }], principals: [anna.userId] });
  await owner.say("vault", "before", "x");
  await owner.say("vault", "both", "x");
  await expects(t, anna.get(`/users/me/${id}/topics`), "Invalid channel ID", "not hers (D24)");
  await join();
  t.strictSame((await anna.get(`/users/me/${id}/topics`)).body.topics, []);
  const during = await owner.say("vault", "both", "x");
  await anna.delete("/users/me/subscriptions", { subscriptions: ["vault"] });
  await owner.say("vault", "both", "x");
  await join();
  t.strictSame((await anna.get(`/users/me/${id}/topics`)).body.topics, [{ name: "both", max_id: during }]);
  t.equal((await owner.get(`/users/me/${id}/topics`)).body.topics.length, 2);
});

t.test("readers of the channel get its topics; guests do not get a public channel's", async (t) => {
  const roleMatrix: [Client, boolean][] = [
    [owner, true],
    [anna, true],
    [await server.user("moderator", roles.moderator), true],
    [await server.user("outsider"), true],
    [guest, false],
    [nobody, false],
  ];
  for (const [client, isAllowed] of roleMatrix) {
    const { status } = await client.get(`/users/me/${publicId}/topics`);
    t.equal(status === 200, isAllowed, client.account?.email ?? "spectator");
  }
  t.equal((await owner.get("/users/me/nothing/topics")).status, 404);
});

t.test("a feed among many messages of other channels merges the reader's own channels", async (t) => {
  const { dispatcher, view } = server.realm;
  const lonely = await server.user("lonely");
  await owner.createChannel("rare", [owner, lonely]);
  const mine = [await owner.say("rare", "t", "x")];
  const template = view.row("messages", open);
  if (template === undefined) throw new Error("no message");
  // Two thousand messages in a channel that the reader is not subscribed to, written directly to save time.
  for (let n = 0; n < 2000; n++) {
    const id = view.counter("message") + 1;
    const row = { ...template, id };
    server.write("messages", id, row);
    server.write("conversationMessages", [row.conversationId, id], { senderId: row.senderId, traits: row.traits });
    server.write("channelMessages", [publicId, id], {
      conversationId: row.conversationId,
      senderId: row.senderId,
      traits: row.traits,
    });
    (dispatcher.realmCounters.turn.counters as { message: number }).message = id;
  }
  mine.push(await owner.say("rare", "t", "x"));
  const { body } = await lonely.get("/messages", { ...range, narrow: [{ operator: "topic", operand: "t" }] });
  const found = body.messages.map(({ id }: { id: number }) => id);
  t.strictSame(found, mine);
  const feed = await lonely.get("/messages", { anchor: "newest", num_before: 1000, num_after: 0 });
  const ids: number[] = feed.body.messages.map(({ id }: { id: number }) => id);
  const seen = ids.filter((id) => mine.includes(id));
  t.strictSame(seen, mine);
  t.equal(feed.body.found_oldest, true);
});
