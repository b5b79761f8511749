/**
 * POST /streams/{stream_id}/delete_topic: permissions, the messages deleted, and repeated requests (spec 4.13, 3 Topic,
 * 7; D24, D29, D30; behaviour 7). Events are in topic-deletion-events.test.ts.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer, type TestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member } = await startServerWithUsers(t, ["administrator", "member"]);
const batch = limits.topic_deletion_batch_messages_busy;

function remove(by: Client, channelId: number | string, topic: string) {
  return by.post(`/streams/${channelId}/delete_topic`, { topic_name: topic });
}

/** Ids of a topic's messages, ascending. */
async function topicIds(by: Client, channelId: number, topic: string): Promise<number[]> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ];
  const { body } = await by.get("/messages", { anchor: "newest", num_before: 5000, num_after: 0, narrow });
  return body.messages.map(({ id }: { id: number }) => id);
}

function fill(by: Client, channelId: number, topic: string, count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => by.say(channelId, topic, `number ${index}`)));
}

function follow(client: Client, channelId: number, topic: string) {
  return client.post("/user_topics", { stream_id: channelId, topic, visibility_policy: 3 });
}

async function policiesIn(client: Client, channelId: number): Promise<number[]> {
  const { user_topics: all } = await client.register({ fetch_event_types: ["user_topic"] });
  const entries = all as { stream_id: number; visibility_policy: number }[];
  return entries.filter((entry) => entry.stream_id === channelId).map((entry) => entry.visibility_policy);
}

const complete = success({ complete: true });
const incomplete = success({ complete: false });
const mustBeAdministrator = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");

t.test("[spec 4.13] all messages of the topic are deleted, others kept, and the answer says complete", async (t) => {
  const id = await owner.createChannel("plain", [owner, member]);
  const [gone] = await fill(member, id, "gone", 3);
  const kept = await fill(member, id, "kept", 2);
  await expects(t, remove(administrator, id, "GONE"), complete, "topic names that differ in case are the same topic");
  t.strictSame(await topicIds(owner, id, "gone"), []);
  t.strictSame(await topicIds(owner, id, "kept"), kept.sort());
  await expects(t, member.get(`/messages/${gone}`), "Invalid message(s)");
  const { body } = await owner.get("/messages", { message_ids: [gone] });
  t.strictSame(body.messages, []);
});

t.test("[spec 7] a user who is not an administrator gets only that error, whatever else is wrong", async (t) => {
  const id = await member.createChannel("guarded", [member]);
  await member.say(id, "t", "x");
  for (const by of [member, await server.user("moderator", roles.moderator), await server.user("guest", roles.guest)]) {
    await expects(t, remove(by, id, "t"), mustBeAdministrator);
    await expects(t, remove(by, 99_999, "t"), mustBeAdministrator, "no such channel");
    await expects(t, by.post(`/streams/${id}/delete_topic`), mustBeAdministrator, "no topic_name");
  }
  t.equal((await topicIds(owner, id, "t")).length, 1);
  t.match(await remove(owner.anonymous(), id, "t"), { status: 401 });
});

t.test("a user who lost the administrator role after sending the request is rejected in the turn", async (t) => {
  const { dispatcher, view } = server.realm;
  const to = { actor: "topic-deletion", channelId: 1, topic: "t" } as const;
  const request = command(to, "topic-deletion.request", { deadline: view.now }, member.userId);
  t.match(await dispatcher.ask(request), { kind: "refused", code: "UNAUTHORIZED_PRINCIPAL" });
});

t.test("[D24, behaviour 7] unknown, archived and inaccessible channels are an Invalid channel ID", async (t) => {
  const sealed = await member.createChannel("sealed", [member], { invite_only: true });
  await member.say(sealed, "t", "x");
  const archived = await owner.createChannel("archived", [owner]);
  await owner.say(archived, "t", "x");
  const channel = server.realm.view.channels.get(archived);
  if (channel !== undefined) server.write("channels", archived, { ...channel, isArchived: true });
  for (const id of [99_999, sealed, archived]) {
    await expects(t, remove(owner, id, "t"), "Invalid channel ID", String(id));
  }
  t.equal((await topicIds(member, sealed, "t")).length, 1);
  t.equal((await remove(owner, "abc", "t")).status, 404);
});

t.test("[D30] an administrator in a private channel deletes messages from before subscribing, too", async (t) => {
  const id = await member.createChannel("protected", [member], { invite_only: true });
  await fill(member, id, "t", 2);
  await member.post("/users/me/subscriptions", {
    subscriptions: [{ name: "protected" }],
    principals: [administrator.userId],
  });
  await member.say(id, "t", "x");
  t.equal((await topicIds(administrator, id, "t")).length, 1, "protected history");
  await expects(t, remove(administrator, id, "t"), complete);
  t.strictSame(await topicIds(member, id, "t"), []);
});

t.test("[spec 4.13] topic_name is required, and deleting an unknown topic is complete at once", async (t) => {
  await expects(
    t,
    owner.post("/streams/1/delete_topic"),
    refusal("Missing 'topic_name' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "topic_name" }),
  );
  await expects(t, remove(owner, 1, "never written"), complete);
  await expects(t, remove(owner, 1, "x".repeat(60_000)), complete, "however long its name");
});

t.test("[spec 4.13] the display name of the empty topic means the empty topic", async (t) => {
  for (const topic of ["general chat", ""]) {
    const id = await owner.createChannel(`empty by ${topic}`, [owner]);
    await owner.say(id, "", "x");
    await owner.say(id, "named", "x");
    await expects(t, remove(owner, id, topic), complete);
    t.strictSame(await topicIds(owner, id, ""), []);
    t.equal((await topicIds(owner, id, "named")).length, 1);
  }
});

t.test("[spec 4.13] only the organization's own display name counts; any other is an ordinary topic", async (t) => {
  const id = await owner.createChannel("renamed empty", [owner]);
  server.setRealm({ empty_topic_display_name: "chatter" });
  await owner.say(id, "", "x");
  await owner.say(id, "general chat", "x");
  await expects(t, remove(owner, id, "general chat"), complete);
  t.strictSame([(await topicIds(owner, id, "general chat")).length, (await topicIds(owner, id, "")).length], [0, 1]);
  await expects(t, remove(owner, id, "chatter"), complete);
  t.equal((await topicIds(owner, id, "")).length, 0);
  server.setRealm({ empty_topic_display_name: "general chat" });
});

t.test("[spec 3] after the deletion the topic can start again, with a new spelling and new ids", async (t) => {
  const id = await owner.createChannel("phoenix", [owner]);
  const old = await fill(owner, id, "Ashes", 2);
  await remove(owner, id, "ashes");
  t.equal((await owner.channel(id)).first_message_id, null);
  const fresh = await owner.say(id, "ASHES", "x");
  t.ok(fresh > Math.max(...old), "no id is used twice");
  t.strictSame(await topicIds(owner, id, "ashes"), [fresh]);
  t.equal((await owner.get(`/messages/${fresh}`)).body.message.subject, "ASHES");
  t.equal((await owner.channel(id)).first_message_id, fresh);
});

t.test("[spec 3] a request that times out has deleted the newest, complete: false; a repeat continues", async (t) => {
  const hasty = await startTestServer(t, { environment: { TOPIC_DELETION_TIMEOUT_MS: "0" } });
  const by = hasty.owner;
  const ids = (await fill(by, 1, "long", 2 * batch + 5)).sort((a, b) => a - b);
  const other = await by.say(1, "other", "x");
  await expects(t, remove(by, 1, "long"), incomplete);
  t.strictSame(await topicIds(by, 1, "long"), ids.slice(0, batch + 5), "the oldest are left");
  t.equal((await by.channel(1)).first_message_id, ids[0]);
  await expects(t, remove(by, 1, "long"), incomplete);
  t.strictSame(await topicIds(by, 1, "long"), ids.slice(0, 5));
  await expects(t, remove(by, 1, "long"), complete);
  t.strictSame(await topicIds(by, 1, "long"), []);
  t.equal((await by.channel(1)).first_message_id, other);
  await expects(t, remove(by, 1, "long"), complete);
});

t.test("[spec 3] exactly one batch is complete at once; one more message needs another batch", async (t) => {
  const hasty = await startTestServer(t, { environment: { TOPIC_DELETION_TIMEOUT_MS: "0" } });
  await fill(hasty.owner, 1, "one", batch);
  await expects(t, remove(hasty.owner, 1, "one"), complete);
  await fill(hasty.owner, 1, "more", batch + 1);
  await expects(t, remove(hasty.owner, 1, "more"), incomplete);
  t.equal((await topicIds(hasty.owner, 1, "more")).length, 1);
});

t.test("[D29] a deletion covers the messages at its arrival; a later post is kept and keeps the topic", async (t) => {
  const id = await owner.createChannel("busy", [owner]);
  await fill(owner, id, "t", 2 * batch + 1);
  await follow(member, id, "t");
  const order = await raceDeletionAndPost(server, id, "t");
  t.strictSame(order, ["post", "deletion"], "the post was processed between the batches");
  const left = await topicIds(owner, id, "t");
  t.equal(left.length, 1);
  const { body } = await owner.get(`/messages/${left[0]}`);
  t.equal(body.raw_content, "meanwhile");
  t.equal((await owner.channel(id)).first_message_id, left[0]);
  t.strictSame(await policiesIn(member, id), [3], "the users' policies for the topic are kept, too");
});

t.test("a deletion that an older version left unfinished is continued", async (t) => {
  const id = await owner.createChannel("older", [owner]);
  const ids = await fill(owner, id, "t", 2);
  await follow(owner, id, "t");
  const [named] = server.realm.view.rows("topicNames", { start: [id], end: [id + 1], limit: 1 });
  const deletion = { conversationId: named?.row.id ?? 0, highWaterId: Math.max(...ids), actingUserId: owner.userId };
  const context = { ...deletion, waiters: [], boot: 0 };
  server.write("snapshots", `topic-deletion:${id}:t`, { version: 1, state: "parked", context });
  await expects(t, remove(owner, id, "t"), complete);
  t.strictSame(await topicIds(owner, id, "t"), []);
  t.strictSame(await policiesIn(owner, id), []);
});

/** Sends both commands in one tick, in this order. @returns which was answered first */
async function raceDeletionAndPost({ owner }: TestServer, channelId: number, topic: string): Promise<string[]> {
  const { dispatcher, view } = server.realm;
  const order: string[] = [];
  const deletion = dispatcher.ask(
    command(
      { actor: "topic-deletion", channelId, topic },
      "topic-deletion.request",
      { deadline: view.now + 60_000 },
      owner.userId,
    ),
  );
  const content = "meanwhile";
  const post = dispatcher.ask(
    command(
      { actor: "topic", channelId, topic },
      "message.post",
      {
        content,
        parsed: parseContent(content, { linkifiers: [], translateEmoticons: false }),
        client: "test",
        queueId: null,
        localId: null,
        isReadBySender: true,
      },
      owner.userId,
    ),
  );
  await Promise.all([deletion.then(() => order.push("deletion")), post.then(() => order.push("post"))]);
  return order;
}

t.test("a caller that disconnects does not stop a deletion before its deadline", async (t) => {
  const id = await owner.createChannel("hung up", [owner]);
  await fill(owner, id, "t", 2 * batch + 1);
  const { dispatcher, view } = server.realm;
  const [named] = view.rows("topicNames", { start: [id], end: [id + 1], limit: 1 });
  const left = () =>
    view.keys("conversationMessages", { start: [named?.row.id ?? 0], end: [(named?.row.id ?? 0) + 1], limit: 9999 });
  const hangingUp = new AbortController();
  const answer = fetch(`${owner.url}/api/v1/streams/${id}/delete_topic`, {
    method: "POST",
    headers: { Authorization: owner.authorization, "Content-Type": "application/x-www-form-urlencoded" },
    body: "topic_name=t",
    signal: hangingUp.signal,
  });
  while (left().length === 2 * batch + 1) await new Promise<void>((resolve) => setImmediate(resolve));
  hangingUp.abort();
  await t.rejects(answer, { name: "AbortError" });
  while (left().length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
  await dispatcher.idle();
  t.strictSame(await topicIds(owner, id, "t"), []);
  t.equal((await owner.channel(id)).first_message_id, null);
});

t.test("[spec 4.13] two concurrent deletions, of one topic or of two, are both complete", async (t) => {
  const id = await owner.createChannel("twice", [owner]);
  await fill(owner, id, "one", batch + 20);
  await fill(owner, id, "two", batch + 20);
  const kept = await owner.say(id, "three", "x");
  const answers = await Promise.all([
    remove(owner, id, "one"),
    remove(administrator, id, "one"),
    remove(administrator, id, "two"),
  ]);
  for (const answer of answers) t.strictSame(outcome(answer), complete);
  for (const topic of ["one", "two"]) t.strictSame(await topicIds(owner, id, topic), []);
  t.equal((await owner.channel(id)).first_message_id, kept);
});

t.test("[S3] topic_deletion_waiters_max: one more request waiting for a deletion is rejected", async (t) => {
  const id = await owner.createChannel("queued", [owner]);
  await owner.say(id, "t", "x");
  const { dispatcher, view } = server.realm;
  const ask = () =>
    dispatcher.ask(
      command(
        { actor: "topic-deletion", channelId: id, topic: "t" },
        "topic-deletion.request",
        { deadline: view.now + 60_000 },
        owner.userId,
      ),
    );
  const max = limits.topic_deletion_waiters_max;
  const results = await Promise.all(Array.from({ length: max + 1 }, ask));
  t.ok(results.slice(0, max).every((result) => result.kind === "ok" && result.answer.complete === true));
  t.match(results[max], { kind: "refused", code: "OVERLOADED" });
});
