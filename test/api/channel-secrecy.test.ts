/**
 * [D24, S1] Operations on a channel that the caller may not see return exactly the answer for an unknown channel.
 * Covers every operation that takes a channel's id or name, byte by byte, for members and guests.
 */
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import type { Answer, Client, Params } from "../support/client.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, moderator, guest, administrator } = await startServerWithUsers(t, everyRole);
server.setRealm({ enable_spectator_access: true });

const hiddenName = "hidden one";
const hiddenId = await owner.createChannel(hiddenName, [owner], { invite_only: true });
const archivedName = "hidden and archived";
const archivedId = await owner.createChannel(archivedName, [owner], { invite_only: true });
await owner.say(hiddenId, "topic", "secret");
await owner.delete(`/streams/${archivedId}`);
const leftName = "one they left";
const leftId = await owner.createChannel("known by this", [owner, member, moderator, guest], { invite_only: true });
await owner.say(leftId, "topic", "secret");
await owner.delete("/users/me/subscriptions", {
  subscriptions: ["known by this"],
  principals: [member.userId, moderator.userId, guest.userId],
});
await owner.patch(`/streams/${leftId}`, { new_name: leftName });
const openMessage = await moderator.say("general", "topic", "for everybody");
/** As long as the hidden ids, so that not even lengths differ. */
const unknownId = 9;
const unknownName = "absent one";

interface Place {
  readonly id: number;
  readonly name: string;
}

type Request = (client: Client, place: Place) => Promise<Answer>;

const everybody = { direct_members: [owner.userId], direct_subgroups: [] };

/** Every operation that names a channel, by operation id. */
const requests: readonly (readonly [string, Request])[] = [
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, {})],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { description: "x", is_private: false })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { new_name: "general" })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { description: "d".repeat(1025) })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { is_private: "?" })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { message_retention_days: 0, folder_id: 9 })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { is_archived: false })],
  ["update-stream", (client, { id }) => client.patch(`/streams/${id}`, { can_subscribe_group: { new: everybody } })],
  ["archive-stream", (client, { id }) => client.delete(`/streams/${id}`)],
  ["get-stream-by-id", (client, { id }) => client.get(`/streams/${id}`)],
  ["get-stream-id", (client, { name }) => client.get("/get_stream_id", { stream: name })],
  ["delete-topic", (client, { id }) => client.post(`/streams/${id}/delete_topic`, { topic_name: "topic" })],
  ["send-message", (client, { id }) => send(client, id, "x")],
  ["send-message", (client, { name }) => send(client, name, "x")],
  ["get-messages", (client, { id }) => read(client, "channel", id)],
  ["get-messages", (client, { id }) => read(client, "channel", String(id))],
  ["get-messages", (client, { name }) => read(client, "stream", name)],
  ["register-queue", (client, { name }) => register(client, name)],
  ["register-queue", (client, { id }) => register(client, String(id))],
  ["unsubscribe", (client, { name }) => client.delete("/users/me/subscriptions", { subscriptions: [name] })],
  ["unsubscribe", (client, { name }) => leave(client, name, owner.userId)],
  ["update-subscriptions", (client, { name }) => client.patch("/users/me/subscriptions", { delete: [name] })],
  ["update-subscription-settings", (client, { id }) => mute(client, id)],
  ["get-subscribers", (client, { id }) => client.get(`/streams/${id}/members`)],
  ["get-stream-email-address", (client, { id }) => client.get(`/streams/${id}/email_address`)],
  ["get-subscription-status", (client, { id }) => client.get(`/users/${client.userId}/subscriptions/${id}`)],
  ["get-subscription-status", (client, { id }) => client.get(`/users/${owner.userId}/subscriptions/${id}`)],
  ["add-default-stream", (client, { id }) => client.post("/default_streams", { stream_id: id })],
  ["remove-default-stream", (client, { id }) => client.delete("/default_streams", { stream_id: id })],
  ["get-stream-topics", (client, { id }) => client.get(`/users/me/${id}/topics`)],
  ["update-user-topic", (client, { id }) => followTopic(client, id, 3)],
  ["update-user-topic", (client, { id }) => followTopic(client, id, 0)],
  ["mute-topic", (client, { id }) => muteTopic(client, { stream_id: id })],
  ["mute-topic", (client, { name }) => muteTopic(client, { stream: name })],
  ["update-message", (client, { id }) => move(client, id)],
  ["mark-stream-as-read", (client, { id }) => client.post("/mark_stream_as_read", { stream_id: id })],
  ["mark-topic-as-read", (client, { id }) => markTopic(client, id)],
  ["update-message-flags-for-narrow", (client, { id }) => flag(client, id)],
  ["update-message-flags-for-narrow", (client, { name }) => flag(client, name)],
  ["check-messages-match-narrow", (client, { name }) => match(client, name)],
  ["set-typing-status", (client, { id }) => type(client, id)],
  ["create-drafts", (client, { id }) => client.post("/drafts", { drafts: [draft(id)] })],
  ["create-bot", (client, { name }) => makeBot(client, { default_sending_stream: name })],
  ["create-bot", (client, { name }) => makeBot(client, { default_events_register_stream: name })],
];

function send(client: Client, to: number | string, content: string) {
  return client.post("/messages", { type: "channel", to, topic: "topic", content });
}

function read(client: Client, operator: string, operand: number | string) {
  return client.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [{ operator, operand }] });
}

function register(client: Client, operand: string) {
  return client.post("/register", { event_types: [], narrow: [["channel", operand]] });
}

function leave(client: Client, name: string, principal: number) {
  return client.delete("/users/me/subscriptions", { subscriptions: [name], principals: [principal] });
}

function type(client: Client, id: number) {
  return client.post("/typing", { op: "start", type: "stream", stream_id: id, topic: "topic" });
}

function mute(client: Client, id: number) {
  const change = { stream_id: id, property: "is_muted", value: true };
  return client.post("/users/me/subscriptions/properties", { subscription_data: [change] });
}

function followTopic(client: Client, id: number, policy: number) {
  return client.post("/user_topics", { stream_id: id, topic: "topic", visibility_policy: policy });
}

function muteTopic(client: Client, place: Params) {
  return client.patch("/users/me/subscriptions/muted_topics", { ...place, topic: "topic", op: "add" });
}

function move(client: Client, id: number) {
  return client.patch(`/messages/${openMessage}`, { stream_id: id, propagate_mode: "change_all" });
}

function markTopic(client: Client, id: number) {
  return client.post("/mark_topic_as_read", { stream_id: id, topic_name: "topic" });
}

function flag(client: Client, operand: number | string) {
  const range = { anchor: "newest", num_before: 1, num_after: 0, op: "add", flag: "read" };
  return client.post("/messages/flags/narrow", { ...range, narrow: [{ operator: "channel", operand }] });
}

function match(client: Client, operand: string) {
  return client.get("/messages/matches_narrow", { msg_ids: [openMessage], narrow: [{ operator: "channel", operand }] });
}

function draft(id: number) {
  return { type: "stream", to: [id], topic: "topic", content: "x" };
}

function makeBot(client: Client, params: Params) {
  return client.post("/bots", { short_name: "spy", full_name: "Spy", bot_type: 1, ...params });
}

/** The answer may repeat values from the request; nothing else may differ. */
function withoutEcho({ status, body }: Answer, { id, name }: Place): string {
  const text = JSON.stringify({ status, body });
  return text.replaceAll(name, "<name>").replaceAll(new RegExp(`\\b${id}\\b`, "g"), "<id>");
}

const absent: Place = { id: unknownId, name: unknownName };
const places: Readonly<Record<string, Place>> = {
  "a private channel": { id: hiddenId, name: hiddenName },
  "an archived private channel": { id: archivedId, name: archivedName },
  "a private channel that the user has left, by its new name,": { id: leftId, name: leftName },
};
const people = { member, moderator, guest };

for (const [kind, place] of Object.entries(places)) {
  t.test(`[D24] ${kind} that the user may not see gets the answer for an unknown one, byte by byte`, async (t) => {
    for (const [who, client] of Object.entries(people)) {
      for (const [index, [operation, request]] of requests.entries()) {
        const [known, unknown] = [await request(client, place), await request(client, absent)];
        const title = `${operation} (${index}), ${who}`;
        t.equal(withoutEcho(known, place), withoutEcho(unknown, absent), title);
        t.not(known.status, 500, title);
      }
    }
    t.equal((await owner.get(`/streams/${place.id}`)).body.stream.name, place.name, "nobody changed anything");
  });
}

t.test("[D24] without content access an administrator cannot read, type or delete in a channel", async (t) => {
  const place = { id: hiddenId, name: hiddenName };
  for (const [operation, request] of requests) {
    if (!["delete-topic", "get-messages", "register-queue", "set-typing-status"].includes(operation)) continue;
    const [known, unknown] = [await request(administrator, place), await request(administrator, absent)];
    t.equal(withoutEcho(known, place), withoutEcho(unknown, absent), operation);
  }
});

t.test("[S1] as the only exception, a hidden channel's name is in use; the error says no more", async (t) => {
  const taken = {
    code: "CHANNEL_ALREADY_EXISTS",
    msg: `Channel '${hiddenName}' already exists`,
    channel_name: hiddenName,
  };
  const made = await member.post("/channels/create", { name: hiddenName, subscribers: [] });
  t.strictSame(made.body, { result: "error", ...taken });
  const own = await member.createChannel("own", [member]);
  t.strictSame((await member.patch(`/streams/${own}`, { new_name: hiddenName })).body, { result: "error", ...taken });
  const joined = await member.post("/users/me/subscriptions", { subscriptions: [{ name: hiddenName }] });
  t.strictSame(joined.body, {
    result: "error",
    code: "BAD_REQUEST",
    msg: `Unable to access channel (${hiddenName}).`,
  });
});

t.test("[S1] a mention of a hidden channel becomes no link, neither in messages nor in descriptions", async (t) => {
  const own = await member.createChannel("own links", [member], { description: `see #**${hiddenName}**` });
  const { body } = await member.get(`/streams/${own}`);
  t.notMatch(body.stream.rendered_description, /data-stream-id/);
  await member.patch(`/streams/${own}`, { description: `see also #**${hiddenName}**` });
  t.notMatch((await member.get(`/streams/${own}`)).body.stream.rendered_description, /data-stream-id/);
  const id = await member.say(own, "topic", `#**${hiddenName}** and #**${hiddenName}>topic**`);
  t.notMatch((await member.get(`/messages/${id}`)).body.message.content, /data-stream-id/);
});

/** Names of the parameters with which operations take channels. */
const takesChannels =
  /^(?:stream|stream_id|streams|channel_id|channel|new_stream_id|subscriptions|narrow|default_sending_stream)$/;
/** Operations that name no existing channel, or are covered by another one. */
const elsewhere: Readonly<Record<string, string>> = {
  subscribe: "creates channels that do not exist; the exception for names is tested above",
  "update-bot": "like create-bot, with the same lookup",
};

t.test("[D24] the table holds every operation that takes a channel", async (t) => {
  const tested = new Set(requests.map(([operation]) => operation));
  for (const { operationId, params } of endpoints) {
    if (!Object.keys(params).some((name) => takesChannels.test(name)) || operationId in elsewhere) continue;
    t.ok(tested.has(operationId), operationId);
  }
});
