/**
 * Notices of resolved topics (spec 2.3, resolved_topic_notice_auto_read_policy): the users for whom they are read at
 * once, in every view of unread messages.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Follower } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const followed = 3;

let people = 0;
async function person(policy: string): Promise<Client> {
  people++;
  const made = await server.user(`person${people}x`);
  server.setUser(made.userId, {
    resolved_topic_notice_auto_read_policy: policy,
    automatically_follow_topics_policy: 4,
  });
  return made;
}

async function everybody() {
  const policies = ["always", "except_followed", "never"] as const;
  const rows = policies.flatMap((policy) => [false, true].map((follows) => ({ policy, follows })));
  return await Promise.all(rows.map(async (row) => ({ ...row, client: await person(row.policy) })));
}

const follow = (client: Client, id: number, topic: string) =>
  client.post("/user_topics", { stream_id: id, topic, visibility_policy: followed });

const rename = (client: Client, messageId: number, topic: string) =>
  client.patch(`/messages/${messageId}`, { topic, propagate_mode: "change_all" });

async function unreadOf(client: Client, channelId: number): Promise<number[]> {
  const { unread_msgs: unread } = await client.register({ fetch_event_types: ["message", "update_message_flags"] });
  const { streams } = unread as { streams: { stream_id: number; unread_message_ids: number[] }[] };
  return streams.filter(({ stream_id: id }) => id === channelId).flatMap(({ unread_message_ids: ids }) => ids);
}

async function unreadByNarrow(client: Client, channelId: number): Promise<number[]> {
  const narrow = [
    { operator: "is", operand: "unread" },
    { operator: "channel", operand: channelId },
  ];
  const { body } = await client.get("/messages", { anchor: 0, num_before: 0, num_after: 10, narrow });
  return body.messages.map(({ id }: { id: number }) => id);
}

t.test("[spec 2.3] the notice is read at once for users whose policy says so, in every view", async (t) => {
  const rows = await everybody();
  const id = await owner.createChannel("policies", [owner, ...rows.map(({ client }) => client)]);
  const first = await owner.say(id, "question", "what?");
  for (const { client, follows } of rows) if (follows) await follow(client, id, "question");
  for (const { client } of rows) await client.post("/mark_stream_as_read", { stream_id: id });
  const followers = await Promise.all(rows.map(({ client }) => client.follow({ event_types: ["message"] })));
  for (const [topic, word] of [
    ["✔ question", "resolved"],
    ["question", "unresolved"],
  ] as const) {
    const notices: number[] = [];
    // A message in between, so that the second notice does not delete the first one.
    await owner.say(id, word === "resolved" ? "question" : "✔ question", "well");
    for (const { client } of rows) await client.post("/mark_stream_as_read", { stream_id: id });
    await rename(owner, first, topic);
    for (const [index, { client, policy, follows }] of rows.entries()) {
      const isUnread = policy === "never" || (policy === "except_followed" && follows);
      const follower = followers[index] as Follower;
      await follower.settled();
      const notice = follower.events.at(-1);
      t.match(notice.message.content, new RegExp(` marked this topic as ${word}\\.`));
      notices.push(notice.message.id);
      const label = `${word}, ${policy}, ${follows ? "followed" : "not followed"}`;
      t.strictSame(notice.flags, isUnread ? [] : ["read"], `the event: ${label}`);
      const expected = isUnread ? [notice.message.id] : [];
      t.strictSame(await unreadOf(client, id), expected, `the state: ${label}`);
      t.strictSame(await unreadByNarrow(client, id), expected, `the narrow: ${label}`);
      const { flags } = (await client.get(`/messages/${notice.message.id}`)).body.message;
      t.strictSame(flags, isUnread ? [] : ["read"], `the message: ${label}`);
    }
    t.equal(new Set(notices).size, 1);
  }
});

t.test("[spec 2.3] a later change of the setting does not affect earlier notices, but marking does", async (t) => {
  const client = await person("except_followed");
  const id = await owner.createChannel("later", [owner, client]);
  const first = await owner.say(id, "question", "what?");
  await client.post("/mark_stream_as_read", { stream_id: id });
  await rename(owner, first, "✔ question");
  t.strictSame(await unreadOf(client, id), []);
  await client.patch("/settings", { resolved_topic_notice_auto_read_policy: "never" });
  await follow(client, id, "✔ question");
  t.strictSame(await unreadOf(client, id), []);
  const notice = server.realm.view.counter("message");
  await client.post("/messages/flags", { messages: [notice], op: "remove", flag: "read" });
  t.strictSame(await unreadOf(client, id), [notice]);
  await client.post("/mark_stream_as_read", { stream_id: id });
  t.strictSame(await unreadOf(client, id), []);
});

t.test("[M2] no row is left of a deleted notice", async (t) => {
  const id = await owner.createChannel("gone", [owner]);
  const first = await owner.say(id, "question", "what?");
  await rename(owner, first, "✔ question");
  const notice = server.realm.view.counter("message");
  t.ok(server.realm.lmdb.has("resolveNotices", notice));
  await rename(owner, first, "question");
  t.notOk(server.realm.lmdb.has("resolveNotices", notice), "deleted by unresolving at once");
});

t.test("[S3] resolve_notice_readers_max: beyond so many readers the notice is unread for everybody", async (t) => {
  const max = limits.resolve_notice_readers_max;
  const always = await person("always");
  const follower = await person("except_followed");
  const id = await owner.createChannel("many", [owner, always, follower]);
  // Former users whose rows remain, and the owner, who follows the topic by starting it.
  const strangers = await server.users("outsider", 1);
  const ids = Array.from({ length: max - 2 }, (_, index) => 100_000 + index).concat(strangers);
  server.writeMany(
    "topicPolicies",
    ids.map((userId) => [[id, "question", userId], { visibilityPolicy: followed }] as const),
  );
  const read = (client: Client) => unreadOf(client, id).then((unread) => unread.length === 0);
  const resolve = async () => {
    const first = await owner.say(id, "question", "what?");
    await always.post("/mark_stream_as_read", { stream_id: id });
    await follower.post("/mark_stream_as_read", { stream_id: id });
    await rename(owner, first, "✔ question");
    const seen = [await read(always), await read(follower)];
    await rename(owner, first, "other");
    return seen;
  };
  t.strictSame(await resolve(), [true, true]);
  server.writeMany(
    "topicPolicies",
    [...ids, 200_000].map((userId) => [[id, "question", userId], { visibilityPolicy: followed }] as const),
  );
  t.strictSame(await resolve(), [false, false], "one follows more");
});
