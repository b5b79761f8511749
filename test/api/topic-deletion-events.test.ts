/**
 * Events of a topic deletion (spec section 6, behaviour 7, 4.3): delete_message in bulk or one by one,
 * first_message_id, and no events for users who could not see the messages (S1).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Event, Follower } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member } = await startServerWithUsers(t, ["administrator", "member"]);
const batch = limits.topic_deletion_batch_messages_busy;
const bulk = { client_capabilities: { bulk_message_deletion: true } };

async function fill(by: Client, channelId: number, topic: string, count: number): Promise<number[]> {
  const posts = Array.from({ length: count }, (_, index) => by.say(channelId, topic, `number ${index}`));
  return (await Promise.all(posts)).sort((a, b) => a - b);
}

async function remove(by: Client, channelId: number, topic: string): Promise<void> {
  const { body } = await by.post(`/streams/${channelId}/delete_topic`, { topic_name: topic });
  if (body.complete !== true) throw new Error(`not complete: ${JSON.stringify(body)}`);
}

/** Deleted ids in the events of a follower, in order. */
function goneIds(follower: Follower): number[] {
  return follower.ofType("delete_message").flatMap((event) => event.message_ids ?? [event.message_id]);
}

t.test("[behaviour 4.4] a client with bulk_message_deletion receives one event per batch, newest first", async (t) => {
  const id = await owner.createChannel("bulk", [owner, member]);
  const ids = await fill(owner, id, "Long", 2 * batch + 5);
  const follower = await member.follow(bulk);
  await remove(owner, id, "long");
  await follower.settled();
  const place = { type: "delete_message", message_type: "stream", stream_id: id, topic: "Long" };
  t.strictSame(follower.ofType("delete_message"), [
    { ...place, message_ids: ids.slice(batch + 5) },
    { ...place, message_ids: ids.slice(5, batch + 5) },
    { ...place, message_ids: ids.slice(0, 5) },
  ]);
});

t.test("[E1] a client without it receives one event per message, each with its own id, in order", async (t) => {
  const id = await owner.createChannel("single", [owner, member]);
  const ids = await fill(owner, id, "t", 7);
  const follower = await member.follow();
  const whole = await member.follow(bulk);
  await remove(owner, id, "t");
  await follower.settled();
  await whole.settled();
  t.strictSame(
    follower.ofType("delete_message"),
    ids.map((message_id) => ({
      type: "delete_message",
      message_type: "stream",
      stream_id: id,
      topic: "t",
      message_id,
    })),
  );
  const eventIds = follower.events.map((event: Event) => event.id);
  t.strictSame(
    eventIds,
    [...new Set(eventIds)].sort((a, b) => a - b),
    "increasing, none twice",
  );
  t.strictSame(goneIds(whole), ids);
});

t.test("[spec 6, D71] first_message_id is sent when it changes, after the batch that changed it", async (t) => {
  const id = await owner.createChannel("first", [owner, member]);
  await fill(owner, id, "one", 2);
  const [next] = await fill(owner, id, "two", 2);
  await owner.say(id, "three", "x");
  const follower = await member.follow(bulk);
  const received = async () => {
    await follower.settled();
    return follower.events
      .splice(0)
      .map(({ type, property, value }: Event) => (type === "stream" ? [type, property, value] : [type]));
  };
  await remove(owner, id, "one");
  t.strictSame(await received(), [["delete_message"], ["stream", "first_message_id", next]]);
  await remove(owner, id, "three");
  t.strictSame(await received(), [["delete_message"]], "the oldest message still exists");
  await remove(owner, id, "two");
  t.strictSame(await received(), [["delete_message"], ["stream", "first_message_id", null]]);
});

t.test("[spec 6] the event of a new first_message_id names its channel", async (t) => {
  const id = await owner.createChannel("named", [owner]);
  await owner.say(id, "one", "x");
  const next = await owner.say(id, "two", "x");
  const follower = await owner.follow();
  await remove(owner, id, "one");
  await follower.settled();
  t.strictSame(follower.ofType("stream"), [
    { type: "stream", op: "update", stream_id: id, name: "named", property: "first_message_id", value: next },
  ]);
});

t.test("[behaviour 7] subscribers, former ones with copies and the caller get the events, nobody else", async (t) => {
  const left = await server.user("left");
  const bystander = await server.user("bystander");
  const id = await owner.createChannel("told", [owner, member, left]);
  const ids = await fill(owner, id, "t", 2);
  await left.delete("/users/me/subscriptions", { subscriptions: ["told"] });
  const people = { member, left, administrator, bystander };
  const followers = await Promise.all(Object.values(people).map((client) => client.follow(bulk)));
  await remove(administrator, id, "t");
  const received = [];
  for (const follower of followers) {
    await follower.settled();
    received.push(goneIds(follower));
  }
  t.strictSame(received, [ids, ids, ids, []]);
});

t.test("[S1] protected history: a later subscriber receives no deletion of earlier messages", async (t) => {
  const late = await server.user("late");
  const id = await owner.createChannel("vault", [owner], { invite_only: true });
  await fill(owner, id, "secret plan", 2);
  const before = await fill(owner, id, "mixed", 2);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "vault" }], principals: [late.userId] });
  const after = await fill(owner, id, "mixed", 2);
  const follower = await late.follow();
  const whole = await late.follow(bulk);
  const witness = await owner.follow(bulk);
  await remove(owner, id, "secret plan");
  await remove(owner, id, "mixed");
  for (const each of [follower, whole, witness]) await each.settled();
  t.strictSame(goneIds(follower), after);
  t.strictSame(goneIds(whole), after);
  t.notMatch(JSON.stringify([...follower.events, ...whole.events]), /secret plan/);
  t.strictSame(goneIds(witness).slice(2), [...before, ...after]);
});

/** The policies of a user in the state of a fresh client. */
async function policiesOf(client: Client): Promise<[number, string, number][]> {
  const state = await client.register({ fetch_event_types: ["user_topic"] });
  const entries = state["user_topics"] as { stream_id: number; topic_name: string; visibility_policy: number }[];
  return entries.map((entry) => [entry.stream_id, entry.topic_name, entry.visibility_policy]);
}

function think(client: Client, channelId: number, topic: string, policy: number) {
  return client.post("/user_topics", { stream_id: channelId, topic, visibility_policy: policy });
}

t.test("[behaviour 7] on completion policies for the topic are reset, with events after the deletion's", async (t) => {
  const mutes = await server.user("mutes");
  const follows = await server.user("follows");
  const id = await owner.createChannel("policies", [owner, member, mutes, follows]);
  await fill(owner, id, "Plans", batch + 1);
  for (const topic of ["plans", "plans b"]) await think(mutes, id, topic, 1);
  await think(follows, id, "PLANS", 3);
  const wanted = { event_types: ["message", "delete_message", "user_topic"], ...bulk };
  const people = await Promise.all([mutes, follows, member].map((client) => client.follow(wanted)));
  const older = await mutes.follow({ event_types: ["message", "muted_topics"] });
  await remove(administrator, id, "plans");
  for (const follower of [...people, older]) await follower.settled();
  const received = people.map((follower) =>
    follower.events.map((event) => [event.type, event.topic_name ?? event.message_ids.length, event.visibility_policy]),
  );
  const deleted = [
    ["delete_message", batch, undefined],
    ["delete_message", 1, undefined],
  ];
  // In the spelling that each client has.
  t.strictSame(received, [[...deleted, ["user_topic", "plans", 0]], [...deleted, ["user_topic", "PLANS", 0]], deleted]);
  t.match(older.ofType("muted_topics"), [{ muted_topics: [["policies", "plans b", Number]] }]);
  t.strictSame(await policiesOf(mutes), [[id, "plans b", 1]]);
  t.strictSame(await policiesOf(follows), []);
});

t.test("[S1, behaviour 7] protected history: only policies of users who lost messages are reset", async (t) => {
  const early = await server.user("early");
  const between = await server.user("between");
  const late = await server.user("lately");
  const gone = await server.user("gone");
  const id = await owner.createChannel("private policies", [owner, early, gone], { invite_only: true });
  const invite = (client: Client) =>
    owner.post("/users/me/subscriptions", {
      subscriptions: [{ name: "private policies" }],
      principals: [client.userId],
    });
  await fill(owner, id, "t", batch + 1);
  await invite(between);
  await fill(owner, id, "t", batch + 1);
  await invite(late);
  for (const client of [early, between, late, gone]) await think(client, id, "t", 3);
  await gone.delete("/users/me/subscriptions", { subscriptions: ["private policies"] });
  const follower = await late.follow();
  await remove(owner, id, "t");
  await follower.settled();
  t.strictSame(follower.ofType("user_topic"), []);
  const left = await Promise.all([early, between, late, gone].map(policiesOf));
  t.strictSame(left, [[], [], [[id, "t", 3]], [[id, "t", 3]]]);
});

t.test("[spec 2.9] clients without the capability receive the display name of the empty topic", async (t) => {
  const id = await owner.createChannel("unnamed", [owner]);
  await owner.say(id, "", "x");
  const older = await owner.follow();
  const newer = await owner.follow({ client_capabilities: { empty_topic_name: true } });
  await remove(owner, id, "general chat");
  const topics = [];
  for (const follower of [older, newer]) {
    await follower.settled();
    topics.push(follower.ofType("delete_message")[0]?.topic);
  }
  t.strictSame(topics, ["general chat", ""]);
});

t.test("[behaviour 7] deleting an unknown topic sends no event", async (t) => {
  const follower = await owner.follow();
  await remove(owner, 1, "never written");
  t.strictSame(await follower.settled(), []);
});

t.test("[spec 4.13] two concurrent deletions of one topic send one deletion per message", async (t) => {
  const id = await owner.createChannel("once", [owner]);
  const ids = await fill(owner, id, "t", batch + 10);
  const follower = await owner.follow(bulk);
  await Promise.all([remove(owner, id, "t"), remove(administrator, id, "t")]);
  await follower.settled();
  const found = goneIds(follower).sort((a, b) => a - b);
  t.strictSame(found, ids);
});
