/**
 * State before plus events equals a fresh fetch (architecture, Event log) for every type and op that the mirror
 * follows: scenarios in which each of them occurs, watched live and replayed. Each event must be as schemas/events.ts
 * says, and every type and op that is declared there must occur.
 */
import t from "tap";
import { makeBot } from "../support/bots.ts";
import type { Params } from "../support/client.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { type Fixture, watch } from "../support/watch.ts";
import { kindsOf } from "../support/wire-events.ts";

const received = new Set<string>();

async function must(answer: Promise<{ status: number; body: Params }>): Promise<Params> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

async function messages({ owner, member, other }: Fixture): Promise<void> {
  const [kept, gone] = [await other.say("before", "ops", "kept"), await other.say("before", "ops", "gone")];
  for (const [op, flag] of [
    ["add", "starred"],
    ["remove", "starred"],
    ["add", "read"],
    ["remove", "read"],
  ]) {
    await must(member.post("/messages/flags", { messages: [kept], op, flag }));
  }
  await must(other.patch(`/messages/${kept}`, { content: "changed" }));
  await must(owner.delete(`/messages/${gone}`));
}

async function channels({ owner, member, other }: Fixture): Promise<void> {
  const id = await owner.createChannel("made", [owner, member, other]);
  await must(owner.patch(`/streams/${id}`, { description: "changed" }));
  const change = { stream_id: id, property: "color", value: "#123abc" };
  await must(member.post("/users/me/subscriptions/properties", { subscription_data: [change] }));
  await must(owner.post("/default_streams", { stream_id: id }));
  await must(member.post("/user_topics", { stream_id: id, topic: "followed", visibility_policy: 3 }));
  for (const principal of [other, member]) {
    await must(owner.delete("/users/me/subscriptions", { subscriptions: ["made"], principals: [principal.userId] }));
  }
  await must(owner.delete(`/streams/${id}`));
}

async function groups({ owner, member, other }: Fixture): Promise<void> {
  const create = async (name: string) =>
    (await must(owner.post("/user_groups/create", { name, description: "", members: [owner.userId] })))["group_id"];
  const [outer, within] = [await create("outer"), await create("within")];
  await must(owner.post(`/user_groups/${outer}/members`, { add: [member.userId, other.userId] }));
  await must(owner.post(`/user_groups/${outer}/members`, { delete: [other.userId] }));
  await must(owner.post(`/user_groups/${outer}/subgroups`, { add: [within] }));
  await must(owner.post(`/user_groups/${outer}/subgroups`, { delete: [within] }));
  await must(owner.patch(`/user_groups/${outer}`, { description: "changed" }));
  await must(owner.post(`/user_groups/${within}/deactivate`));
}

async function people({ server, owner, member, other }: Fixture): Promise<void> {
  await server.users("newcomer", 1);
  await must(owner.patch(`/users/${other.userId}`, { full_name: "Another name" }));
  const { bot } = await makeBot(member, "carrier");
  await must(member.patch(`/bots/${bot.userId}`, { full_name: "Carrier of another name" }));
  await must(owner.patch(`/bots/${bot.userId}`, { bot_owner_id: other.userId }));
  await must(owner.post("/realm/profile_fields", { name: "Pronouns", field_type: 1 }));
  await must(other.post("/users/me/presence", { status: "active" }));
}

async function settings({ owner, member }: Fixture): Promise<void> {
  await must(member.patch("/settings", { enter_sends: true }));
  await must(owner.patch("/realm/user_settings_defaults", { enter_sends: true }));
  await must(owner.patch("/realm", { description: "changed" }));
}

async function scheduled({ clock, member, other }: Fixture): Promise<void> {
  const later = { scheduled_delivery_timestamp: Math.floor(clock.now() / 1000) + 86_400 };
  const draft = { type: "direct", to: [other.userId], content: "x", ...later };
  const { scheduled_message_id: id } = await must(member.post("/scheduled_messages", draft));
  await must(member.patch(`/scheduled_messages/${id}`, { content: "y" }));
  await must(member.delete(`/scheduled_messages/${id}`));
  const message_id = await other.say("before", "ops", "remember");
  const { reminder_id: reminder } = await must(member.post("/reminders", { message_id, note: "", ...later }));
  await must(member.delete(`/reminders/${reminder}`));
}

const plays = { messages, channels, groups, people, settings, scheduled };

for (const [name, play] of Object.entries(plays)) {
  t.test(`state plus events equals a fresh fetch: ${name}`, async (t) => {
    for (const event of await watch(t, play)) received.add(event);
  });
}

t.test("state plus events equals a fresh fetch for a guest who can no longer see a user", async (t) => {
  const isGuest = async ({ server, owner, member }: Fixture) => {
    // New users are subscribed to it as well.
    await must(member.delete("/users/me/subscriptions", { subscriptions: ["general"] }));
    await must(owner.patch(`/users/${member.userId}`, { role: 600 }));
    server.setRealm({ can_access_all_users_group: server.group("role:members") });
  };
  const part = async ({ server, owner }: Fixture) => {
    const met = { subscriptions: [{ name: "before" }], principals: await server.users("passer-by", 1) };
    await must(owner.post("/users/me/subscriptions", met));
    await must(owner.delete("/users/me/subscriptions", { ...met, subscriptions: ["before"] }));
  };
  for (const event of await watch(t, part, isGuest)) received.add(event);
});

t.test("the scenarios emit every type and op that is followed", async (t) => {
  // Deactivating the realm ends every queue (test/api/realm-deactivation).
  const expected = kindsOf(mirroredTypes).filter((kind) => kind !== "realm deactivated");
  const found = expected.filter((event) => !received.has(event));
  t.strictSame(found, []);
  const seen = [...received].filter((event) => !expected.includes(event));
  t.strictSame(seen, [], "and no other");
});
