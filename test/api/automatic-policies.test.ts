/**
 * Topics that are followed or unmuted automatically (spec 2.3; public API: send-message, update-settings) when a user
 * starts a topic, posts, reacts or is mentioned, in muted and in other channels. Each case checks the policy afterwards
 * and the answer.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { startChannelServer } from "../support/channels.ts";
import { type Client, expects, outcome, type Params, success } from "../support/client.ts";

const { server, owner, group } = await startChannelServer(t);
const [none, muted, unmuted, followed] = [0, 1, 2, 3] as const;
const never = {
  automatically_follow_topics_policy: 4,
  automatically_unmute_topics_in_muted_streams_policy: 4,
  automatically_follow_topics_where_mentioned: false,
};
const talk = await owner.createChannel("talk", [owner]);

let made = 0;
/**
 * A new user of the channel whose settings are off except for the given ones. `isChannelMuted` mutes the channel for
 * them.
 */
async function newUser(settings: Params, { isChannelMuted = false, channelId = talk } = {}): Promise<Client> {
  made++;
  const person = await server.user(`person${made}x`);
  server.setUser(person.userId, { ...never, ...settings });
  const subscriptions = [{ name: channelId === talk ? "talk" : "sealed" }];
  const principals = [person.userId];
  await owner.post("/users/me/subscriptions", { subscriptions, principals });
  if (isChannelMuted) {
    const subscription_data = [{ stream_id: channelId, property: "is_muted", value: true }];
    await person.post("/users/me/subscriptions/properties", { subscription_data });
  }
  return person;
}

async function policyOf(client: Client, topic: string): Promise<number> {
  const { user_topics: all } = await client.register({ fetch_event_types: ["user_topic"] });
  const entries = all as { topic_name: string; visibility_policy: number }[];
  return entries.find(({ topic_name: name }) => name.toLowerCase() === topic.toLowerCase())?.visibility_policy ?? none;
}

function send(client: Client, topic: string, content = "hi", to = talk) {
  return client.post("/messages", { type: "channel", to, topic, content });
}

function set(client: Client, topic: string, policy: number) {
  return client.post("/user_topics", { stream_id: talk, topic, visibility_policy: policy });
}

/** The policy that each action sets on a topic without one, by the values 1 to 4 of the setting. */
const acts = {
  starts: [true, true, true, false],
  writes: [true, true, false, false],
  reacts: [true, false, false, false],
} as const;

async function act(name: keyof typeof acts, person: Client, topic: string): Promise<unknown> {
  if (name === "starts") return (await send(person, topic)).body.automatic_new_visibility_policy;
  const id = await owner.say(talk, topic, "first");
  if (name === "writes") return (await send(person, topic)).body.automatic_new_visibility_policy;
  const reacted = await person.post(`/messages/${id}/reactions`, { emoji_name: "tada" });
  t.strictSame(outcome(reacted), success());
  return undefined;
}

t.test("[spec 2.3] each policy applies to starting, posting and reacting as its value says", async (t) => {
  const settings = [
    ["automatically_follow_topics_policy", followed],
    ["automatically_unmute_topics_in_muted_streams_policy", unmuted],
  ] as const;
  for (const [setting, wanted] of settings) {
    for (const value of [1, 2, 3, 4]) {
      const person = await newUser({ [setting]: value }, { isChannelMuted: true });
      for (const [name, row] of Object.entries(acts) as [keyof typeof acts, readonly boolean[]][]) {
        const topic = `${person.userId} ${name}`;
        const answered = await act(name, person, topic);
        const expected = row[value - 1] === true ? wanted : none;
        t.equal(await policyOf(person, topic), expected, `${setting}: ${value}, ${name}`);
        const received = expected === none || name === "reacts" ? undefined : expected;
        t.equal(answered, received, `the answer has the policy: ${setting}: ${value}, ${name}`);
      }
    }
  }
});

t.test("[spec 2.3] following wins over unmuting; in a channel that is not muted, no topic is unmuted", async (t) => {
  const both = { automatically_follow_topics_policy: 2, automatically_unmute_topics_in_muted_streams_policy: 1 };
  const person = await newUser(both, { isChannelMuted: true });
  t.equal(await act("writes", person, "both"), followed);
  await act("reacts", person, "both reacts");
  t.equal(await policyOf(person, "both reacts"), unmuted, "by the policy that applies to reactions");
  const loud = await newUser({ automatically_unmute_topics_in_muted_streams_policy: 1 });
  t.equal(await act("starts", loud, "loud"), undefined);
  await set(loud, "loud muted", muted);
  t.equal(await act("writes", loud, "loud muted"), undefined, "a muted topic in a channel that is not muted");
});

t.test("an action never lowers the visibility of a topic", async (t) => {
  const rows: [Params, number, number][] = [
    [{ automatically_unmute_topics_in_muted_streams_policy: 1 }, followed, followed],
    [{ automatically_unmute_topics_in_muted_streams_policy: 1 }, unmuted, unmuted],
    [{ automatically_unmute_topics_in_muted_streams_policy: 1 }, muted, unmuted],
    [{ automatically_follow_topics_policy: 1 }, followed, followed],
    [{ automatically_follow_topics_policy: 1 }, unmuted, followed],
    [{ automatically_follow_topics_policy: 1 }, muted, followed],
  ];
  for (const [settings, before, after] of rows) {
    const person = await newUser(settings, { isChannelMuted: true });
    const topic = `raised ${person.userId}`;
    await set(person, topic, before);
    const received = before === after ? {} : { automatic_new_visibility_policy: after };
    const sent = await send(person, topic.toUpperCase());
    t.strictSame(outcome(sent), success({ id: sent.body.id, ...received }), JSON.stringify([settings, before]));
    t.equal(await policyOf(person, topic), after);
  }
});

t.test("[behaviour 5.1] the sender alone receives the new policy before the message, and it is stored", async (t) => {
  const person = await newUser({ automatically_follow_topics_policy: 3 });
  const types = ["message", "user_topic", "muted_topics"];
  const own = await person.follow({ event_types: types });
  const others = await owner.follow({ event_types: types });
  await set(person, "Order", muted);
  await send(person, "order");
  await own.settled();
  const found = own.events.map(({ type, visibility_policy: policy }) => [type, policy]);
  t.strictSame(found, [
    ["user_topic", muted],
    ["user_topic", followed],
    ["message", undefined],
  ]);
  await others.settled();
  t.strictSame(others.ofType("user_topic"), []);
  t.equal((await send(person, "order")).body.automatic_new_visibility_policy, undefined, "once");
});

t.test("[D25] a repeated request gets the first answer, policy included", async (t) => {
  const person = await newUser({ automatically_follow_topics_policy: 3 });
  const params = { type: "channel", to: talk, topic: "again", content: "x" };
  const key = { "Idempotency-Key": "same" };
  const first = await person.post("/messages", params, key);
  t.equal(first.body.automatic_new_visibility_policy, followed);
  await expects(t, person.post("/messages", params, key), outcome(first));
});

t.test("[spec 2.3] a user mentioned by name follows the topic if set so and not muted", async (t) => {
  const wants = { automatically_follow_topics_where_mentioned: true };
  const bot = await server.bot("helper", owner);
  const people = {
    plain: await newUser(wants),
    unwilling: await newUser({}),
    muter: await newUser(wants),
    unmuter: await newUser(wants),
    silent: await newUser(wants),
  };
  await set(people.muter, "call", muted);
  await set(people.unmuter, "call", unmuted);
  const by = ({ userId }: Client) => `**|${userId}**`;
  const calls = [people.plain, people.unwilling, people.muter, people.unmuter, bot].map((one) => `@${by(one)}`);
  const follower = await people.plain.follow({ event_types: ["message", "user_topic"] });
  const sent = await send(owner, "call", `${calls.join(" ")} @_${by(people.silent)}`);
  t.equal(sent.body.automatic_new_visibility_policy, followed, "the owner has started the topic");
  const seen = await Promise.all(Object.values(people).map((one) => policyOf(one, "call")));
  t.strictSame(seen, [followed, none, muted, followed, none]);
  t.equal(await policyOf(bot, "call"), none, "bots have no policies");
  await follower.settled();
  const types = follower.events.map(({ type }) => type);
  t.strictSame(types, ["user_topic", "message"]);
  const self = await newUser(wants);
  t.equal((await send(self, "self", `@${by(self)}`)).body.automatic_new_visibility_policy, followed);
});

t.test("mentions of groups and wildcards make nobody follow", async (t) => {
  const person = await newUser({ automatically_follow_topics_where_mentioned: true });
  const made = await owner.post("/user_groups/create", { name: "crew", description: "", members: [person.userId] });
  t.equal(made.status, 200);
  for (const call of ["@**all**", "@**topic**", "@*crew*"]) {
    await send(owner, `wild ${call}`, call);
    t.equal(await policyOf(person, `wild ${call}`), none, call);
  }
});

t.test("[S3] mention_follows_per_message_max: if one more user is mentioned, nobody follows", async (t) => {
  const max = limits.mention_follows_per_message_max;
  const ids = await server.users("called", max);
  const one = await newUser({ automatically_follow_topics_where_mentioned: true });
  const call = (list: readonly number[]) => list.map((id) => `@**|${id}**`).join(" ");
  await send(owner, "one more", call([...ids, one.userId]));
  t.equal(await policyOf(one, "one more"), none);
  await send(owner, "at the bound", call([...ids.slice(1), one.userId]));
  t.equal(await policyOf(one, "at the bound"), followed);
});

t.test("[S3] user_topics_per_user_max: at the limit no topic is followed, the message is sent", async (t) => {
  const mentions = { automatically_follow_topics_where_mentioned: true };
  const person = await newUser({ automatically_follow_topics_policy: 1, ...mentions });
  const row = { topic: "x", visibilityPolicy: followed, changedAt: 0 } as const;
  const full = Array.from({ length: limits.user_topics_per_user_max - 1 }, (_, index) => `t${index}`);
  server.writeMany(
    "userTopics",
    full.map((topic) => [[person.userId, talk, topic], { ...row, topic }] as const),
  );
  t.equal((await send(person, "last")).body.automatic_new_visibility_policy, followed);
  const sent = await send(person, "beyond");
  t.strictSame(outcome(sent), success({ id: sent.body.id }));
  t.equal(await policyOf(person, "beyond"), none);
  await act("reacts", person, "reacted beyond");
  t.equal(await policyOf(person, "reacted beyond"), none);
  await send(owner, "called beyond", `@**|${person.userId}**`);
  t.equal(await policyOf(person, "called beyond"), none);
  await set(person, "last", muted);
  t.equal(
    (await send(person, "last")).body.automatic_new_visibility_policy,
    followed,
    "a policy that exists is raised",
  );
});

t.test("[S1] a user who cannot read the channel follows no topic when mentioned there", async (t) => {
  const sealed = await owner.createChannel("sealed", [owner], { invite_only: true });
  const outside = await newUser({ automatically_follow_topics_where_mentioned: true });
  const inside = await newUser({ automatically_follow_topics_where_mentioned: true }, { channelId: sealed });
  await send(owner, "secret", `@**|${outside.userId}** @**|${inside.userId}**`, sealed);
  t.strictSame([await policyOf(outside, "secret"), await policyOf(inside, "secret")], [none, followed]);
});

t.test("[S1] in protected history, a user who can see none of a topic's messages counts as starting it", async (t) => {
  const options = { invite_only: true, history_public_to_subscribers: false };
  const id = await owner.createChannel("protected", [owner], {
    ...options,
    can_send_message_group: group("everyone"),
  });
  await owner.say(id, "older", "before");
  const late = await server.user("late", roles.member);
  server.setUser(late.userId, { ...never, automatically_follow_topics_policy: 3 });
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "protected" }], principals: [late.userId] });
  t.equal((await send(late, "older", "mine", id)).body.automatic_new_visibility_policy, followed);
  await owner.say(id, "newer", "seen");
  t.equal((await send(late, "newer", "mine", id)).body.automatic_new_visibility_policy, undefined);
});
