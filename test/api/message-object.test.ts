/**
 * The complete message object (spec 2.9): its fields and types in each variant and each operation. Single fields are
 * tested in messages.test.ts, messages-direct.test.ts, message-edits.test.ts, message-moves.test.ts and
 * reactions.test.ts.
 */
import t from "tap";
import type { Client, Params } from "../support/client.ts";
import { quietly } from "../support/message-moves.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";

type Message = Record<string, unknown>;

const server = await startTestServer(t);
const { owner } = server;
server.setRealm({ message_content_edit_limit_seconds: null });
const [anna, bert] = [await server.user("anna"), await server.user("bert")];
const talk = await owner.createChannel("talk", [owner, anna, bert]);

const text = (value: unknown) => typeof value === "string";
const list = (value: unknown) => Array.isArray(value);
const flag = (value: unknown) => typeof value === "boolean";
const integer = (value: unknown) => Number.isSafeInteger(value);
/** Seconds, not milliseconds. */
const time = (value: unknown) => integer(value) && Number(value) > 1e9 && Number(value) < 1e11;
const one =
  (...values: unknown[]) =>
  (value: unknown) =>
    values.includes(value);

/**
 * Rows of the table in spec 2.9 that every message of both kinds has. `rendered_content` is part of the webhook payload
 * only.
 */
const always: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: integer,
  type: one("stream", "private"),
  subject: text,
  content: text,
  content_type: one("text/html", "text/x-markdown"),
  timestamp: time,
  sender_id: integer,
  sender_email: text,
  sender_full_name: text,
  sender_realm_str: text,
  avatar_url: (value) => value === null || text(value),
  client: text,
  recipient_id: integer,
  display_recipient: (value) => text(value) || list(value),
  is_me_message: flag,
  reactions: list,
  submessages: list,
  topic_links: list,
};
const ofChannels = { stream_id: integer };
const whenFetched = { flags: list };
const whenChanged = { last_edit_timestamp: time, last_moved_timestamp: time, edit_history: list };

function check(message: Message, fields: typeof always, title: string): void {
  t.strictSame(Object.keys(message).sort(), Object.keys(fields).sort(), title);
  const wrong = Object.entries(fields).filter(([name, isRight]) => !isRight(message[name]));
  const found = wrong.map(([name]) => [name, message[name]]);
  t.strictSame(found, [], `types: ${title}`);
}

async function send(by: Client, params: Params): Promise<number> {
  return (await by.post("/messages", { type: "channel", to: talk, topic: "lunch", content: "x", ...params })).body.id;
}

async function single(by: Client, id: number, params: Params = {}): Promise<Message> {
  return (await by.get(`/messages/${id}`, params)).body.message;
}

async function page(by: Client, id: number, params: Params = {}): Promise<Message> {
  return (await by.get("/messages", { anchor: id, num_before: 0, num_after: 0, ...params })).body.messages[0];
}

t.test("[spec 2.9] both kinds of message have exactly the fields of the table in every operation", async (t) => {
  const ids = {
    channel: await send(anna, {}),
    direct: await send(anna, { type: "direct", to: [bert.userId] }),
    self: await send(anna, { type: "direct", to: [anna.userId] }),
    group: await send(anna, { type: "direct", to: [bert.userId, owner.userId] }),
  };
  for (const [kind, id] of Object.entries(ids)) {
    const own = kind === "channel" ? ofChannels : {};
    for (const apply_markdown of [true, false]) {
      for (const allow_empty_topic_name of [true, false]) {
        const variant = { apply_markdown, allow_empty_topic_name };
        const label = `${kind} ${JSON.stringify(variant)}`;
        const fetched = await single(anna, id, variant);
        check(fetched, { ...always, ...own, ...whenFetched }, label);
        t.equal(fetched["content_type"], apply_markdown ? "text/html" : "text/x-markdown", label);
        t.equal(fetched["content"], apply_markdown ? "<p>x</p>" : "x", label);
        t.strictSame(await page(anna, id, variant), fetched, `GET /messages returns the same: ${label}`);
      }
    }
  }
});

t.test("[spec 2.9] the message event has the same object; its flags are separate", async (t) => {
  for (const kind of ["channel", "direct"] as const) {
    for (const apply_markdown of [true, false]) {
      const follower = await bert.follow({ event_types: ["message"], apply_markdown, client_gravatar: true });
      const id = await send(anna, kind === "direct" ? { type: "direct", to: [bert.userId] } : {});
      const event = await follower.until(({ message }) => message?.id === id);
      check(event.message, { ...always, ...(kind === "channel" ? ofChannels : {}) }, kind);
      t.strictSame({ ...event.message, flags: event.flags }, await single(bert, id, { apply_markdown }));
    }
  }
});

t.test("[spec 2.9] a direct message's topic is empty, a channel message's its name or the display name", async (t) => {
  const empty = await send(anna, { topic: "" });
  const direct = await send(anna, { type: "direct", to: [bert.userId], topic: "ignored" });
  for (const [id, allow_empty_topic_name, subject] of [
    [empty, true, ""],
    [empty, false, "general chat"],
    [direct, true, ""],
    [direct, false, ""],
  ] as const) {
    t.equal((await single(bert, id, { allow_empty_topic_name }))["subject"], subject);
  }
});

t.test("[spec 2.9] in events, too, older clients get the display name of the empty topic", async (t) => {
  const capable = { client_capabilities: { empty_topic_name: true } };
  for (const [params, subject] of [
    [{}, "general chat"],
    [capable, ""],
  ] as const) {
    const follower = await bert.follow({ event_types: ["message"], ...params });
    const id = await send(anna, { topic: "" });
    t.equal((await follower.until(({ message }) => message?.id === id)).message.subject, subject);
  }
});

t.test("[spec 2.9] avatar_url is null for clients that can compute it from the email, else it is set", async (t) => {
  const id = await send(anna, {});
  const of = async (by: Client, client_gravatar: boolean) => (await page(by, id, { client_gravatar }))["avatar_url"];
  t.strictSame([await of(bert, true), typeof (await of(bert, false))], [null, "string"]);
  await anna.patch("/settings", { email_address_visibility: 4 });
  t.strictSame([typeof (await of(bert, true)), typeof (await of(bert, false))], ["string", "string"]);
  await anna.patch("/settings", { email_address_visibility: 1 });
});

t.test("[spec 2.9] wildcard_mentioned is the OR of the two flags that replace it", async (t) => {
  await send(bert, { topic: "wild" });
  const flagsAt = async (content: string) =>
    (await single(bert, await send(anna, { topic: "wild", content })))["flags"];
  t.strictSame(await flagsAt("plain"), []);
  t.strictSame(await flagsAt("@**all**"), ["stream_wildcard_mentioned", "wildcard_mentioned"]);
  t.strictSame(await flagsAt("@**topic**"), ["topic_wildcard_mentioned", "wildcard_mentioned"]);
  t.strictSame(await flagsAt("@**all** @**topic**"), [
    "stream_wildcard_mentioned",
    "topic_wildcard_mentioned",
    "wildcard_mentioned",
  ]);
});

t.test("[spec 2.9] edit_history is newest first; each entry has user and time and only what changed", async (t) => {
  const other = await owner.createChannel("other", [owner, anna, bert]);
  const id = await send(owner, { topic: "one", content: "first" });
  const change = (params: Params) => owner.patch(`/messages/${id}`, { ...quietly, ...params });
  await change({ content: "second" });
  await change({ topic: "two" });
  await change({ stream_id: other });
  await change({ content: "third", topic: "three" });
  await change({ stream_id: talk, topic: "four" });
  const message = await single(bert, id);
  check(message, { ...always, ...ofChannels, ...whenFetched, ...whenChanged }, "changed");
  const who = { user_id: owner.userId };
  const history = message["edit_history"] as Message[];
  t.ok(history.every(({ timestamp }) => time(timestamp)));
  const before = (content: string) => ({ prev_content: content, prev_rendered_content: `<p>${content}</p>` });
  const found = history.map(({ timestamp: _at, ...rest }) => rest);
  t.strictSame(found, [
    { ...who, prev_topic: "three", topic: "four", prev_stream: other, stream: talk },
    { ...who, ...before("second"), prev_topic: "two", topic: "three" },
    { ...who, prev_stream: talk, stream: other },
    { ...who, prev_topic: "one", topic: "two" },
    { ...who, ...before("first") },
  ]);
});

t.test("[spec 2.9] the times of sending, editing and moving are in seconds; resolving is no move", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const by = clocked.owner;
  const second = () => Math.floor(clock.now() / 1000);
  const id = await by.say("general", "one", "first");
  const sentAt = second();
  const after = async (params: Params) => {
    clock.advance(61_999);
    await by.patch(`/messages/${id}`, { ...quietly, ...params });
    return second();
  };
  const times = async () => {
    const { timestamp, last_edit_timestamp, last_moved_timestamp, edit_history } = await single(by, id);
    const history = (edit_history ?? []) as Message[];
    return [timestamp, last_edit_timestamp, last_moved_timestamp, history.map((entry) => entry["timestamp"])];
  };
  t.strictSame(await times(), [sentAt, undefined, undefined, []]);
  const resolvedAt = await after({ topic: "✔ one" });
  const openedAt = await after({ topic: "one" });
  t.strictSame(await times(), [sentAt, undefined, undefined, [openedAt, resolvedAt]]);
  const editedAt = await after({ content: "second" });
  t.strictSame(await times(), [sentAt, editedAt, undefined, [editedAt, openedAt, resolvedAt]]);
  const movedAt = await after({ topic: "two" });
  const resolvedAgainAt = await after({ topic: "✔ two" });
  const history = [resolvedAgainAt, movedAt, editedAt, openedAt, resolvedAt];
  t.strictSame(await times(), [sentAt, editedAt, movedAt, history]);
});

t.test("[spec 2.9] reactions, topic_links, is_me_message and display_recipient have their shapes", async (t) => {
  await owner.post("/realm/filters", { pattern: "#(?P<id>[0-9]+)", url_template: "https://tracker.example/{id}" });
  const id = await send(anna, { topic: "about #12", content: "/me waves" });
  await bert.post(`/messages/${id}/reactions`, { emoji_name: "tada" });
  t.match(await single(bert, id), {
    is_me_message: true,
    reactions: [{ emoji_name: "tada", emoji_code: "1f389", reaction_type: "unicode_emoji", user_id: bert.userId }],
    topic_links: [{ text: "#12", url: "https://tracker.example/12" }],
    submessages: [],
    display_recipient: "talk",
  });
  const direct = await send(anna, { type: "direct", to: [bert.userId] });
  const person = (client: Client, name: string) => ({
    id: client.userId,
    email: client.account?.email,
    full_name: name,
    is_mirror_dummy: false,
  });
  const message = await single(bert, direct);
  t.strictSame(message["display_recipient"], [person(anna, "anna 0"), person(bert, "bert 0")]);
  const answer = await single(anna, await send(bert, { type: "direct", to: [anna.userId] }));
  t.equal(answer["recipient_id"], message["recipient_id"], "both directions");
});
