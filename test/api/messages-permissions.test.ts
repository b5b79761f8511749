/**
 * Permissions to post (behaviour 5.1, 3.5, 3.8; spec 2.4; D24, S1): channel groups, private channels, guests, bots and
 * wildcard mentions.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { named } from "../support/channels.ts";
import { type Client, expects, outcome, refusal } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, moderator, guest } = await startServerWithUsers(t, [
  "member",
  "other",
  "moderator",
  "guest",
]);
server.setRealm({ enable_spectator_access: true });

function send(by: Client, to: string | number, content = "hi") {
  return by.post("/messages", { type: "channel", to, topic: "t", content });
}

async function sent(by: Client, to: string | number, content?: string): Promise<boolean> {
  return (await send(by, to, content)).status === 200;
}

const notAllowed = refusal("You do not have permission to post in this channel.");
const notAuthorized = (name: string) => refusal(`Not authorized to send to channel '${name}'`);
const unknownName = (name: string) =>
  refusal(`Channel '${name}' does not exist`, "STREAM_DOES_NOT_EXIST", 400, { stream: name });
const unknownId = (id: number) =>
  refusal(`Channel with ID '${id}' does not exist`, "STREAM_DOES_NOT_EXIST", 400, { stream_id: id });

t.test("[behaviour 3.8] every member may post in a public channel, subscribed or not", async (t) => {
  await owner.createChannel("open", []);
  t.ok(await sent(member, "open"));
  t.ok(await sent(moderator, "open"));
});

t.test("[spec 2.4] can_send_message_group decides who may post, and no role overrides it", async (t) => {
  const group = server.group("role:moderators");
  await owner.createChannel("moderated", [member], { can_send_message_group: group });
  await expects(t, send(member, "moderated"), notAllowed);
  t.ok(await sent(moderator, "moderated"));
  t.ok(await sent(owner, "moderated"), "owners are among the moderators");
  await owner.createChannel("one voice", [member, other], { can_send_message_group: named(member) });
  t.ok(await sent(member, "one voice"));
  for (const by of [other, owner]) await expects(t, send(by, "one voice"), notAllowed);
  const silent = { can_send_message_group: server.group("role:nobody") };
  await owner.createChannel("silent", [owner], silent);
  await expects(t, send(owner, "silent"), notAllowed);
});

t.test("[D24] a private channel that the sender may not see gets the answer for a missing one", async (t) => {
  const id = await member.createChannel("Sealed", [member], { invite_only: true });
  await expects(t, send(other, "sealed"), unknownName("sealed"));
  await expects(t, send(other, id), unknownId(id));
  await expects(t, send(guest, "sealed"), unknownName("sealed"));
  await expects(t, send(other, id + 1000), unknownId(id + 1000));
  t.ok(await sent(member, id));
});

t.test("[behaviour 5.1] a user who sees a private channel but is not subscribed cannot post there", async (t) => {
  const id = await member.createChannel("known", [other], { invite_only: true });
  for (const by of [owner, member]) await expects(t, send(by, id), notAuthorized("known"));
});

t.test("[behaviour 5.1] the right to subscribe permits posting to a private channel with shared history", async (t) => {
  const settings = { invite_only: true, can_subscribe_group: named(other) };
  await member.createChannel("shared", [member], { ...settings, history_public_to_subscribers: true });
  await member.createChannel("protected", [member], settings);
  t.ok(await sent(other, "shared"));
  await expects(t, send(other, "protected"), notAuthorized("protected"));
});

t.test("[D24, behaviour 3.8] a guest may post where they are subscribed and in web-public channels", async (t) => {
  await expects(t, send(guest, "general"), unknownName("general"));
  await owner.createChannel("with guests", [guest]);
  t.ok(await sent(guest, "with guests"));
  await owner.createChannel("web", [], { is_web_public: true });
  t.ok(await sent(guest, "web"));
});

t.test("[behaviour 5.1] a bot may post in private channels of its owner", async (t) => {
  const bot = await server.bot("bot", member);
  await member.createChannel("owner in", [member], { invite_only: true });
  await owner.createChannel("owner out", [owner], { invite_only: true });
  t.ok(await sent(bot, "owner in"));
  await expects(t, send(bot, "owner out"), unknownName("owner out"));
});

t.test("[behaviour 5.1] a bot may use its owner's permission to post", async (t) => {
  const bot = await server.bot("posting", member);
  const foreign = await server.bot("foreign", other);
  await owner.createChannel("owned voice", [], { can_send_message_group: named(member) });
  t.ok(await sent(bot, "owned voice"));
  await expects(t, send(foreign, "owned voice"), notAllowed);
});

t.test("[D24] a guest cannot read a public channel without a subscription", async (t) => {
  const { id } = (await send(owner, "general")).body;
  t.equal((await member.get(`/messages/${id}`)).status, 200);
  await expects(t, guest.get(`/messages/${id}`), "Invalid message(s)");
  const narrow = [{ operator: "channel", operand: "general" }];
  const fetched = await guest.get("/messages", { anchor: "newest", num_before: 9, num_after: 0, narrow });
  t.match(fetched, { status: 400, body: { code: "BAD_NARROW", desc: "unknown channel general" } });
});

t.test("[behaviour 5.1] an archived channel accepts no messages", async (t) => {
  const id = await owner.createChannel("archived", [member]);
  const channel = server.realm.view.channels.get(id);
  if (channel !== undefined) server.write("channels", id, { ...channel, isArchived: true });
  await expects(t, send(member, id), notAuthorized("archived"));
});

t.test("[behaviour 5.1] wildcard mentions need a permission in channels of more than 15 subscribers", async (t) => {
  const people = await server.users("caller", 15);
  const refused = refusal(
    "You do not have permission to use channel wildcard mentions in this channel.",
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
  );
  for (const [name, count, expected] of [
    ["fifteen", 15, null],
    ["sixteen", 16, refused],
  ] as const) {
    const subscribers = [...people, member.userId].slice(16 - count);
    await owner.post("/channels/create", { name, subscribers });
    const answer = await send(member, name, "@**all** hear");
    if (expected === null) t.equal(answer.status, 200);
    else t.strictSame(outcome(answer), expected);
  }
  t.ok(await sent(owner, "sixteen", "@**everyone** hear"));
  t.ok(await sent(member, "sixteen", "`@**all**` is quoted"));
});

t.test("[D2] a deactivated user cannot post", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  t.match(await send(gone, "general"), { status: 401, body: { code: "USER_DEACTIVATED" } });
});

t.test("[S1] a message links only to channels that its sender may see", async (t) => {
  await owner.createChannel("not for members", [owner], { invite_only: true });
  const { body } = await send(member, "general", "#**not for members** #**general**");
  const { content } = (await member.get(`/messages/${body.id}`)).body.message;
  t.equal(
    content,
    '<p>#**not for members** <a class="stream" data-stream-id="1" href="/#narrow/channel/1-general">#general</a></p>',
  );
});

t.test("[S1] a link to a topic contains its newest message only if the sender can read that message", async (t) => {
  const params = { invite_only: true, history_public_to_subscribers: false };
  const id = await member.createChannel("kept", [member], params);
  await member.say(id, "before", "x");
  await member.post("/users/me/subscriptions", { subscriptions: [{ name: "kept" }], principals: [other.userId] });
  const latest = await member.say(id, "since", "x");
  const linked = async (sender: Client, topic: string) =>
    (await sender.post("/messages/render", { content: `#**kept>${topic}**` })).body.rendered;
  const at = (topic: string, rest: string) =>
    `<p><a class="stream-topic" data-stream-id="${id}" href="/#narrow/channel/${id}-kept/topic/${topic}${rest}">#kept &gt; ${topic}</a></p>`;
  t.equal(await linked(other, "since"), at("since", `/with/${latest}`));
  t.equal(await linked(other, "before"), at("before", ""), "protected history");
  t.equal(await linked(other, "never"), at("never", ""));
  t.equal(await linked(owner, "since"), at("since", ""), "an administrator who is not subscribed");
  t.equal(await linked(owner, "never"), at("never", ""));
});

t.test("[S3] a link to a topic with an over-long name stays text without an error", async (t) => {
  const long = "x".repeat(limits.message_code_points_max - 100);
  t.ok(await sent(member, "general", `#**general>${long}**`));
});
