/** Users' topic policies when a whole topic moves: renamed, to another channel, or into another topic. */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { TopicMove } from "../../schemas/user-topics.ts";
import type { Client } from "../support/client.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { newUsers } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const { owner } = server;
const open = await owner.createChannel("open", []);
const [none, muted, unmuted, followed] = [0, 1, 2, 3];

const newUser = newUsers(server);

function set(client: Client, id: number, topic: string, policy: number) {
  return client.post("/user_topics", { stream_id: id, topic, visibility_policy: policy });
}

async function topicsOf(client: Client): Promise<[number, string, number][]> {
  const state = await client.register({ fetch_event_types: ["user_topic"] });
  const entries = state["user_topics"] as { stream_id: number; topic_name: string; visibility_policy: number }[];
  return entries.map((entry) => [entry.stream_id, entry.topic_name, entry.visibility_policy]);
}

/** Moves policies as a move of a whole topic does. */
async function move(where: TestServer, from: [number, string], to: [number, string], isMerge: boolean) {
  const place = ([channelId, topic]: [number, string]) => ({ channelId, topic });
  const params: TopicMove = { from: place(from), to: place(to), isMerge, phase: "target", afterUserId: 0 };
  const { dispatcher } = where.realm;
  await dispatcher.ask(command({ actor: "realm" }, "user-topics.move", params, null));
  await dispatcher.idle();
}

t.test("policies follow a topic that is renamed", async (t) => {
  const people = await Promise.all([newUser(), newUser(), newUser(), newUser()]);
  const [follows, mutes, expects, none0] = people as [Client, Client, Client, Client];
  await set(follows, open, "before", followed);
  await set(mutes, open, "before", muted);
  await set(mutes, open, "after", followed);
  await set(expects, open, "after", muted);
  const followers = await Promise.all(
    people.map((client) => client.follow({ event_types: ["user_topic", "message"] })),
  );
  await move(server, [open, "Before"], [open, "After"], false);
  for (const follower of followers) await follower.settled();
  const received = followers.map((follower) =>
    follower.ofType("user_topic").map(({ topic_name: name, visibility_policy: policy }) => [name, policy]),
  );
  // The removed policy, in the spelling that the user's clients have.
  t.strictSame(received, [
    [
      ["before", none],
      ["After", followed],
    ],
    [
      ["before", none],
      ["After", muted],
    ],
    [["After", none]],
    [],
  ]);
  t.strictSame(await Promise.all(people.map((client) => topicsOf(client))), [
    [[open, "After", followed]],
    [[open, "After", muted]],
    [],
    [],
  ]);
  t.strictSame(await topicsOf(none0), []);
});

t.test("when two topics merge, the more visible policy wins", async (t) => {
  const table: [number, number, number][] = [];
  for (const one of [none, muted, unmuted, followed]) {
    for (const other of [none, muted, unmuted, followed]) {
      const order = [followed, unmuted, none, muted];
      table.push([one, other, order[Math.min(order.indexOf(one), order.indexOf(other))] ?? none]);
    }
  }
  const people = await Promise.all(table.map(() => newUser()));
  for (const [index, [one, other]] of table.entries()) {
    await set(people[index] as Client, open, "one", one);
    await set(people[index] as Client, open, "other", other);
  }
  await move(server, [open, "one"], [open, "other"], true);
  for (const [index, [one, other, expected]] of table.entries()) {
    const kept = expected === none ? [] : [[open, "other", expected]];
    t.strictSame(await topicsOf(people[index] as Client), kept, `${one} and ${other}`);
  }
});

t.test("another spelling of the same topic keeps its policies", async (t) => {
  const person = await newUser();
  await set(person, open, "quiet", muted);
  const follower = await person.follow({ event_types: ["user_topic", "muted_topics", "message"] });
  await move(server, [open, "quiet"], [open, "Quiet"], false);
  t.strictSame(await topicsOf(person), [[open, "Quiet", muted]]);
  await follower.settled();
  t.match(follower.ofType("user_topic"), [{ topic_name: "Quiet", visibility_policy: muted }]);
});

t.test(
  "[S1] a user who cannot read the target does not receive its name; a user who can read neither keeps their policy",
  async (t) => {
    const [insider, outsider, left] = await Promise.all([newUser(), newUser(), newUser()]);
    const hidden = await owner.createChannel("hidden", [owner, insider, left], { invite_only: true });
    for (const client of [insider, outsider]) await set(client, open, "plans", followed);
    await set(left, hidden, "old plans", followed);
    await left.delete("/users/me/subscriptions", { subscriptions: ["hidden"] });
    const follower = await outsider.follow({ event_types: ["user_topic", "message"] });
    const leftFollower = await left.follow({ event_types: ["user_topic", "message"] });
    // With protected history a topic is visible only through its messages.
    await owner.say(hidden, "secret plans", "moved");
    await move(server, [open, "plans"], [hidden, "secret plans"], false);
    await move(server, [hidden, "old plans"], [hidden, "new plans"], false);
    t.strictSame(await topicsOf(insider), [[hidden, "secret plans", followed]]);
    t.strictSame(await topicsOf(outsider), []);
    t.strictSame(await topicsOf(left), [[hidden, "old plans", followed]]);
    await follower.settled();
    t.match(follower.ofType("user_topic"), [{ stream_id: open, topic_name: "plans", visibility_policy: none }]);
    await leftFollower.settled();
    t.strictSame(leftFollower.ofType("user_topic"), []);
  },
);

t.test("a move that affects more users than one command takes continues by itself", async (t) => {
  const own = await startTestServer(t);
  const id = await own.owner.createChannel("busy", []);
  const perCommand = limits.user_topics_per_command_max;
  const ids = await own.users("crowd", 2 * perCommand + 1);
  own.writeMany(
    "userTopics",
    ids.map((userId) => [[userId, id, "a"], { topic: "a", visibilityPolicy: 3, changedAt: 0 }] as const),
  );
  own.writeMany(
    "topicPolicies",
    ids.map((userId) => [[id, "a", userId], { visibilityPolicy: 3 }] as const),
  );
  await move(own, [id, "a"], [id, "b"], false);
  const { view } = own.realm;
  const names = (userId: number) => view.keys("userTopics", { start: [userId], end: [userId + 1], limit: 9 });
  t.ok(ids.every((userId) => JSON.stringify(names(userId)) === JSON.stringify([[userId, id, "b"]])));
  t.equal(view.keys("topicPolicies", { start: [id, "a"], end: [id, "b"], limit: 9 }).length, 0);
  t.equal(view.keys("topicPolicies", { start: [id, "b"], end: [id, "c"], limit: 9999 }).length, ids.length);

  // The deletion of a topic continues, too. A user who subscribes again meanwhile is not skipped.
  const [last = 0, at] = [ids.at(-1), view.now];
  own.writeMany("userTopics", [[[last, id, "b"], { topic: "b", visibilityPolicy: 3, changedAt: at + 1 }]]);
  const end = { place: { channelId: id, topic: "b" }, messageIds: [1], at, afterUserId: 0 };
  await own.realm.dispatcher.ask(command({ actor: "realm" }, "user-topics.end", end, null));
  await own.realm.dispatcher.idle();
  const holders = ids.filter((userId) => names(userId).length > 0);
  t.strictSame(holders, [last]);
  t.strictSame(view.keys("topicPolicies", { start: [id, "b"], end: [id, "c"], limit: 9 }), [[id, "b", last]]);
});
