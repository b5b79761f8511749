/**
 * [S1] Topic policies in channels with protected history: a user who can read no message of a topic gets no information
 * about its names, whatever policy they set for a guessed name and whatever their permissions are.
 */
import t from "tap";
import { type Client, expects, type Follower, success } from "../support/client.ts";
import { move } from "../support/message-moves.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const [none, followed] = [0, 3];
const sealed = { invite_only: true, history_public_to_subscribers: false };

function invite(channel: string, client: Client) {
  return owner.post("/users/me/subscriptions", { subscriptions: [{ name: channel }], principals: [client.userId] });
}

async function follow(client: Client, channelId: number, topic: string): Promise<void> {
  await client.post("/user_topics", { stream_id: channelId, topic, visibility_policy: followed });
}

async function policiesOf(client: Client): Promise<[number, string, number][]> {
  const state = await client.register({ fetch_event_types: ["user_topic"] });
  const entries = state["user_topics"] as { stream_id: number; topic_name: string; visibility_policy: number }[];
  return entries.map((entry) => [entry.stream_id, entry.topic_name, entry.visibility_policy]);
}

/** [topic, policy] of each event. */
async function receivedEvents(follower: Follower): Promise<[string, number][]> {
  await follower.settled();
  return follower.ofType("user_topic").map((event) => [event.topic_name, event.visibility_policy]);
}

function listening(clients: readonly Client[]): Promise<Follower[]> {
  return Promise.all(clients.map((client) => client.follow({ event_types: ["message", "user_topic"] })));
}

t.test("[S1] a policy does not reveal a topic's new name to a user who can read none of its messages", async (t) => {
  const [early, back, late] = await Promise.all(["early", "back", "late"].map((name) => server.user(name)));
  const people = [early, back, late] as [Client, Client, Client];
  const id = await owner.createChannel("renames", [owner, people[0], people[1]], sealed);
  const first = await owner.say(id, "plans", "to two");
  await people[1].delete("/users/me/subscriptions", { subscriptions: ["renames"] });
  await owner.say(id, "plans", "to one");
  for (const client of people.slice(1)) await invite("renames", client);
  for (const client of people) await follow(client, id, "plans");
  const followers = await listening(people);
  for (const topic of ["secret plans", "SECRET plans"]) {
    t.equal((await move(owner, first, { topic, propagate_mode: "change_all" })).status, 200);
  }
  const all = [
    ["plans", none],
    ["secret plans", followed],
    ["SECRET plans", followed],
  ];
  t.strictSame(await Promise.all(followers.map(receivedEvents)), [all, all, []]);
  const kept = await Promise.all(people.map(policiesOf));
  t.strictSame(kept, [[[id, "SECRET plans", followed]], [[id, "SECRET plans", followed]], [[id, "plans", followed]]]);
  // Nor through another spelling of the guessed name.
  await follow(people[2], id, "secret plans");
  const [follower] = await listening([people[2]]);
  await move(owner, first, { topic: "Secret Plans", propagate_mode: "change_all" });
  t.strictSame(await receivedEvents(follower as Follower), []);
});

t.test("[S1] a policy does not reveal where a topic moved to users who cannot read it there", async (t) => {
  const [there, late] = await Promise.all(["there", "latecomer"].map((name) => server.user(name)));
  const people = [there, late] as [Client, Client];
  const from = await owner.createChannel("from", [owner, ...people]);
  const to = await owner.createChannel("to", [owner, people[0]], sealed);
  const first = await owner.say(from, "plans", "one");
  await owner.say(from, "plans", "two");
  await invite("to", people[1]);
  for (const client of people) await follow(client, from, "plans");
  const followers = await listening(people);
  const params = { stream_id: to, topic: "secret plans", propagate_mode: "change_all" };
  t.equal((await move(owner, first, params)).status, 200);
  t.strictSame(await Promise.all(followers.map(receivedEvents)), [
    [
      ["plans", none],
      ["secret plans", followed],
    ],
    [["plans", none]],
  ]);
  t.strictSame(await Promise.all(people.map(policiesOf)), [[[to, "secret plans", followed]], []]);
});

t.test("[S1, spec 2.3] a user who cannot read a message does not follow its topic when mentioned in it", async (t) => {
  const [outside, inside] = await Promise.all(["outside", "inside"].map((name) => server.user(name)));
  const people = [outside, inside] as [Client, Client];
  const may = { direct_members: people.map(({ userId }) => userId), direct_subgroups: [] };
  const id = await owner.createChannel("mentions", [owner, people[1]], { ...sealed, can_subscribe_group: may });
  for (const client of people) {
    server.setUser(client.userId, { automatically_follow_topics_where_mentioned: true });
  }
  const followers = await listening(people);
  const content = people.map(({ userId }) => `@**|${userId}**`).join(" ");
  const sent = await owner.post("/messages", { type: "channel", to: id, topic: "secret plans", content });
  t.equal(sent.status, 200);
  await expects(
    t,
    people[1].get(`/users/me/${id}/topics`),
    success({
      topics: [{ name: "secret plans", max_id: sent.body.id }],
    }),
  );
  await expects(t, people[0].get(`/users/me/${id}/topics`), success({ topics: [] }));
  t.strictSame(await Promise.all(followers.map(receivedEvents)), [[], [["secret plans", followed]]]);
});
