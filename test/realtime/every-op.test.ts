/**
 * State before + events = fresh fetch (architecture, Event log) for every type and op that the mirror follows: plays in which each
 * of them occurs, watched live and repeated; and a look at the sources, so that a new op is listed here before it is sent.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeBot } from "../support/bots.ts";
import type { Params } from "../support/client.ts";
import { createChannel, crowd, setRealmSettings, systemGroup } from "../support/conversation.ts";
import { checkout } from "../support/process.ts";
import { type Stage, watch } from "../support/watch.ts";

/** By type; "": the type has no op. */
const ops: Readonly<Record<string, readonly string[]>> = {
  message: [""],
  update_message: [""],
  delete_message: [""],
  update_message_flags: ["add", "remove"],
  stream: ["create", "delete", "update"],
  subscription: ["add", "peer_add", "peer_remove", "remove", "update"],
  default_streams: [""],
  user_topic: [""],
  user_group: ["add", "add_members", "add_subgroups", "remove", "remove_members", "remove_subgroups", "update"],
  realm_user: ["add", "remove", "update"],
  realm_bot: ["add", "delete", "update"],
  custom_profile_fields: [""],
  presence: [""],
  user_settings: ["update"],
  realm_user_settings_defaults: ["update"],
  realm: ["update_dict"],
  scheduled_messages: ["add", "remove", "update"],
  reminders: ["add", "remove"],
};

/** Words that rows of the log have for what clients know under another one (realtime/realm-user-events.ts). */
const inner = ["addresses", "appear", "update_address", "update_avatar", "update_timezone", "vanish"];
/** Ops of the types that every-type.test.ts follows or calls stateless, beyond those above. */
const elsewhere = ["change", "deactivated", "reorder", "start", "stop"];

const told = new Set<string>();

async function must(answer: Promise<{ status: number; body: Params }>): Promise<Params> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

async function messages({ owner, member, other }: Stage): Promise<void> {
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

async function channels({ owner, member, other }: Stage): Promise<void> {
  const id = await createChannel(owner, "made", [owner, member, other]);
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

async function groups({ owner, member, other }: Stage): Promise<void> {
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

async function people({ server, owner, member, other }: Stage): Promise<void> {
  await crowd(server, "newcomer", 1);
  await must(owner.patch(`/users/${other.userId}`, { full_name: "Another name" }));
  const { bot } = await makeBot(member, "carrier");
  await must(member.patch(`/bots/${bot.userId}`, { full_name: "Carrier of another name" }));
  await must(owner.patch(`/bots/${bot.userId}`, { bot_owner_id: other.userId }));
  await must(owner.post("/realm/profile_fields", { name: "Pronouns", field_type: 1 }));
  await must(other.post("/users/me/presence", { status: "active" }));
}

async function settings({ owner, member }: Stage): Promise<void> {
  await must(member.patch("/settings", { enter_sends: true }));
  await must(owner.patch("/realm/user_settings_defaults", { enter_sends: true }));
  await must(owner.patch("/realm", { description: "changed" }));
}

async function scheduled({ clock, member, other }: Stage): Promise<void> {
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
  t.test(`[architecture, Event log] every op: ${name}`, async (t) => {
    for (const event of await watch(t, play)) told.add(event);
  });
}

t.test("[architecture, Event log] every op: whom a guest no longer knows", async (t) => {
  const isGuest = async ({ server, owner, member }: Stage) => {
    // Where newcomers are, too.
    await must(member.delete("/users/me/subscriptions", { subscriptions: ["general"] }));
    await must(owner.patch(`/users/${member.userId}`, { role: 600 }));
    setRealmSettings(server, { can_access_all_users_group: systemGroup(server, "role:members") });
  };
  const part = async ({ server, owner }: Stage) => {
    const met = { subscriptions: [{ name: "before" }], principals: await crowd(server, "passer-by", 1) };
    await must(owner.post("/users/me/subscriptions", met));
    await must(owner.delete("/users/me/subscriptions", { ...met, subscriptions: ["before"] }));
  };
  for (const event of await watch(t, part, isGuest)) told.add(event);
});

t.test("[architecture, Event log] each type and op that is followed was told in one of these plays", (t) => {
  const expected = Object.entries(ops).flatMap(([type, all]) => all.map((op) => `${type} ${op}`.trim()));
  t.strictSame(
    expected.filter((event) => !told.has(event)),
    [],
  );
  t.strictSame(
    [...told].filter((event) => !expected.includes(event)),
    [],
    "and no other",
  );
  t.end();
});

/** Every word that stands for an op in what decides and in what builds events. */
function opsOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...readFileSync(join(folder, file), "utf8").matchAll(/\bop: ("\w+"(?: \| "\w+")*)/g)])
    .flatMap(([, words = ""]) => [...words.matchAll(/\w+/g)].map(([word]) => word));
}

t.test("[architecture, Event log] a new op is listed here", (t) => {
  const known = new Set([...Object.values(ops).flat(), ...inner, ...elsewhere]);
  const used = new Set([...opsOf(join(checkout, "actors")), ...opsOf(join(checkout, "src/realtime"))]);
  t.ok(used.size > 15, `${used.size} ops`);
  t.strictSame(
    [...used].filter((op) => !known.has(op)),
    [],
  );
  t.end();
});
