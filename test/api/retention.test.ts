/**
 * Message retention (spec 2.4 message_retention_days; public API, message retention policy): which messages are
 * deleted, when, and the events. Slices and crashes are tested in test/runtime/retention.test.ts.
 */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { TableName } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, outcome, refusal } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { dayMs, hourMs, keepFor, keepInChannelFor, pass } from "../support/retention.ts";
import { rowsOf } from "../support/runtime.ts";
import type { TestServer } from "../support/server.ts";

const wanted = {
  event_types: ["message", "delete_message", "stream"],
  client_capabilities: { bulk_message_deletion: true },
  queue_lifespan_secs: 604_800,
};

async function stage(t: Test) {
  const { server, clock } = await startClockedServer(t);
  const [member, other] = [await server.user("member"), await server.user("other")];
  const after = (milliseconds: number) => pass(server, clock, milliseconds);
  return { server, clock, owner: server.owner, member, other, after };
}

async function direct(from: Client, to: Client, content: string): Promise<number> {
  return (await from.post("/messages", { type: "direct", to: [to.userId], content })).body.id;
}

/** Those of the messages that the reader can fetch by id. */
async function left(reader: Client, ids: readonly number[]): Promise<number[]> {
  const found = [];
  for (const id of ids) {
    const answer = await reader.get(`/messages/${id}`);
    if (answer.status === 200) found.push(id);
    else t.strictSame(outcome(answer), refusal("Invalid message(s)"));
  }
  return found;
}

/** Row counts of the message tables. A deleted message must leave no row. */
function counts(server: TestServer): Partial<Record<TableName, number>> {
  const tables = [
    "messages",
    "conversationMessages",
    "channelMessages",
    "conversations",
    "topicNames",
    "directNames",
    "directConversations",
  ] as const;
  return Object.fromEntries(tables.map((table) => [table, server.realm.lmdb.count(table)]));
}

t.test("[spec 2.4] a message older than the channel's days is deleted, with up to an hour's delay", async (t) => {
  const { owner, after, clock } = await stage(t);
  const id = await owner.createChannel("short-lived", [owner], { message_retention_days: 1 });
  const first = await owner.say(id, "t", "at the beginning");
  await after(hourMs - 1);
  const second = await owner.say(id, "t", "a moment before the hour");
  clock.advance(1);
  const third = await owner.say(id, "t", "at the hour");
  await after(dayMs - hourMs);
  t.strictSame(await left(owner, [first, second, third]), [first, second, third], "exactly one day is not older");
  await after(hourMs);
  t.strictSame(await left(owner, [first, second, third]), [third], "the third is one day old to the millisecond");
  await after(hourMs);
  t.strictSame(await left(owner, [first, second, third]), [], "an hour late at most");
});

t.test("[spec 2.4] a channel has its own days, none, or the organization's, as direct messages have", async (t) => {
  const { server, owner, member, other, after, clock } = await stage(t);
  const inherits = await owner.createChannel("inherits", [owner, member]);
  const forever = await owner.createChannel("for ever", [owner, member], { message_retention_days: "unlimited" });
  const longer = await owner.createChannel("longer", [owner, member], { message_retention_days: 4 });
  const archived = await owner.createChannel("archived", [owner, member]);
  keepFor(server, 2);
  const say = (id: number) => member.say(id, "t", "x");
  const ids = [await say(inherits), await direct(member, owner, "x"), await say(archived)];
  const kept = [await say(longer), await say(forever)];
  const own = await direct(other, other, "to oneself");
  const channel = server.realm.view.channels.get(archived);
  if (channel === undefined) throw new Error("no channel");
  keepInChannelFor(server, archived, null);
  await after(2 * dayMs);
  t.strictSame(await left(owner, [...ids, ...kept]), [...ids, ...kept]);
  t.strictSame(await left(other, [own]), [own]);
  await after(hourMs);
  t.strictSame(await left(owner, [...ids, ...kept]), kept);
  t.strictSame(await left(other, [own]), []);
  await after(2 * dayMs);
  t.strictSame(await left(owner, kept), kept.slice(1));
  t.strictSame(counts(server), {
    messages: 1,
    conversationMessages: 1,
    channelMessages: 1,
    conversations: 1,
    topicNames: 1,
    directNames: 0,
    directConversations: 0,
  });
  clock.jump(300 * dayMs);
  await after(hourMs);
  t.strictSame(await left(owner, kept), kept.slice(1), "unlimited means forever");
});

t.test("[behaviour 4.4] only users who could see a message receive its deletion", async (t) => {
  const { server, owner, member, other, after } = await stage(t);
  const id = await owner.createChannel("secret", [owner, member], { invite_only: true, message_retention_days: 1 });
  keepFor(server, 1);
  const gone = [await member.say(id, "One", "a"), await member.say(id, "one", "b")];
  const elsewhere = await member.say(id, "two", "c");
  const whispered = await direct(member, owner, "psst");
  await after(2 * hourMs);
  const stays = await member.say(id, "One", "d");
  const people = [owner, member, other];
  const followers = await Promise.all(people.map((client) => client.follow(wanted)));
  await after(dayMs - hourMs);
  for (const follower of followers) await follower.settled();
  const channel = { type: "delete_message", message_type: "stream", stream_id: id };
  const update = {
    type: "stream",
    op: "update",
    property: "first_message_id",
    value: stays,
    stream_id: id,
    name: "secret",
  };
  const own = { type: "delete_message", message_type: "private", message_ids: [whispered] };
  for (const follower of followers.slice(0, 2)) {
    t.strictSame(follower.ofType("delete_message"), [
      own,
      { ...channel, topic: "One", message_ids: gone },
      { ...channel, topic: "two", message_ids: [elsewhere] },
    ]);
    t.strictSame(follower.ofType("stream"), [update]);
  }
  t.strictSame(followers[2]?.events, []);
  t.match(await member.channel(id), { first_message_id: stays });
  const state: Event = await owner.register({ fetch_event_types: ["recent_private_conversations"] });
  const found = state.recent_private_conversations.filter((one: Event) => one.user_ids.includes(member.userId));
  t.strictSame(found, []);
});

t.test("[M8] many messages are deleted in batches, oldest first, and the rest of their topics is kept", async (t) => {
  const { server, owner, member, after, clock } = await stage(t);
  const id = await owner.createChannel("busy", [owner, member], { message_retention_days: 3 });
  const say = (index: number) => member.say(id, `t${index % 3}`, `number ${index}`);
  const count = 2 * limits.retention_messages_per_command + 30;
  const old = (await Promise.all(Array.from({ length: count }, (_, index) => say(index)))).sort((a, b) => a - b);
  clock.stride(2 * hourMs);
  const young = (await Promise.all(Array.from({ length: 20 }, (_, index) => say(index)))).sort((a, b) => a - b);
  const follower = await owner.follow(wanted);
  await after(3 * dayMs - hourMs);
  await follower.settled();
  const events = follower.ofType("delete_message");
  t.ok(events.every((event) => event.message_ids.length <= limits.retention_messages_per_command));
  const found = events.flatMap((event) => event.message_ids).sort((a, b) => a - b);
  t.strictSame(found, old);
  const narrow = [{ operator: "channel", operand: id }];
  const { body } = await owner.get("/messages", { anchor: "newest", num_before: 5000, num_after: 0, narrow });
  const ids = body.messages.map((message: Event) => message.id);
  t.strictSame(ids, young);
  t.match(await owner.channel(id), { first_message_id: young[0] });
  t.strictSame(rowsOf(server.realm.lmdb, "conversations").length, 4, "three topics and the fence message to oneself");
});

t.test("[D112] a limit that is lowered, raised, removed or set applies from then on", async (t) => {
  const { server, owner, after, clock } = await stage(t);
  const id = await owner.createChannel("changing", [owner]);
  const idle = () => server.realm.dispatcher.idle();
  const first = await owner.say(id, "t", "first");
  t.equal(server.realm.lmdb.count("timers"), 0, "without a limit no timer is set");
  await after(2 * dayMs);
  const second = await owner.say(id, "t", "second");
  keepInChannelFor(server, id, 3);
  await idle();
  t.strictSame(await left(owner, [first, second]), [first, second]);
  keepInChannelFor(server, id, -1);
  await idle();
  await after(3 * dayMs);
  t.strictSame(await left(owner, [first, second]), [first, second], "removed in time");
  t.equal(server.realm.lmdb.count("timers"), 0);
  keepFor(server, 1);
  await idle();
  t.strictSame(await left(owner, [first, second]), [first, second], "the channel has its own limit");
  keepInChannelFor(server, id, 4);
  await idle();
  t.strictSame(await left(owner, [first, second]), [second], "at once");
  keepInChannelFor(server, id, null);
  await idle();
  t.strictSame(await left(owner, [second]), []);
  const third = await owner.say(id, "t", "third");
  keepFor(server, -1);
  await idle();
  clock.stride(5 * dayMs);
  await idle();
  t.strictSame(await left(owner, [third]), [third]);
});

t.test("[spec 2.4, S1] a guest no longer sees a user after the last direct message between them went", async (t) => {
  const { server, owner, member, after } = await stage(t);
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const visitor = await server.user("visitor", roles.guest);
  await owner.createChannel("shared", [owner, visitor]);
  keepFor(server, 1);
  await direct(member, visitor, "hello");
  await direct(owner, visitor, "hello");
  t.equal((await visitor.get(`/users/${member.userId}`)).status, 200);
  const follower = await visitor.follow({ ...wanted, event_types: ["message", "realm_user"] });
  await after(dayMs + hourMs);
  await follower.settled();
  t.strictSame(
    follower.ofType("realm_user"),
    [{ type: "realm_user", op: "remove", person: { user_id: member.userId, full_name: "Unknown user" } }],
    "the guest sees the owner in the channel",
  );
  t.equal((await visitor.get(`/users/${member.userId}`)).status, 400);
  t.equal((await visitor.get(`/users/${owner.userId}`)).status, 200);
});

t.test("[behaviour 7] a former subscriber with a copy of the message receives the deletion at once", async (t) => {
  const { owner, member, other, after } = await stage(t);
  const id = await owner.createChannel("left behind", [owner, member], { message_retention_days: 1 });
  const message = await other.say(id, "t", "x");
  await member.delete("/users/me/subscriptions", { subscriptions: ["left behind"] });
  const follower = await member.follow(wanted);
  await after(dayMs + 2 * hourMs);
  // Nothing else happens that could bring it along.
  const event = await follower.until(({ type }) => type === "delete_message");
  t.match(event, { message_ids: [message] });
});
