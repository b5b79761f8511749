/**
 * State before plus events equals a fresh fetch for every list of a user or of the organization, live and replayed.
 * Each type of schemas/events.ts is followed by such a comparison or declared stateless, and each event must be as its
 * schema says.
 */
import t from "tap";
import { areaCases } from "../areas/index.ts";
import { attachmentsOf, linkTo, uploaded } from "../support/attachments.ts";
import type { Event } from "../support/client.ts";
import { mirroredTypes } from "../support/mirror.ts";
import { applyLists, listsSnapshot, listTypes } from "../support/mirror-lists.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { faultsOf, kindOf, kindsOf, ops } from "../support/wire-events.ts";

const server = await startTestServer(t);
const { owner } = server;

async function must(answer: Promise<{ status: number; body: Event }>): Promise<Event> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

t.test("state plus events equals a fresh fetch for lists of a user and of the organization, op by op", async (t) => {
  const other = await server.user("other");
  const params = {
    event_types: [...listTypes, "message"],
    fetch_event_types: listTypes,
    client_capabilities: { notification_settings_null: true, linkifier_url_template: true },
  };
  const socket = await connect(owner);
  const state = await socket.ask({ type: "register", ...params });
  const queue = await owner.register(params);

  for (const { lists } of areaCases) await lists?.play(owner, other);

  const last = await owner.say("general", "t", "the end");
  await socket.event((event) => event.message?.id === last);
  const fresh = listsSnapshot(await owner.register(params));
  const repeated = await owner.readNow(queue);
  for (const [how, start, events] of [
    ["live", state, socket.events],
    ["repeated", queue, repeated],
  ] as const) {
    const known: Event = structuredClone(start);
    applyLists(known, events);
    for (const [key, value] of Object.entries(listsSnapshot(known))) t.strictSame(value, fresh[key], `${how}: ${key}`);
    const kinds = new Set(events.filter(({ type }) => type !== "message").map(kindOf));
    t.strictSame([...kinds].sort(), kindsOf(listTypes), `${how}: every type was sent with every op`);
    t.strictSame(faultsOf(events), [], `${how}: as schemas/events.ts says`);
  }
  socket.terminate();
});

/** Events that change nothing in the /register state; each with its reason and the test that covers it. */
const stateless: Readonly<Record<string, string>> = {
  attachment: "no state: GET /attachments (test/api/attachments)",
  muted_topics: "compared in its own scenario (state-and-events)",
  invites_changed: "no state: GET /invites (test/api/invites)",
  submessage: "part of the message (test/support/message-mirror)",
  reaction: "part of the message (test/support/message-mirror)",
  typing: "volatile",
  typing_edit_message: "volatile",
  presence: "volatile, mirrored",
  restart: "announced by a new process (restart-events)",
  update_display_settings: "repeats user_settings for older clients",
  update_global_notifications: "repeats user_settings for older clients",
};

t.test("every event without state is as schemas/events.ts says", async (t) => {
  const reader = await server.user("reader");
  const types = Object.keys(stateless).filter((type) => type !== "restart");
  const older = { user_settings_object: false };
  const queues = [
    await reader.register({ event_types: types, client_capabilities: { ...older, stream_typing_notifications: true } }),
    await reader.register({
      event_types: types,
      client_capabilities: { simplified_presence_events: true, user_settings_object: true, empty_topic_name: true },
    }),
  ];
  const typing = await connect(reader);
  await typing.ask({ type: "register", event_types: types });

  const at = { type: "channel", stream_id: 1, topic: "t" };
  for (const op of ["start", "stop"]) {
    await must(owner.post("/typing", { ...at, op }));
    await must(owner.post("/typing", { type: "direct", op, to: [reader.userId] }));
  }
  const id = await owner.say("general", "t", "/poll Lunch?");
  for (const op of ["start", "stop"]) await must(owner.post(`/messages/${id}/typing`, { op }));
  const reaction = { emoji_name: "tada" };
  await must(owner.post(`/messages/${id}/reactions`, reaction));
  await must(owner.delete(`/messages/${id}/reactions`, reaction));
  const option = JSON.stringify({ type: "new_option", idx: 1, option: "Soup" });
  await must(owner.post("/submessage", { message_id: id, msg_type: "widget", content: option }));
  const file = await uploaded(reader, "text");
  const linked = await reader.say("general", "t", linkTo(file));
  await must(reader.patch(`/messages/${linked}`, { content: "without a link" }));
  const [{ id: attachmentId }] = await attachmentsOf(reader);
  await must(reader.delete(`/attachments/${attachmentId}`));
  await must(reader.post("/user_topics", { stream_id: 1, topic: "muted", visibility_policy: 1 }));
  await must(reader.patch("/settings", { enter_sends: true, enable_sounds: false, default_language: "de" }));
  await must(owner.patch(`/users/${reader.userId}`, { role: 200 }));
  await must(owner.post("/invites/multiuse", { invite_as: 400 }));
  await typing.event(({ type }) => type === "invites_changed");

  const events = [...typing.events];
  for (const queue of queues) events.push(...(await reader.readNow(queue)));
  t.strictSame(faultsOf(events), []);
  const elsewhere = new Set(["presence", "restart"]);
  const found = [...new Set(events.map(kindOf))].filter((kind) => !elsewhere.has(kind)).sort();
  t.strictSame(found, kindsOf(types.filter((type) => !elsewhere.has(type))), "every type and op occurs");
  typing.terminate();
});

t.test("every event type is compared with a fresh fetch, or has no state", async (t) => {
  const followed = [...mirroredTypes, ...listTypes, ...Object.keys(stateless)];
  const found = Object.keys(ops).filter((type) => !followed.includes(type));
  t.strictSame(found, []);
});
