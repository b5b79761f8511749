/**
 * Editing the content of messages: PATCH /messages/{id} and GET /messages/{id}/history (spec 2.9, D16; public API:
 * update-message, get-message-history; behaviour 5.6). message-moves.test.ts tests topics and channels.
 */
import { createHash } from "node:crypto";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, other } = await startServerWithUsers(t, ["member", "other"]);
const channelId = await owner.createChannel("edits", [owner, member, other]);

const edited = success({ detached_uploads: [] });

function edit(by: Client, id: number | string, params: Params) {
  return by.patch(`/messages/${id}`, params);
}

async function read(by: Client, id: number, params: Params = {}) {
  return (await by.get(`/messages/${id}`, params)).body;
}

async function historyOf(by: Client, id: number, params: Params = {}) {
  return (await by.get(`/messages/${id}/history`, params)).body.message_history;
}

/** OpenAPI, get-message-history, `content_html_diff`. */
function diffOf(now: string, before: string): string {
  const span = (kind: string, word: string) => `<span class="highlight_text_${kind}">${word}</span>`;
  return `<div><p>${span("inserted", now)} ${span("deleted", before)}</p></div>`;
}

t.test("[spec 2.9] an edit renders the content again and sets a time; the history has the old content", async (t) => {
  const id = await member.say(channelId, "plain", "**one**");
  await expects(t, edit(member, id, { content: "*two* @**member 0**" }), edited);
  const { message, raw_content: raw } = await read(other, id);
  t.equal(raw, "*two* @**member 0**");
  t.match(message.content, /^<p><em>two<\/em> <span class="user-mention"/);
  t.match(message, { last_edit_timestamp: Number, subject: "plain" });
  t.notOk("last_moved_timestamp" in message, "it was not moved");
  t.strictSame(message.edit_history, [
    {
      user_id: member.userId,
      timestamp: message.last_edit_timestamp,
      prev_content: "**one**",
      prev_rendered_content: "<p><strong>one</strong></p>",
    },
  ]);
});

t.test("[spec 2.9] a message that was never changed has none of these fields", async (t) => {
  const { message } = await read(member, await member.say(channelId, "plain", "same"));
  for (const name of ["edit_history", "last_edit_timestamp", "last_moved_timestamp"]) t.notOk(name in message, name);
});

t.test("[spec 2.9] edit_history is newest first; GET history is oldest first from the original on", async (t) => {
  const id = await member.say(channelId, "order", "first");
  await edit(member, id, { content: "second" });
  await edit(member, id, { content: "third" });
  const { message } = await read(member, id);
  const found = message.edit_history.map((entry: Params) => entry["prev_content"]);
  t.strictSame(found, ["second", "first"]);
  const history = await historyOf(other, id);
  t.match(history, [
    { user_id: member.userId, content: "first", rendered_content: "<p>first</p>", topic: "order" },
    { user_id: member.userId, content: "second", prev_content: "first", prev_rendered_content: "<p>first</p>" },
    { user_id: member.userId, content: "third", prev_content: "second", topic: "order" },
  ]);
  const seen = history.map((snapshot: Params) => snapshot["content_html_diff"]);
  t.strictSame(seen, [undefined, diffOf("second", "first"), diffOf("third", "second")]);
  t.strictSame(Object.keys(history[0]).sort(), ["content", "rendered_content", "timestamp", "topic", "user_id"]);
  t.strictSame(await historyOf(member, await member.say(channelId, "order", "alone")).then((list) => list.length), 1);
});

t.test("[behaviour 5.1] blank content becomes (deleted), long content is cut, trailing space removed", async (t) => {
  const id = await member.say(channelId, "texts", "x");
  const bound = "🍎".repeat(limits.message_code_points_max);
  const mark = "\n[message truncated]";
  for (const [content, expected] of [
    ["  \n ", "(deleted)"],
    ["", "(deleted)"],
    ["text \n", "text"],
    [bound, bound],
    [`${bound}a`, "🍎".repeat(limits.message_code_points_max - mark.length) + mark],
  ]) {
    await expects(t, edit(member, id, { content }), edited);
    t.equal((await read(member, id)).raw_content, expected);
  }
  await expects(t, edit(member, id, { content: "a\0b" }), "Message must not contain null bytes");
});

t.test("empty, conflicting and invalid changes are rejected", async (t) => {
  const id = await member.say(channelId, "form", "x");
  await expects(t, edit(member, id, {}), "Nothing to change");
  await expects(t, edit(member, id, { topic: " form " }), "Nothing to change");
  await expects(t, edit(member, id, { stream_id: channelId }), "Nothing to change");
  await expects(
    t,
    edit(member, id, { content: "y", propagate_mode: "change_all" }),
    "Invalid propagate_mode without topic edit",
  );
  await expects(t, edit(member, id, { content: "y", propagate_mode: "all" }), "Invalid propagate_mode");
  await expects(
    t,
    edit(member, id, { content: "y", stream_id: 1 }),
    "Cannot change message content while changing channel",
  );
  await expects(t, edit(member, id, { topic: "y", stream_id: "one" }), "stream_id is not valid JSON");
  t.equal((await edit(member, "x", { content: "y" })).status, 404);
  t.equal((await edit(member.anonymous(), id, { content: "y" })).status, 401);
  t.equal((await read(member, id)).raw_content, "x");
});

t.test("[D16] a prev_content_sha256 that does not match is EXPECTATION_MISMATCH, and nothing changes", async (t) => {
  const id = await member.say(channelId, "hash", "before ü");
  const hash = createHash("sha256").update("before ü").digest("hex");
  await expects(
    t,
    edit(member, id, { content: "after", prev_content_sha256: "0".repeat(64) }),
    refusal("'prev_content_sha256' value does not match the expected value.", "EXPECTATION_MISMATCH", 400, {
      field_name: "prev_content_sha256",
    }),
  );
  await expects(t, edit(member, id, { content: "after", prev_content_sha256: hash }), edited);
  t.match(await edit(member, id, { content: "again", prev_content_sha256: hash }), { status: 400 });
  t.equal((await read(member, id)).raw_content, "after");
});

t.test("only the sender may edit the content, whatever the role of others", async (t) => {
  const id = await member.say(channelId, "own", "mine");
  const guest = await server.user("guest", roles.guest);
  for (const role of [roles.moderator, roles.administrator]) {
    const person = await server.user(`role${role}`, role);
    await expects(t, edit(person, id, { content: "theirs" }), "You don't have permission to edit this message");
  }
  await expects(t, edit(owner, id, { content: "theirs" }), "You don't have permission to edit this message");
  await expects(t, edit(guest, id, { content: "theirs" }), "Invalid message(s)");
  t.equal((await read(member, id)).raw_content, "mine");
});

t.test("[spec 7, D24] missing and hidden messages and those in archived channels get the same answer", async (t) => {
  const sealed = await member.createChannel("sealed", [member], { invite_only: true });
  const hidden = await member.say(sealed, "t", "x");
  const archived = await member.createChannel("to be archived", [member]);
  const late = await member.say(archived, "t", "x");
  const record = server.realm.view.channels.get(archived);
  if (record !== undefined) server.write("channels", archived, { ...record, isArchived: true });
  for (const [by, id] of [
    [owner, 999_999],
    [owner, hidden],
    [member, late],
  ] as const) {
    await expects(t, edit(by, id, { content: "y" }), "Invalid message(s)");
    await expects(t, edit(by, id, { topic: "y" }), "Invalid message(s)");
  }
  await expects(t, owner.get(`/messages/${hidden}/history`), "Invalid message(s)");
  await expects(t, owner.get("/messages/999999/history"), "Invalid message(s)");
});

t.test("direct messages are edited by their sender and have neither topic nor channel", async (t) => {
  const sent = await member.post("/messages", { type: "direct", to: [other.userId], content: "hi" });
  const { id } = sent.body;
  const watcher = await other.follow();
  await expects(t, edit(member, id, { content: "hello" }), edited);
  t.equal((await read(other, id)).raw_content, "hello");
  await expects(t, edit(member, id, { topic: "x" }), "Direct messages cannot have topics.");
  await expects(t, edit(member, id, { stream_id: channelId }), "Direct messages cannot be moved to channels.");
  await expects(t, edit(owner, id, { content: "x" }), "Invalid message(s)");
  await watcher.settled();
  const [event] = watcher.ofType("update_message");
  t.match(event, { user_id: member.userId, message_id: id, message_ids: [id], content: "hello", flags: [] });
  t.notOk("stream_id" in event || "propagate_mode" in event || "subject" in event);
});

t.test("[behaviour 4.4] the event has both contents and the viewer's own flags; others get none", async (t) => {
  const id = await member.say(channelId, "events", "plain");
  await member.post("/messages/flags", { messages: [id], op: "add", flag: "read" });
  const outsider = await server.user("outsider");
  const watchers = [await member.follow(), await other.follow(), await outsider.follow()] as const;
  await edit(member, id, { content: "/me greets @**other 0**" });
  for (const watcher of watchers) await watcher.settled();
  const { message } = await read(member, id);
  const expected = {
    type: "update_message",
    user_id: member.userId,
    rendering_only: false,
    message_id: id,
    message_ids: [id],
    edit_timestamp: message.last_edit_timestamp,
    stream_id: channelId,
    stream_name: "edits",
    orig_content: "plain",
    orig_rendered_content: "<p>plain</p>",
    content: "/me greets @**other 0**",
    rendered_content: message.content,
    is_me_message: true,
  };
  t.strictSame(watchers[0].ofType("update_message"), [{ ...expected, flags: ["read"] }]);
  t.strictSame(watchers[1].ofType("update_message"), [{ ...expected, flags: ["mentioned"] }]);
  t.strictSame(watchers[2].ofType("update_message"), []);
});

t.test("[S1] a user who can no longer read a message gets no edits of it, later or replayed", async (t) => {
  const sealed = await member.createChannel("sealed edits", [member, other], { invite_only: true });
  const id = await member.say(sealed, "t", "x");
  const [live, late] = [await other.follow(), await other.follow()];
  await edit(member, id, { content: "secret one" });
  await live.settled();
  await other.delete("/users/me/subscriptions", { subscriptions: ["sealed edits"] });
  await edit(member, id, { content: "secret two" });
  for (const follower of [live, late]) await follower.settled();
  t.match(live.ofType("update_message"), { 0: { content: "secret one" }, length: 1 }, "live");
  t.strictSame(late.ofType("update_message"), [], "on replay");
});

t.test("[D52] an edit that keeps the content succeeds and sends no event", async (t) => {
  const id = await member.say(channelId, "same", "same");
  const watcher = await other.follow();
  await expects(t, edit(member, id, { content: "same " }), edited);
  await watcher.settled();
  t.strictSame(watcher.ofType("update_message"), []);
  t.notOk("edit_history" in (await read(member, id)).message);
});

t.test("with allow_message_editing off, contents cannot be edited, topics can", async (t) => {
  const id = await member.say(channelId, "switched", "x");
  server.setRealm({ allow_message_editing: false });
  await expects(t, edit(member, id, { content: "y" }), "Your organization has turned off message editing");
  await expects(t, edit(member, id, { topic: "switched off" }), edited);
  server.setRealm({ allow_message_editing: true });
});

t.test("[behaviour 5.6] the organization decides whether history shows all, moves only, or nothing", async (t) => {
  const id = await member.say(channelId, "policy", "one");
  await edit(member, id, { content: "two" });
  await edit(member, id, { topic: "policy two", send_notification_to_new_thread: false });
  server.setRealm({ message_edit_history_visibility_policy: "moves" });
  const { message } = await read(other, id);
  t.match(message.edit_history, [{ prev_topic: "policy", topic: "policy two" }]);
  t.equal(message.edit_history.length, 1);
  t.strictSame(
    (await historyOf(other, id)).map(({ content, prev_content: before }: Params) => [content, before]),
    [
      ["two", undefined],
      ["two", undefined],
    ],
    "the former content appears nowhere",
  );
  server.setRealm({ message_edit_history_visibility_policy: "none" });
  t.notOk("edit_history" in (await read(other, id)).message);
  t.match((await read(other, id)).message, { last_edit_timestamp: Number, last_moved_timestamp: Number });
  await expects(t, other.get(`/messages/${id}/history`), "Message edit history is disabled in this organization");
  server.setRealm({ message_edit_history_visibility_policy: "all" });
});

t.test("[behaviour 1.2] an edit that adds a wildcard mention without permission is rejected", async (t) => {
  const crowded = await owner.createChannel("crowded", [owner, member, other]);
  const people = await Promise.all(Array.from({ length: 14 }, (_, index) => server.user(`c${index}x`)));
  const principals = people.map(({ userId }) => userId);
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "crowded" }], principals });
  const id = await member.say(crowded, "t", "x");
  await expects(
    t,
    edit(member, id, { content: "@**all**" }),
    refusal(
      "You do not have permission to use channel wildcard mentions in this channel.",
      "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    ),
  );
});

t.test("[spec 2.3] the sender's translate_emoticons applies to edits", async (t) => {
  const id = await member.say(channelId, "emoticons", "x");
  server.setUser(member.userId, { translate_emoticons: true });
  await edit(member, id, { content: "now :)" });
  t.match((await read(member, id)).message.content, /class="emoji/);
  server.setUser(member.userId, { translate_emoticons: false });
});

t.test("[S3] a message keeps a limited number of earlier versions", async (t) => {
  const id = await member.say(channelId, "few", "0");
  await edit(member, id, { topic: "many", send_notification_to_new_thread: false });
  for (let n = 1; n <= limits.message_history_entries_max + 1; n++) await edit(member, id, { content: `${n}` });
  const { message } = await read(member, id);
  t.equal(message.edit_history.length, limits.message_history_entries_max);
  t.equal(message.edit_history.at(-1).prev_content, "1", "the oldest went");
  t.match(message, { last_moved_timestamp: Number }, "[spec 2.9] absent only if it was never moved");
  t.equal((await historyOf(member, id)).length, limits.message_history_entries_max + 1);
});

t.test("[spec 2.9] a moved message has its time of the move, however often its topic was resolved since", async (t) => {
  const id = await member.say(channelId, "here", "0");
  await edit(member, id, { topic: "there", propagate_mode: "change_all", send_notification_to_old_thread: false });
  const movedAt = (await read(member, id)).message.last_moved_timestamp;
  t.type(movedAt, "number");
  const later = await member.say(channelId, "there", "1");
  for (let n = 0; n <= limits.message_history_entries_max + 1; n++) {
    const topic = n % 2 === 0 ? "\u2714 there" : "there";
    await edit(member, id, { topic, propagate_mode: "change_all" });
  }
  const { message } = await read(member, id);
  t.equal(message.last_moved_timestamp, movedAt);
  t.equal(message.edit_history.length, limits.message_history_entries_max, "[S3]");
  t.same(
    [message.edit_history.at(-1).prev_topic, message.edit_history.at(-1).topic],
    ["here", "there"],
    "the move is kept, and resolutions between are dropped",
  );
  t.notOk(
    "last_moved_timestamp" in (await read(member, later)).message,
    "a message sent after the move was never moved",
  );
});

t.test("the content can be edited for the organization's time limit and a short grace period", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const id = await owner.say("general", "t", "0");
  const within = limits.edit_grace_s * 1000;
  server.setRealm({ message_content_edit_limit_seconds: 60 });
  clock.advance(60_000 + within);
  t.equal((await edit(owner, id, { content: "1" })).status, 200, "at the bound");
  clock.advance(1);
  await expects(
    t,
    edit(owner, id, { content: "2" }),
    "The time limit for editing this message has passed",
    "past the limit, also for an owner",
  );
  server.setRealm({ message_content_edit_limit_seconds: null });
  t.equal((await edit(owner, id, { content: "3" })).status, 200, "no limit");
});

t.test("[M1, D25] an edit survives a restart, and a repeated key edits once", async (t) => {
  const before = await startTestServer(t);
  const id = await before.owner.say("general", "t", "one");
  const key = { "Idempotency-Key": "edit-1" };
  await expects(t, before.owner.patch(`/messages/${id}`, { content: "two" }, key), edited);
  await edit(before.owner, id, { content: "three" });
  const { server, as } = await restart(t, before);
  const again = as(server.owner);
  await expects(t, again.patch(`/messages/${id}`, { content: "two" }, key), edited);
  t.equal((await read(again, id)).raw_content, "three");
  t.equal((await historyOf(again, id)).length, 3);
});
