/**
 * GET, POST and DELETE /users/me/subscriptions (public API; spec 4.4 for the permissions to add and remove users; D18,
 * D24, S1), and large requests that split themselves through the mailbox (architecture, The path of a write).
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { named } from "../support/channels.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other, guest } = await startServerWithUsers(t, ["member", "other", "guest"]);

const path = "/users/me/subscriptions";

function subscribe(by: Client, names: readonly string[], params: Params = {}) {
  return by.post(path, { subscriptions: names.map((name) => ({ name })), ...params });
}

function unsubscribe(by: Client, subscriptions: readonly string[], params: Params = {}) {
  return by.delete(path, { subscriptions, ...params });
}

/** The answer of a subscription. Users whom somebody else subscribed get a message unless the request disables it. */
const joined = (fields: Params) => success({ new_subscription_messages_sent: true, ...fields });

async function channelsOf(client: Client): Promise<string[]> {
  const { body } = await client.get(path);
  return body.subscriptions.map(({ name }: { name: string }) => name);
}

const unknown = (name: string) =>
  refusal(`Channel '${name}' does not exist`, "STREAM_DOES_NOT_EXIST", 400, { stream: name });

t.test("a subscription is the channel's record with the user's own settings", async (t) => {
  const reader = await server.user("reader");
  const { status, body } = await reader.get(path);
  const color = body.subscriptions[0]?.color;
  t.match(color, /^#[0-9a-f]{6}$/);
  t.strictSame(
    { status, body },
    success({
      subscriptions: [
        {
          ...(await reader.channel(1)),
          color,
          is_muted: false,
          in_home_view: true,
          pin_to_top: false,
          desktop_notifications: null,
          audible_notifications: null,
          push_notifications: null,
          email_notifications: null,
          wildcard_mentions_notify: null,
        },
      ],
    }),
  );
});

t.test("subscribers are returned on request, ascending", async (t) => {
  const id = await owner.createChannel("listed", [other, member]);
  for (const form of ["true", "partial"]) {
    const { body } = await member.get(path, { include_subscribers: form });
    const own = body.subscriptions.find((entry: { stream_id: number }) => entry.stream_id === id);
    t.strictSame(own.subscribers, [member.userId, other.userId]);
  }
  await expects(t, member.get(path, { include_subscribers: "some" }), "Invalid include_subscribers");
});

t.test("the answer lists new and existing subscriptions by user id and channel name", async (t) => {
  await owner.createChannel("Tea", []);
  const first = await subscribe(member, ["tea", "TEA"]);
  t.strictSame(outcome(first), joined({ subscribed: { [member.userId]: ["Tea"] }, already_subscribed: {} }));
  const second = await subscribe(member, ["Tea", "general"]);
  t.strictSame(
    outcome(second),
    joined({ subscribed: {}, already_subscribed: { [member.userId]: ["Tea", "general"] } }),
  );
  t.ok((await channelsOf(member)).includes("Tea"));
});

t.test("a channel that does not exist is created with the request's settings", async (t) => {
  const made = await member.post(path, {
    subscriptions: [{ name: "  new one ", description: "first\nsecond" }, { name: "new two" }],
    invite_only: true,
    history_public_to_subscribers: true,
    topics_policy: "empty_topic_only",
    can_send_message_group: server.group("role:moderators"),
  });
  t.strictSame(
    outcome(made),
    joined({ subscribed: { [member.userId]: ["new one", "new two"] }, already_subscribed: {} }),
  );
  const { body } = await member.get(path);
  const records = body.subscriptions.filter(({ name }: { name: string }) => name.startsWith("new "));
  const settings = {
    creator_id: member.userId,
    invite_only: true,
    history_public_to_subscribers: true,
    topics_policy: "empty_topic_only",
    stream_post_policy: 4,
    subscriber_count: 1,
    can_administer_channel_group: named(member),
  };
  t.match(records, [
    { name: "new one", description: "first second", ...settings },
    { name: "new two", description: "", ...settings },
  ]);
  t.not(records[0].stream_id, records[1].stream_id);
});

t.test("[spec 4.3] subscribing to a new name follows the rules of creation, all or nothing", async (t) => {
  const refused: [Params, string][] = [
    [
      { subscriptions: [{ name: "kept out" }, { name: "x".repeat(61) }] },
      "Channel name too long (limit: 60 characters).",
    ],
    [{ subscriptions: [{ name: "kept out" }, { name: " " }] }, "Channel name can't be empty."],
    [
      { subscriptions: [{ name: "kept out" }, { name: "a\u0000" }] },
      "Invalid character in channel name, at position 2.",
    ],
    [
      { subscriptions: [{ name: "kept out", description: "d".repeat(1025) }] },
      "description is too long (limit: 1024 characters)",
    ],
    [{ subscriptions: [{ name: "kept out" }], is_default_stream: true }, "Insufficient permission"],
    [{ subscriptions: [{ name: "kept out" }], principals: [9999] }, "No such user"],
    [{ subscriptions: [{}] }, 'subscriptions[0]["name"] field is missing'],
    [{ subscriptions: ["kept out"] }, "subscriptions[0] is not a dict"],
  ];
  for (const [params, msg] of refused) await expects(t, member.post(path, params), msg, msg);
  const { body } = await owner.get("/streams", { include_all: true });
  t.notOk(body.streams.some(({ name }: { name: string }) => name === "kept out"));
  await expects(t, subscribe(guest, ["by a guest"]), "Not allowed for guest users");
});

t.test("[M7] of two concurrent subscriptions to a new name, one creates the channel; both subscribe", async (t) => {
  const answers = await Promise.all([subscribe(member, ["At once"]), subscribe(other, ["at once"])]);
  const seen = answers.map(({ status }) => status);
  t.strictSame(seen, [200, 200]);
  const { body } = await member.get(path);
  const found = body.subscriptions.filter(({ name }: { name: string }) => name.toLowerCase() === "at once");
  const subscriberCounts = found.map(({ subscriber_count }: { subscriber_count: number }) => subscriber_count);
  t.strictSame(subscriberCounts, [2]);
});

t.test("announce posts a notice for each channel that this request creates", async (t) => {
  const follower = await owner.follow();
  await subscribe(member, ["told of", "general"], { announce: true });
  await follower.settled();
  t.match(follower.ofType("message"), [
    {
      message: {
        subject: "new channels",
        content: `@_**member 0|${member.userId}** created a new channel #**told of**.`,
      },
    },
  ]);
});

t.test("others are named by id or by email", async (t) => {
  await owner.createChannel("named", []);
  const address = other.account?.email.toUpperCase();
  const byAddress = await subscribe(member, ["named"], { principals: [address, member.account?.email] });
  t.strictSame(
    outcome(byAddress),
    joined({
      subscribed: { [other.userId]: ["named"], [member.userId]: ["named"] },
      already_subscribed: {},
    }),
  );
  const byId = await subscribe(member, ["named"], { principals: [other.userId, guest.userId] });
  t.strictSame(
    outcome(byId),
    joined({ subscribed: { [guest.userId]: ["named"] }, already_subscribed: { [other.userId]: ["named"] } }),
  );
  t.ok((await channelsOf(guest)).includes("named"));
});

t.test("an unknown or deactivated user is a 400, and nobody is subscribed", async (t) => {
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const id = await owner.createChannel("untouched", []);
  for (const [principal, msg] of [
    [9999, "No such user"],
    ["nobody@example.com", "No such user"],
    [gone.userId, "User is deactivated"],
    [gone.account?.email, "User is deactivated"],
  ]) {
    const answer = await subscribe(owner, ["untouched"], { principals: [member.account?.email, principal] });
    t.strictSame(outcome(answer), refusal(String(msg)));
  }
  t.equal((await owner.channel(id)).subscriber_count, 0);
});

t.test("[spec 4.4] a channel's administrators and holders of the realm's permission can add others", async (t) => {
  const strict = await startTestServer(t);
  strict.setRealm({ can_add_subscribers_group: strict.group("role:administrators") });
  const creator = await strict.user("creator");
  const plain = await strict.user("plain");
  const third = await strict.user("third");
  await creator.createChannel("run", []);
  const principals = [third.userId];
  await expects(t, subscribe(plain, ["run"], { principals }), "Insufficient permission");
  t.equal((await subscribe(plain, ["run"])).status, 200, "subscribing oneself needs no permission");
  await expects(
    t,
    subscribe(creator, ["run"], { principals }),
    joined({ subscribed: { [third.userId]: ["run"] }, already_subscribed: {} }),
  );
  await creator.createChannel("held", [], { can_add_subscribers_group: named(plain) });
  t.equal((await subscribe(plain, ["held"], { principals })).status, 200, "the channel's own permission");
  t.equal((await subscribe(strict.owner, ["held"], { principals: [creator.userId] })).status, 200, "administrators");
});

t.test("[D18, S1] nobody subscribes to a private channel they cannot read, not even administrators", async (t) => {
  const id = await member.createChannel("Sealed", [member], { invite_only: true });
  for (const by of [other, owner]) {
    for (const params of [{}, { principals: [guest.userId] }]) {
      await expects(
        t,
        subscribe(by, ["sealed"], params),
        "Unable to access channel (sealed).",
        "the name comes from the request",
      );
    }
  }
  t.equal((await member.channel(id)).subscriber_count, 1);
  t.equal(
    (await subscribe(member, ["Sealed"], { principals: [other.userId] })).status,
    200,
    "its subscribers can add others",
  );
});

t.test("authorization_errors_fatal=false subscribes to the allowed channels and lists the rejected ones", async (t) => {
  await member.createChannel("Sealed too", [member], { invite_only: true });
  await member.createChannel("Unsealed", []);
  t.equal((await subscribe(other, ["Unsealed", "sealed too"])).status, 400);
  t.notOk((await channelsOf(other)).includes("Unsealed"), "fatal by default: nothing was changed");
  const answer = await subscribe(other, ["Unsealed", "sealed too"], { authorization_errors_fatal: false });
  t.strictSame(
    outcome(answer),
    joined({ subscribed: { [other.userId]: ["Unsealed"] }, already_subscribed: {}, unauthorized: ["sealed too"] }),
  );
});

t.test("[spec 2.4] can_subscribe_group is for oneself, can_add_subscribers_group for adding others", async (t) => {
  const strict = await startTestServer(t);
  strict.setRealm({ can_add_subscribers_group: strict.group("role:nobody") });
  const joiner = await strict.user("joiner");
  const adder = await strict.user("adder");
  await strict.owner.createChannel("held", [], {
    invite_only: true,
    can_subscribe_group: named(joiner),
    can_add_subscribers_group: named(adder),
  });
  await expects(t, subscribe(joiner, ["held"], { principals: [strict.owner.userId] }), "Insufficient permission");
  t.equal((await subscribe(joiner, ["held"])).status, 200);
  t.equal((await subscribe(adder, ["held"], { principals: [strict.owner.userId] })).status, 200);
});

t.test("[behaviour 3.8] a guest can subscribe to web-public channels only", async (t) => {
  const open = await startTestServer(t);
  open.setRealm({ enable_spectator_access: true });
  const visitor = await open.user("visitor", roles.guest);
  await open.owner.createChannel("web", [], { is_web_public: true });
  t.equal((await subscribe(visitor, ["web"])).status, 200);
  await expects(t, subscribe(visitor, ["general"]), "Unable to access channel (general).");
});

t.test("the answer lists removed and missing subscriptions", async (t) => {
  await member.createChannel("Left", [member, other]);
  await member.createChannel("Never", []);
  const follower = await member.follow();
  const witness = await owner.follow();
  const answer = await unsubscribe(member, ["left", "Never", "LEFT"]);
  t.strictSame(outcome(answer), success({ removed: ["Left"], not_removed: ["Never"] }));
  await follower.settled();
  await witness.settled();
  const removed = follower.ofType("subscription");
  const id = removed[0]?.subscriptions[0]?.stream_id;
  t.strictSame(removed, [{ type: "subscription", op: "remove", subscriptions: [{ name: "Left", stream_id: id }] }]);
  t.strictSame(witness.ofType("subscription"), [
    { type: "subscription", op: "peer_remove", stream_ids: [id], user_ids: [member.userId] },
  ]);
});

t.test("[D24] a private channel that the caller may not see gets the answer for a missing name", async (t) => {
  await member.createChannel("Veiled", [member], { invite_only: true });
  for (const params of [{}, { principals: [member.userId] }]) {
    await expects(t, unsubscribe(other, ["veiled"], params), unknown("veiled"));
    await expects(t, unsubscribe(other, ["no such"], params), unknown("no such"));
  }
  t.ok((await channelsOf(member)).includes("Veiled"));
});

t.test("[spec 4.4] administrators, the channel's administrators and its group can unsubscribe others", async (t) => {
  await member.createChannel("crew", [other, guest, owner]);
  const principals = [guest.userId];
  await expects(t, unsubscribe(other, ["crew"], { principals }), "Insufficient permission");
  const removed = success({ removed: ["crew"], not_removed: [] });
  await expects(t, unsubscribe(owner, ["crew"], { principals }), removed, "an organization administrator");
  await expects(
    t,
    unsubscribe(member, ["crew"], { principals: [owner.account?.email] }),
    removed,
    "the user who administers the channel",
  );
  await member.createChannel("grouped", [guest], { can_remove_subscribers_group: named(other) });
  t.equal((await unsubscribe(other, ["grouped"], { principals })).status, 200, "can_remove_subscribers_group");
  await member.createChannel("sealed crew", [member, guest], { invite_only: true });
  t.equal((await unsubscribe(owner, ["sealed crew"], { principals })).status, 200, "from a private one, too");
});

t.test("users remove their own bots from channels that they can access", async (t) => {
  const bot = await server.bot("bot", other);
  await member.createChannel("botted", [bot, member]);
  await expects(
    t,
    unsubscribe(other, ["botted"], { principals: [bot.userId] }),
    success({ removed: ["botted"], not_removed: [] }),
  );
  await expects(t, unsubscribe(other, ["botted"], { principals: [member.userId] }), "Insufficient permission");
});

t.test("subscribing again restores the former settings", async (t) => {
  await member.createChannel("home", []);
  await member.post(path, { subscriptions: [{ name: "home", color: "#123456" }] });
  await unsubscribe(member, ["home"]);
  await subscribe(member, ["home"]);
  const { body } = await member.get(path);
  t.equal(body.subscriptions.find(({ name }: { name: string }) => name === "home").color, "#123456");
});
