/**
 * PATCH /users/me/subscriptions, subscriber lists, and the message to a user whom somebody else subscribed (public API:
 * update-subscriptions, get-subscribers, get-subscription-status, get-subscriptions, subscribe).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { opOf } from "../support/logged-events.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest, former } = await startServerWithUsers(t, [
  "member",
  "other",
  "guest",
  "former",
]);
const sealed = await owner.createChannel("sealed", [owner, former], { invite_only: true });
await owner.delete(`/users/${former.userId}`);

const path = "/users/me/subscriptions";
const unknown = refusal("Invalid channel ID");
const named = (...names: string[]) => names.map((name) => ({ name }));

async function channelsOf(client: Client): Promise<string[]> {
  const { body } = await client.get(path);
  return body.subscriptions.map(({ name }: { name: string }) => name);
}

t.test("one request adds and removes, and lists the changes", async (t) => {
  const person = await server.user("both");
  await owner.createChannel("left", [person]);
  await owner.createChannel("joined", []);
  const follower = await person.follow({ event_types: ["subscription", "message"] });
  const answer = await person.patch(path, {
    add: [{ name: "joined", color: "#abcdef" }, { name: "made", description: "by a\nPATCH" }, { name: "general" }],
    delete: ["LEFT", "sandbox"],
  });
  t.match(answer.body, { result: "error", code: "STREAM_DOES_NOT_EXIST", stream: "sandbox" });
  t.strictSame(await channelsOf(person), ["general", "left"], "all or nothing");
  const good = await person.patch(path, {
    add: [{ name: "joined", color: "#abcdef" }, { name: "made", description: "by a\nPATCH" }, { name: "general" }],
    delete: ["LEFT"],
  });
  t.strictSame(
    outcome(good),
    success({
      subscribed: { [person.userId]: ["joined", "made"] },
      already_subscribed: { [person.userId]: ["general"] },
      new_subscription_messages_sent: true,
      removed: ["left"],
      not_removed: [],
    }),
  );
  t.strictSame(await channelsOf(person), ["general", "joined", "made"]);
  const { body } = await person.get(path);
  t.match(body.subscriptions.slice(1), [{ color: "#abcdef" }, { description: "by a PATCH", invite_only: false }]);
  await follower.settled();
  const found = follower.ofType("subscription").map(({ op, subscriptions }) => [op, subscriptions[0].name]);
  t.strictSame(found, [
    ["add", "joined"],
    ["add", "made"],
    ["remove", "left"],
  ]);
});

t.test("add alone, delete alone, both for one channel, and neither", async (t) => {
  const person = await server.user("some");
  await owner.createChannel("here", [person]);
  await owner.createChannel("there", []);
  t.match((await person.patch(path, { delete: ["there"] })).body, { removed: [], not_removed: ["there"] });
  t.match((await person.patch(path, { add: named("there") })).body, { subscribed: { [person.userId]: ["there"] } });
  await person.patch(path, { delete: ["there"] });
  const changes = await person.watchChanges();
  const both = await person.patch(path, { add: named("there", "here"), delete: ["There", "Here"] });
  t.match(both.body, {
    subscribed: { [person.userId]: ["there"] },
    already_subscribed: { [person.userId]: ["here"] },
    removed: ["there", "here"],
  });
  t.strictSame(await channelsOf(person), ["general"], "leaving comes last");
  t.match(await changes(), [{ type: "subscription", op: "remove", subscriptions: [{ name: "here" }] }]);
  const nothing = refusal('Nothing to do. Specify at least one of "add" or "delete".');
  await expects(t, person.patch(path, {}), nothing);
  await expects(t, person.patch(path, { add: [], delete: [] }), nothing);
  const made = await person.patch(path, { add: named("fleeting"), delete: ["fleeting"] });
  t.match(made.body, { subscribed: { [person.userId]: ["fleeting"] }, removed: ["fleeting"] });
  t.ok(server.realm.view.channels.byName("fleeting") !== undefined);
});

t.test("the rules of POST /users/me/subscriptions apply", async (t) => {
  for (const [client, params, refused] of [
    [member, { add: named("sealed") }, refusal("Unable to access channel (sealed).")],
    [guest, { add: named("new by a guest") }, refusal("Not allowed for guest users")],
    [member, { add: [{ name: "general", color: "red" }] }, refusal("color is not a valid hex color code")],
    [member, { add: [{}] }, refusal('add[0]["name"] field is missing')],
    [member, { delete: "general" }, refusal("delete is not valid JSON")],
    [member, { delete: [1] }, refusal("delete[0] is not a string")],
  ] as [Client, Params, unknown][]) {
    await expects(t, client.patch(path, params), refused, JSON.stringify(params));
  }
  await expects(
    t,
    member.post(path, { subscriptions: [{ name: "general", color: "#12345678" }] }),
    "color is not a valid hex color code",
  );
});

t.test("users who may see the channel get its subscribers, ascending", async (t) => {
  const administrator = await server.user("administrator", roles.administrator);
  const id = await owner.createChannel("listed", [other, member, owner]);
  const guests = await owner.createChannel("with a guest", [guest]);
  const list = (client: Client, channelId: number | string) => client.get(`/streams/${channelId}/members`);
  await expects(
    t,
    list(member, id),
    success({ subscribers: [owner.userId, member.userId, other.userId].sort((a, b) => a - b) }),
  );
  await expects(t, list(guest, guests), success({ subscribers: [guest.userId] }));
  await expects(t, list(guest, id), unknown);
  await expects(t, list(administrator, sealed), success({ subscribers: [owner.userId] }), "not the deactivated");
  await expects(t, list(member, sealed), unknown);
  await expects(t, list(member, 9999), unknown);
  t.equal((await list(member, "x")).status, 404);
});

t.test("the caller must be able to see both the user and the channel", async (t) => {
  const status = (client: Client, userId: number, id: number) => client.get(`/users/${userId}/subscriptions/${id}`);
  await expects(t, status(member, owner.userId, 1), success({ is_subscribed: true }));
  await expects(t, status(member, guest.userId, 1), success({ is_subscribed: false }));
  await expects(t, status(owner, owner.userId, sealed), success({ is_subscribed: true }));
  await expects(t, status(owner, former.userId, sealed), success({ is_subscribed: false }), "deactivated");
  await expects(t, status(member, owner.userId, sealed), unknown);
  await expects(t, status(member, owner.userId, 9999), unknown);
  await expects(t, status(member, 9999, 1), "No such user");
  const id = await owner.createChannel("guests' own", [guest]);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  await expects(t, status(guest, other.userId, id), "No such user");
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("partial: large channels list bots and recently active users", async (t) => {
  const large = await startTestServer(t);
  const person = await large.user("person");
  const bot = await large.bot("helper", person);
  const countMax = limits.whole_subscriber_list_max;
  const small = await large.users("small", countMax - 4);
  const [last = 0] = await large.users("last", 1);
  // All others were last active long ago.
  for (const id of [...small, last, bot.userId]) {
    const user = large.realm.view.users.get(id);
    if (user !== undefined) large.write("users", id, { ...user, joinedAt: 0 });
  }
  const own = async (form: string) => {
    const { body } = await person.get(path, { include_subscribers: form });
    const state = await person.register({ fetch_event_types: ["subscription"], include_subscribers: form });
    const [listed] = state["subscriptions"] as Record<string, unknown>[];
    t.strictSame(listed?.["subscribers"], body.subscriptions[0].subscribers);
    t.strictSame(listed?.["partial_subscribers"], body.subscriptions[0].partial_subscribers);
    return body.subscriptions[0];
  };
  // The owner, the user, the bot, and all of these but one.
  await large.owner.delete(path, { subscriptions: ["general"], principals: [last] });
  const whole = await own("partial");
  t.equal(whole.subscribers.length, countMax - 1);
  t.equal(whole.partial_subscribers, undefined);
  await large.owner.post(path, { subscriptions: named("general"), principals: [last] });
  const part = await own("partial");
  t.equal(part.subscribers, undefined);
  t.strictSame(part.partial_subscribers, [large.owner.userId, person.userId, bot.userId]);
  t.equal((await own("true")).subscribers.length, countMax);
  const neither = await own("false");
  t.strictSame([neither.subscribers, neither.partial_subscribers], [undefined, undefined]);
});

/** Direct messages of the notification bot to a user. */
async function receivedEvents(client: Client): Promise<string[]> {
  const { body } = await client.get("/messages", {
    anchor: "newest",
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: "sender", operand: 1 }],
  });
  return body.messages.map(({ content }: { content: string }) => content);
}

t.test("a user whom somebody else subscribed gets one message with all channels", async (t) => {
  const [one, two, bot] = [await server.user("one"), await server.user("two"), await server.bot("bot", member)];
  await owner.createChannel("beta", [two]);
  await owner.createChannel("alpha", [owner], { invite_only: true });
  const principals = [one.userId, two.userId, owner.userId, bot.userId];
  const params = { subscriptions: named("beta", "alpha", "made now"), principals };
  const { body } = await owner.post(path, params);
  t.equal(body.new_subscription_messages_sent, true);
  await server.realm.dispatcher.idle();
  const id = server.realm.view.channels.byName("alpha")?.id;
  const name = server.realm.view.users.get(owner.userId)?.fullName;
  const [list, ...more] = await receivedEvents(one);
  t.match(list, new RegExp(`data-user-id="${owner.userId}">${name}</span> subscribed you to the following channels:`));
  t.match(list, new RegExp(`data-stream-id="${id}".*>#alpha</a>[^]*>#beta</a>`), "a private channel has a link, too");
  t.notMatch(list, /made now/);
  t.strictSame(more, []);
  const [single, ...rest] = await receivedEvents(two);
  t.match(single, /subscribed you to <a class="stream" data-stream-id="\d+" href="[^"]+">#alpha<\/a>\.</);
  t.strictSame(rest, []);
  t.strictSame([await receivedEvents(owner), await receivedEvents(bot)], [[], []]);
});

t.test("no message to existing subscribers, with messages disabled, or for subscribing oneself", async (t) => {
  const person = await server.user("spared");
  await owner.createChannel("quiet", []);
  const principals = [person.userId];
  const silent = await owner.post(path, {
    subscriptions: named("quiet"),
    principals,
    send_new_subscription_messages: false,
  });
  t.notOk("new_subscription_messages_sent" in silent.body);
  t.match((await owner.post(path, { subscriptions: named("quiet"), principals })).body, {
    subscribed: {},
    new_subscription_messages_sent: true,
  });
  await person.post(path, { subscriptions: named("listed") });
  await server.realm.dispatcher.idle();
  t.strictSame(await receivedEvents(person), []);
});

t.test("[S3] new_subscription_messages_max: with one user more, nobody gets a message", async (t) => {
  const large = await startTestServer(t);
  const countMax = limits.new_subscription_messages_max;
  const ids = await large.users("crowd", countMax + 1);
  await large.owner.createChannel("first", []);
  await large.owner.createChannel("second", []);
  const sent = async () => {
    await large.realm.dispatcher.idle();
    return large.realm.view.counter("message");
  };
  const before = await sent();
  const many = await large.owner.post(path, { subscriptions: named("first"), principals: ids });
  t.equal(many.body.new_subscription_messages_sent, false);
  t.equal(await sent(), before);
  const few = await large.owner.post(path, { subscriptions: named("second"), principals: ids.slice(1) });
  t.equal(few.body.new_subscription_messages_sent, true);
  t.equal((await sent()) - before, countMax);
  const state = await large.owner.register({ fetch_event_types: ["realm"] });
  t.equal(state["max_bulk_new_subscription_messages"], countMax);
});

t.test("a large change sends these messages when it is complete", async (t) => {
  const large = await startTestServer(t);
  const ids = await large.users("crowd", limits.new_subscription_messages_max);
  const count = Math.floor(limits.subscribers_per_command_max / ids.length) + 1;
  const names = Array.from({ length: count }, (_, index) => `channel ${index}`);
  for (const name of names) await large.owner.createChannel(name, []);
  const { body } = await large.owner.post(path, { subscriptions: named(...names), principals: ids });
  t.equal(Object.keys(body.subscribed).length, ids.length);
  await large.realm.dispatcher.idle();
  const { view } = large.realm;
  t.ok(
    ids.every((id) => names.every((name) => view.subscriptions.isSubscribed(id, view.channels.byName(name)?.id ?? 0))),
  );
  const joined = view.rows("events", { limit: 10_000 }).map(({ row }) => row);
  const lastAdd = joined.findLastIndex((event) => event.type === "subscription" && opOf(event) === "peer_add");
  t.ok(joined.findIndex(({ type }) => type === "message") > lastAdd);
});

t.test("[S1] a hidden email identifies no user, the dummy email does", async (t) => {
  const hidden = await server.user("hidden");
  server.setUser(hidden.userId, { email_address_visibility: 4 });
  await owner.createChannel("addressed", []);
  const by = (address: string) => member.post(path, { subscriptions: named("addressed"), principals: [address] });
  await expects(t, by(hidden.account?.email ?? ""), "No such user");
  const { body } = await member.get(`/users/${hidden.userId}`);
  t.match((await by(body.user.email)).body, { subscribed: { [hidden.userId]: ["addressed"] } });
});

t.test("users can subscribe to archived channels and unsubscribe from them", async (t) => {
  const id = await owner.createChannel("past", [other]);
  const channel = server.realm.view.channels.get(id);
  if (channel !== undefined) server.write("channels", id, { ...channel, isArchived: true });
  t.match((await member.post(path, { subscriptions: named("past") })).body, {
    subscribed: { [member.userId]: ["past"] },
  });
  t.match((await other.delete(path, { subscriptions: ["past"] })).body, { removed: ["past"] });
});

t.test("a private channel without subscribers is kept for users who administer it", async (t) => {
  const id = await member.createChannel("deserted", [member], { invite_only: true });
  await member.delete(path, { subscriptions: ["deserted"] });
  t.match(server.realm.view.channels.get(id), { isArchived: false });
  await expects(t, owner.get(`/streams/${id}/members`), success({ subscribers: [] }));
});
