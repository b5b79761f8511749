/**
 * Everything that an organization has is there after a restart (M1): what every area keeps, read by its operations and
 * in the state of /register, by two people and a bot.
 */
import t from "tap";
import { areaCases } from "../areas/index.ts";
import { must } from "../areas/make.ts";
import { makeBot } from "../support/bots.ts";
import type { Client, Event, Params } from "../support/client.ts";
import { createGroup, people } from "../support/groups.ts";
import { listsSnapshot } from "../support/mirror-lists.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";
import { settingsOf } from "../support/settings.ts";

const later = 4_102_444_800;
const range = { anchor: "oldest", num_before: 0, num_after: 1000 };

const reads: readonly (readonly [path: string, params?: object])[] = [
  ["/messages", { ...range, apply_markdown: false }],
  ["/users", { include_custom_profile_fields: true }],
  ["/user_groups", { include_deactivated_groups: true }],
  ["/streams", { include_all: true, exclude_archived: false }],
  ["/users/me/subscriptions"],
  ["/channel_folders", { include_archived: true }],
  ["/bots"],
  ["/attachments"],
  ["/invites"],
];

/** Parts of the state that are of a queue or of a start. */
const ofQueues = ["queue_id", "last_event_id", "server_timestamp", "server_generation", "event_queue_longpoll_timeout"];

async function seenBy(client: Client): Promise<Record<string, Event>> {
  const state: Record<string, Event> = await client.register({
    client_capabilities: { archived_channels: true, linkifier_url_template: true },
  });
  for (const name of ofQueues) delete state[name];
  const seen: Record<string, Event> = { state };
  for (const [path, params = {}] of reads) seen[path] = (await client.get(path, { ...params })).body;
  // Each start listens on another port.
  return JSON.parse(JSON.stringify(seen).replaceAll(client.url, ""));
}

const defaults = { web_home_view: "recent_topics", enable_digest_emails: false };

/** Makes a record and deletes it. @returns its id */
async function removed(by: Client, path: string, params: Params, idOf: (body: Event) => number): Promise<number> {
  const id = idOf(await must(by.post(path, params)));
  await must(by.delete(`${path}/${id}`));
  return id;
}

/** Changes of each kind, for what no area's lists have. */
async function change(owner: Client, other: Client): Promise<void> {
  const named = { direct_members: [owner.userId], direct_subgroups: [3] };
  const [one, two] = [await owner.createChannel("one", [owner, other]), await owner.createChannel("two", [owner])];
  await must(owner.patch(`/streams/${one}`, { new_name: "first", can_send_message_group: { new: named } }));
  await must(owner.delete(`/streams/${two}`));
  await must(owner.patch(`/streams/${two}`, { is_archived: false }));
  const archived = await owner.createChannel("archived", [owner]);
  await must(owner.patch(`/streams/${archived}`, { is_private: true }));
  await must(owner.delete(`/streams/${archived}`));
  await must(owner.post("/default_streams", { stream_id: one }));
  const color = { stream_id: one, property: "color", value: "#0000ff" };
  const muted = { stream_id: one, property: "is_muted", value: true };
  await must(other.post("/users/me/subscriptions/properties", { subscription_data: [color, muted] }));
  const id = await owner.say(one, "lunch", "soup");
  await must(other.post("/messages/flags", { messages: [id], op: "add", flag: "starred" }));
  for (const [topic, policy] of Object.entries({ lunch: [3], dinner: [1, 0] })) {
    for (const visibility_policy of policy) {
      await must(other.post("/user_topics", { stream_id: one, topic, visibility_policy }));
    }
  }
  await must(owner.patch(`/users/${other.userId}`, { full_name: "Kept", role: 300 }));
  await must(other.patch("/settings", { twenty_four_hour_time: true }));
  await must(owner.patch("/realm/user_settings_defaults", defaults));
  await must(owner.patch("/realm", { name: "Kept", message_retention_days: 30, can_create_groups: { new: named } }));
  await createGroup(owner, "kept", [other], { subgroups: [3], can_join_group: people(other) });
  await must(owner.post(`/user_groups/${await createGroup(owner, "idle")}/deactivate`));
  const { id: field } = await must(owner.post("/realm/profile_fields", { name: "A", field_type: 1 }));
  const colours = { green: { text: "Green", order: "1" } };
  await must(owner.post("/realm/profile_fields", { name: "B", field_type: 3, field_data: colours }));
  const { custom_fields: fields } = await must(owner.get("/realm/profile_fields"));
  await must(owner.patch("/realm/profile_fields", { order: fields.map(({ id }: { id: number }) => id).reverse() }));
  await must(owner.patch("/users/me/profile_data", { data: [{ id: field, value: "**a**" }] }));
  await must(owner.post("/users/me/alert_words", { alert_words: ["Ünïcode 🙂"] }));
  await must(owner.post("/invites/multiuse", { invite_as: 400, stream_ids: [one] }));
  const due = { scheduled_delivery_timestamp: later };
  await must(other.post("/scheduled_messages", { type: "channel", to: two, topic: "t", content: "x", ...due }));
  await must(other.post("/reminders", { message_id: id, note: "a", ...due }));
}

const draft = { type: "private", to: [], topic: "", content: "x", timestamp: 1_700_000_000 };
const removals: readonly [string, Params, (body: Event) => number][] = [
  ["/drafts", { drafts: [draft] }, ({ ids }: Event) => ids[0]],
  ["/saved_snippets", { title: "x", content: "x" }, ({ saved_snippet_id: id }: Event) => id],
];

t.test("[M1] people and bots read the same after a restart, in an organization that has everything", async (t) => {
  const before = await startTestServer(t);
  const { owner } = before;
  const other = await before.user("other");
  const empty = await seenBy(owner);
  for (const { lists, owned = {}, shared = {} } of areaCases) {
    await lists?.play(owner, other);
    for (const make of Object.values(owned)) for (const client of [owner, other]) await make(client);
    for (const make of Object.values(shared)) await make(owner);
  }
  await change(owner, other);
  const hook = { bot_type: 3, payload_url: '"https://example.com"', default_sending_stream: "general" };
  const { bot } = await makeBot(owner, "lasting", hook);
  await must(bot.put("/bot_storage", { storage: { state: "kept", other: "gone" } }));
  await must(bot.delete("/bot_storage", { keys: ["other"] }));
  const gone: number[] = [];
  for (const removal of removals) gone.push(await removed(owner, ...removal));
  const known = [await seenBy(owner), await seenBy(other)];
  for (const [name, value] of Object.entries(known[0] ?? {})) t.notSame(value, empty[name], `${name} has something`);
  for (const [name, list] of Object.entries(listsSnapshot(known[0]?.["state"]))) {
    t.ok(Object.keys(list as object).length > 0, `${name} has something`);
  }
  const { server: after, as } = await restart(t, before);
  const again = [await seenBy(as(owner)), await seenBy(as(other))];
  for (const [index, seen] of known.entries()) {
    for (const [name, value] of Object.entries(seen)) t.strictSame(again[index]?.[name], value, `${index}: ${name}`);
  }
  t.strictSame((await as(bot).get("/bot_storage")).body.storage, { state: "kept" });
  for (const [index, removal] of removals.entries()) {
    t.ok((await removed(as(owner), ...removal)) > (gone[index] ?? 0), `${removal[0]}: no id is used twice`);
  }
  t.match(await settingsOf(await after.user("newcomer")), defaults, "defaults apply to later users");
});
