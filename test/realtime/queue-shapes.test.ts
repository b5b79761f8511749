/** How a queue's parameters and the client's capabilities shape its events (OpenAPI register; behaviour 4.3, 4.4). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Event, Queue } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

const capable = (...names: string[]) => ({
  client_capabilities: {
    notification_settings_null: true,
    ...Object.fromEntries(names.map((name) => [name, true])),
  },
});

/** The queue's only event, without its id. */
async function onlyEvent(queue: Queue): Promise<Event> {
  const events = await owner.readNow(queue);
  if (events.length !== 1) throw new Error(`not exactly one event: ${JSON.stringify(events)}`);
  const { id: _id, ...rest } = events[0];
  return rest;
}

t.test("[behaviour 4.4] a message event carries the message without flags, and the flags separately", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const id = await owner.say("general", "lunch", "**hi**");
  const event = await onlyEvent(queue);
  t.strictSame(Object.keys(event).sort(), ["flags", "message", "type"]);
  t.match(event.message, { timestamp: Number, recipient_id: Number });
  t.strictSame(
    { ...event, message: { ...event.message, timestamp: 0, recipient_id: 0 } },
    {
      type: "message",
      flags: [],
      message: {
        id,
        sender_id: owner.userId,
        content: "**hi**",
        content_type: "text/x-markdown",
        timestamp: 0,
        client: "node",
        is_me_message: false,
        reactions: [],
        submessages: [],
        sender_full_name: "Owner",
        sender_email: "owner@localhost",
        sender_realm_str: "",
        avatar_url: null,
        type: "stream",
        stream_id: 1,
        display_recipient: "general",
        recipient_id: 0,
        subject: "lunch",
        topic_links: [],
      },
    },
  );
});

t.test("[behaviour 4.1] apply_markdown is off unless requested, client_gravatar is on unless declined", async (t) => {
  const rendered = await owner.openQueue(["message"], { apply_markdown: true });
  const withAvatars = await owner.openQueue(["message"], { client_gravatar: false });
  await owner.say("general", "shapes", "*raw*");
  const html = await onlyEvent(rendered);
  t.match(html.message, { content: "<p><em>raw</em></p>", content_type: "text/html", avatar_url: null });
  const avatar = await onlyEvent(withAvatars);
  t.match(avatar.message, { content: "*raw*", content_type: "text/x-markdown", avatar_url: /^https:/ });
});

t.test("[spec 2.9] the empty topic has its display name unless the client supports empty topics", async (t) => {
  const types = ["message", "delete_message"];
  const old = await owner.openQueue(types);
  const modern = await owner.openQueue(types, capable("empty_topic_name"));
  const channelId = await owner.createChannel("untitled", [owner]);
  await owner.say("untitled", "", "no topic");
  const oldMessage = await onlyEvent(old);
  const modernMessage = await onlyEvent(modern);
  t.equal(oldMessage.message.subject, "general chat");
  t.equal(modernMessage.message.subject, "");
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "general chat" });
  const deleted = async (queue: Queue) => (await owner.readNow(queue)).map((event) => [event.type, event.topic]);
  t.strictSame(await deleted(old), [["delete_message", "general chat"]], "the message itself is skipped now");
  t.strictSame(await deleted(modern), [["delete_message", ""]]);
});

t.test("[behaviour 4.3] bulk_message_deletion gives one event with all ids; else each has its own", async (t) => {
  const channelId = await owner.createChannel("bulk", [owner]);
  const ids = [];
  for (const content of ["1", "2", "3"]) ids.push(await owner.say("bulk", "gone", content));
  const single = await owner.openQueue(["delete_message"]);
  const bulk = await owner.openQueue(["delete_message"], capable("bulk_message_deletion"));
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "gone" });
  const where = { type: "delete_message", message_type: "stream", stream_id: channelId, topic: "gone" };
  const pieces = await owner.readNow(single);
  const found = pieces.map(({ id: _id, ...event }) => event);
  t.strictSame(
    found,
    ids.map((id) => ({ ...where, message_id: id })),
  );
  t.equal(new Set(pieces.map((event) => event.id)).size, 3, "each has an id of its own");
  t.strictSame(await onlyEvent(bulk), { ...where, message_ids: ids });
});

t.test("[behaviour 4.3] a client that acknowledged half of the split events receives the other half", async (t) => {
  const channelId = await owner.createChannel("halves", [owner]);
  const ids = [];
  for (const content of ["1", "2", "3", "4"]) ids.push(await owner.say("halves", "gone", content));
  const single = await owner.openQueue(["delete_message"]);
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "gone" });
  const pieces = await owner.readNow(single);
  const rest = await owner.readNow(single, pieces[1].id);
  t.strictSame(rest, pieces.slice(2), "[E2] every later event, none of the earlier ones");
});

t.test(
  "[behaviour 4.3] with notification_settings_null state and events contain nulls, else the user's values",
  async (t) => {
    const fields = [
      "desktop_notifications",
      "audible_notifications",
      "push_notifications",
      "email_notifications",
      "wildcard_mentions_notify",
    ];
    const read = (record: Record<string, unknown>) => fields.map((field) => record[field]);
    const old = await owner.register({ event_types: ["subscription"] });
    const modern = await owner.register({ event_types: ["subscription"], ...capable() });
    const stateOf = (state: Record<string, unknown>) => (state["subscriptions"] as Record<string, unknown>[])[0] ?? {};
    await owner.createChannel("notified", [owner]);
    const eventOf = async (queue: Queue) =>
      (await owner.readNow(queue)).find((event) => event.op === "add").subscriptions[0];
    const areBooleans = (values: readonly unknown[]) => values.every((value) => typeof value === "boolean");
    t.ok(areBooleans(read(stateOf(old))));
    t.ok(areBooleans(read(await eventOf(old))));
    const nulls = [null, null, null, null, null];
    t.strictSame(read(stateOf(modern)), nulls);
    t.strictSame(read(await eventOf(modern)), nulls);
  },
);

t.test("[behaviour 4.1] include_subscribers: state and events list subscribers only when requested", async (t) => {
  const channelId = await owner.createChannel("counted", [owner]);
  const state = await owner.register({ event_types: ["subscription"], include_subscribers: "true" });
  const plain = await owner.register({ event_types: ["subscription"] });
  const find = (list: unknown) =>
    (list as { stream_id: number; subscribers?: number[] }[]).find((channel) => channel.stream_id === channelId);
  t.strictSame(find(state["subscriptions"])?.subscribers, [owner.userId]);
  t.notOk("subscribers" in (find(plain["subscriptions"]) ?? {}));
  const other = await server.user("counter");
  const waiting = await other.register({ event_types: ["subscription"], include_subscribers: "partial" });
  t.strictSame(find(waiting["never_subscribed"])?.subscribers, [owner.userId]);
  await other.post("/users/me/subscriptions", { subscriptions: [{ name: "counted" }] });
  const [added] = await other.readNow(waiting);
  t.strictSame(added.subscriptions[0].subscribers, [owner.userId, other.userId]);
});

t.test("[behaviour 4.3] stream_typing_notifications: only clients with it receive channel typing", async (t) => {
  const typist = await server.user("typist");
  const channelId = await owner.createChannel("typed", [owner, typist]);
  const old = await owner.openQueue(["typing"]);
  const modern = await owner.openQueue(["typing"], capable("stream_typing_notifications"));
  await typist.post("/typing", { type: "channel", op: "start", stream_id: channelId, topic: "now" });
  t.strictSame(await owner.readNow(old), []);
  t.strictSame(await onlyEvent(modern), {
    type: "typing",
    op: "start",
    message_type: "stream",
    sender: { user_id: typist.userId, email: typist.account?.email },
    stream_id: channelId,
    topic: "now",
  });
  await typist.post("/typing", { op: "start", to: [owner.userId] });
  const direct = await onlyEvent(old);
  t.match(direct, { type: "typing", op: "start", message_type: "direct" });
  const found = direct.recipients.map((recipient: { user_id: number }) => recipient.user_id);
  t.strictSame(found, [owner.userId, typist.userId], "the sender is listed as a recipient, but receives no event");
});

t.test("[behaviour 4.4] only the sender's own queue receives its local_id", async (t) => {
  const own = await owner.openQueue(["message"]);
  const other = await owner.openQueue(["message"]);
  const params = { type: "channel", to: "general", topic: "echo", content: "echo" };
  await owner.post("/messages", { ...params, queue_id: own.queue_id, local_id: "107.01" });
  t.equal((await onlyEvent(own)).local_message_id, "107.01");
  t.notOk("local_message_id" in (await onlyEvent(other)));
});

t.test("[behaviour 4.4] a stream create event carries the channel's record as GET /streams returns it", async (t) => {
  const queue = await owner.openQueue(["stream"]);
  const channelId = await owner.createChannel("recorded", []);
  const record = await owner.channel(channelId);
  t.strictSame(await onlyEvent(queue), { type: "stream", op: "create", streams: [record] });
});

t.test("[S3] the event types and the narrow of a queue are bounded", async (t) => {
  const register = (params: Record<string, unknown>) => owner.post("/register", params);
  const types = (count: number) => Array.from({ length: count }, () => "message");
  const terms = (count: number) => Array.from({ length: count }, () => ["stream", "general"]);
  const bounds = [
    ["event_types", limits.event_types_max, types],
    ["fetch_event_types", limits.event_types_max, types],
    ["narrow", limits.queue_narrow_terms_max, terms],
  ] as const;
  for (const [name, most, listOf] of bounds) {
    t.match(await register({ [name]: listOf(most) }), { status: 200 }, name);
    const refused = await register({ [name]: listOf(most + 1) });
    t.match(refused, { status: 400, body: { code: "BAD_REQUEST", msg: `${name} is too long (limit: ${most} items)` } });
  }
});
