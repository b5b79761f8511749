/**
 * Archiving and unarchiving channels (DELETE /streams/{stream_id}; spec 3, level 388; D14; behaviour 2.4), GET
 * /streams/{stream_id} and GET /get_stream_id, and how every other operation treats an archived channel.
 */
import t from "tap";
import { named } from "../support/channels.ts";
import {
  type Answer,
  type Client,
  expects,
  type Follower,
  outcome,
  type Params,
  refusal,
  success,
} from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member, guest, holder } = await startServerWithUsers(t, [
  "administrator",
  "member",
  "guest",
  "holder",
]);
const runBy = (client: Client) => ({ can_administer_channel_group: named(client) });

let made = 0;
function channel(subscribers: readonly Client[] = [owner], params: Params = {}): Promise<number> {
  made++;
  return owner.createChannel(`channel ${made}`, subscribers, params);
}

async function archived(subscribers: readonly Client[] = [owner], params: Params = {}): Promise<number> {
  const id = await channel(subscribers, params);
  await owner.delete(`/streams/${id}`);
  return id;
}

const capable = { client_capabilities: { archived_channels: true, notification_settings_null: true } };

t.test("[behaviour 2.4, D24] a user who administers a channel can archive it once", async (t) => {
  const mayNot = refusal("You do not have permission to administer this channel.");
  const unknown = refusal("Invalid channel ID");
  const open = () => channel([owner, member], runBy(holder));
  const hidden = () => channel([owner], { invite_only: true, ...runBy(holder) });
  const cases: [Client, unknown, unknown][] = [
    [owner, success(), success()],
    [administrator, success(), success()],
    [holder, success(), success()],
    [member, mayNot, unknown],
    [guest, unknown, unknown],
  ];
  for (const [client, ofOpen, ofHidden] of cases) {
    await expects(t, client.delete(`/streams/${await open()}`), ofOpen);
    await expects(t, client.delete(`/streams/${await hidden()}`), ofHidden);
  }
  await expects(t, owner.delete("/streams/9999"), unknown);
  await expects(t, owner.delete(`/streams/${await archived()}`), "Channel is already deactivated");
  t.match(await owner.anonymous().delete("/streams/1"), { status: 401 });
});

t.test("[spec 3] an archived channel keeps its data, is no default channel and gets no announcements", async (t) => {
  const id = await channel([owner, member], { is_default_stream: true });
  const said = await member.say(id, "topic", "to be kept");
  server.setRealm({ new_stream_announcements_stream_id: id, signup_announcements_stream_id: 1 });
  const follower = await member.follow();
  await expects(t, owner.delete(`/streams/${id}`), success());
  const { body } = await member.get(`/streams/${id}`);
  t.match(body.stream, { is_archived: true, name: `channel ${made}`, subscriber_count: 2 });
  t.equal((await member.get(`/messages/${said}`)).status, 200);
  const found = await member.get("/messages", {
    anchor: "newest",
    num_before: 5,
    num_after: 0,
    narrow: [{ operator: "channel", operand: id }],
  });
  const seen = found.body.messages.map((message: { id: number }) => message.id);
  t.strictSame(seen, [said]);
  await follower.settled();
  t.strictSame(follower.ofType("realm"), [
    { type: "realm", op: "update_dict", property: "default", data: { new_stream_announcements_stream_id: -1 } },
  ]);
  t.notOk(follower.ofType("default_streams")[0].default_streams.includes(id));
  const state = await owner.register({ fetch_event_types: ["realm", "default_streams"] });
  t.equal(state["realm_new_stream_announcements_stream_id"], -1);
  t.notOk((state["realm_default_streams"] as number[]).includes(id));
  t.equal(server.realm.view.realm.settings["signup_announcements_stream_id"], 1, "another channel's stays");
});

t.test("[spec 4.4, D14] is_archived accepts only false, for an archived channel", async (t) => {
  const id = await channel();
  const update = (params: Params, by = owner, channelId = id) => by.patch(`/streams/${channelId}`, params);
  const onlyBack = refusal("is_archived can only be false: only unarchiving is permitted");
  await expects(t, update({ is_archived: true, description: "not kept" }), onlyBack);
  await expects(t, update({ is_archived: false }), "Channel is not currently deactivated");
  await owner.delete(`/streams/${id}`);
  await expects(t, update({ is_archived: true }), onlyBack);
  await expects(t, update({ is_archived: false }, member), "You do not have permission to administer this channel.");
  await expects(t, update({ is_archived: false }, administrator), success());
  t.match((await owner.get(`/streams/${id}`)).body.stream, { is_archived: false, description: "" });
  await owner.say(id, "back", "we are");

  const empty = await archived([], { invite_only: true });
  await expects(t, update({ is_archived: false }, owner, empty), "Channel is private and have no subscribers");
  const deserted = await archived([owner, member], { invite_only: true });
  await owner.delete("/users/me/subscriptions", { subscriptions: [`channel ${made}`], principals: [member.userId] });
  await expects(t, update({ is_archived: false }, owner, deserted), success());
});

t.test("[spec 4.4] an archived channel can be changed like any other", async (t) => {
  const id = await archived([owner, member]);
  const sent = { is_private: true, description: "asleep", new_name: `asleep ${id}`, message_retention_days: 5 };
  await expects(t, owner.patch(`/streams/${id}`, sent), success());
  t.match((await owner.get(`/streams/${id}`)).body.stream, {
    invite_only: true,
    description: "asleep",
    is_archived: true,
  });
  await expects(
    t,
    owner.patch(`/streams/${id}`, { is_private: false, is_default_stream: true }),
    "A default channel cannot be archived.",
  );
  const back = { is_private: false, is_default_stream: true, is_archived: false };
  await expects(t, owner.patch(`/streams/${id}`, back), success());
  await owner.patch(`/streams/${id}`, { is_default_stream: false });
});

t.test("[spec 3] an archived channel accepts no messages, but users can subscribe and unsubscribe", async (t) => {
  const id = await channel([owner, member]);
  const name = `channel ${made}`;
  await owner.say(id, "topic", "before");
  await owner.delete(`/streams/${id}`);
  const bot = await server.bot(`bot${made}`, owner);
  const denied = refusal(`Not authorized to send to channel '${name}'`);
  for (const client of [owner, member, bot]) {
    for (const to of [id, name]) {
      const sent = await client.post("/messages", { type: "channel", to, topic: "topic", content: "after" });
      t.strictSame(outcome(sent), denied);
    }
  }
  const join = (params: Params) => owner.post("/users/me/subscriptions", { subscriptions: [{ name }], ...params });
  t.match((await join({ principals: [administrator.userId] })).body, {
    subscribed: { [administrator.userId]: [name] },
  });
  t.match((await member.post("/users/me/subscriptions", { subscriptions: [{ name }] })).body, {
    already_subscribed: { [member.userId]: [name] },
  });
  const invalid = refusal("Invalid channel ID");
  await expects(t, owner.post(`/streams/${id}/delete_topic`, { topic_name: "topic" }), invalid);
  const typing = { op: "start", type: "stream", stream_id: id, topic: "topic" };
  await expects(t, owner.post("/typing", typing), invalid);
  await expects(
    t,
    owner.post("/channels/create", { name: name.toUpperCase(), subscribers: [] }),
    refusal(`Channel '${name.toUpperCase()}' already exists`, "CHANNEL_ALREADY_EXISTS", 409, {
      channel_name: name.toUpperCase(),
    }),
  );
  const announced = await owner.createChannel(`announced ${id}`, [owner], { announce: true });
  t.ok(announced > 0, "an archived announcement channel receives no announcements");
  t.match((await member.delete("/users/me/subscriptions", { subscriptions: [name] })).body, { removed: [name] });
});

t.test("[behaviour 4.3] lists contain archived channels only on request", async (t) => {
  const id = await archived([owner, member]);
  const ids = (list: { stream_id: number }[]) => list.map((record) => record.stream_id).includes(id);
  const streams = async (params: Params) => ids((await member.get("/streams", params)).body.streams);
  t.strictSame([await streams({}), await streams({ exclude_archived: false })], [false, true]);
  t.notOk(ids((await member.get("/users/me/subscriptions")).body.subscriptions));
  for (const [client, list] of [
    [member, "subscriptions"],
    [administrator, "never_subscribed"],
  ] as const) {
    for (const [params, isShown] of [
      [capable, true],
      [{}, false],
    ] as const) {
      const state = await client.register({ fetch_event_types: ["stream", "subscription"], ...params });
      t.equal(ids(state["streams"] as never), isShown);
      t.equal(ids(state[list] as never), isShown, list);
    }
  }
});

t.test("[behaviour 4.3] archiving sends updates, or deletions to clients without the capability", async (t) => {
  const id = await channel([owner, member]);
  const followers = await Promise.all(
    [member, administrator].flatMap((client) => [client.follow(capable), client.follow()]),
  );
  const about = (follower: Follower) =>
    follower.events
      .filter(({ type }) => type === "stream" || type === "subscription")
      .map((event) => `${event.type} ${event.op} ${event.property ?? ""}`.trim());
  await owner.delete(`/streams/${id}`);
  await owner.patch(`/streams/${id}`, { description: "asleep" });
  await owner.patch(`/streams/${id}`, { is_archived: false, description: "awake" });
  for (const follower of followers) await follower.settled();
  const [memberKnows, memberNot, otherKnows, otherNot] = followers.map(about);
  const updates = ["stream update is_archived", "stream update description"];
  t.strictSame(memberKnows, [...updates, ...updates]);
  t.strictSame(otherKnows, [...updates, ...updates]);
  t.strictSame(memberNot, ["stream delete", "stream create", "subscription add"]);
  t.strictSame(otherNot, ["stream delete", "stream create", "subscription peer_add"]);
  const [first] = followers[0]?.ofType("stream") ?? [];
  const name = `channel ${made}`;
  t.strictSame(first, { type: "stream", op: "update", property: "is_archived", value: true, stream_id: id, name });
  const [gone] = followers[1]?.ofType("stream") ?? [];
  t.strictSame(gone, { type: "stream", op: "delete", streams: [{ stream_id: id }], stream_ids: [id] });
});

t.test("a user gets every channel that they may see, archived ones included", async (t) => {
  const hidden = await channel([owner], { invite_only: true, description: "*here*" });
  const name = `channel ${made}`;
  const { body } = await administrator.get(`/streams/${hidden}`);
  const listed = (await administrator.get("/streams", { include_all: true })).body.streams;
  t.strictSame(
    body.stream,
    listed.find((record: { stream_id: number }) => record.stream_id === hidden),
  );
  await expects(t, owner.get("/get_stream_id", { stream: name.toUpperCase() }), success({ stream_id: hidden }));
  const open = await archived([]);
  t.match((await member.get(`/streams/${open}`)).body, { stream: { stream_id: open, is_archived: true } });
  await expects(t, member.get("/get_stream_id", { stream: `channel ${made}` }), success({ stream_id: open }));
  const unknownId = refusal("Invalid channel ID");
  await expects(t, member.get(`/streams/${hidden}`), unknownId);
  await expects(t, member.get("/streams/9999"), unknownId);
  await expects(t, guest.get(`/streams/${open}`), unknownId);
  await expects(t, member.get("/get_stream_id", { stream: name }), `Invalid channel name '${name}'`);
  await expects(t, guest.get("/get_stream_id", { stream: "general" }), "Invalid channel name 'general'");
  t.match(await member.get("/get_stream_id"), { status: 400, body: { code: "REQUEST_VARIABLE_MISSING" } });
});

t.test("administrators may list all channels; bots those of their owner", async (t) => {
  const hidden = await channel([owner], { invite_only: true });
  const bot = await server.bot("owned", owner);
  const ids = ({ body }: Answer) => body.streams.map((record: { stream_id: number }) => record.stream_id);
  const none = { include_public: false, include_subscribed: false };
  t.ok(ids(await administrator.get("/streams", { include_all_active: true })).includes(hidden));
  await expects(t, member.get("/streams", { include_all_active: true }), "User not authorized for this query");
  t.strictSame(ids(await member.get("/streams", { ...none, include_default: true })), [1]);
  t.strictSame(ids(await guest.get("/streams", { ...none, include_default: true })), []);
  t.notOk(ids(await bot.get("/streams", { include_all: true })).includes(hidden));
  t.ok(ids(await bot.get("/streams", { ...none, include_owner_subscribed: true })).includes(hidden));
  t.strictSame(ids(await member.get("/streams", { ...none, include_owner_subscribed: true })), [], "people own nobody");
});

t.test("[D280] unread messages of an archived channel are not counted, and a reader can mark them", async (t) => {
  const reader = await server.person("Reader");
  const id = await channel([owner, reader], { invite_only: true });
  const { name } = (await owner.get(`/streams/${id}`)).body.stream;
  for (const topic of ["one", "two"]) await owner.say(name, topic, `@**Reader** ${topic}`);
  const unread = async () => {
    const { body } = await reader.post("/register", { fetch_event_types: ["message", "update_message_flags"] });
    const { count, streams } = body.unread_msgs;
    const topics = (streams as { stream_id: number; topic: string }[]).filter(({ stream_id }) => stream_id === id);
    return { count, topics: topics.map(({ topic }) => topic) };
  };
  const before = await unread();
  await owner.delete(`/streams/${id}`);
  const after = await unread();
  t.ok(before.count - after.count >= 2, "the two messages count no more");
  t.ok(
    ["one", "two"].every((topic) => after.topics.includes(topic)),
    "they are listed",
  );
  const unknown = refusal("Invalid channel ID");
  await expects(t, member.post("/mark_stream_as_read", { stream_id: id }), unknown, "of no reader");
  await expects(t, reader.post("/mark_topic_as_read", { stream_id: id, topic_name: "one" }), success());
  t.notOk((await unread()).topics.includes("one"));
  await expects(t, reader.post("/mark_stream_as_read", { stream_id: id }), success());
  t.strictSame((await unread()).topics, []);
});
