/**
 * Cached messages (queries/encoded-messages.ts, runtime/caches.ts) never return stale data about the message, its
 * sender, its channel or the organization, for any reader. Each case reads before and after a change; the second answer
 * has the change, and both read operations agree.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { RowCache } from "../../src/runtime/caches.ts";
import type { Event, Params } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");
const channelId = await owner.createChannel("kept", [owner, member]);

/** Reads the message with both operations, twice; the second time from the cache. */
async function read(id: number, params: Params = {}): Promise<Event> {
  const one = async () => (await owner.get(`/messages/${id}`, params)).body.message;
  const page = async () =>
    (await owner.get("/messages", { message_ids: [id], client_gravatar: true, ...params })).body.messages[0];
  const first = await one();
  for (const again of [await page(), await one(), await page()]) t.strictSame(again, first);
  return first;
}

async function written(topic: string): Promise<number> {
  const id = await member.say("kept", topic, "first **text**");
  await read(id);
  return id;
}

t.test("[M9] an edit, an added and removed reaction, a move and a rename are in the next answer", async (t) => {
  const id = await written("changes");
  await member.patch(`/messages/${id}`, { content: "second text" });
  t.match(await read(id), { content: "<p>second text</p>", last_edit_timestamp: Number });
  const other = await written("changes");
  await owner.post(`/messages/${other}/reactions`, { emoji_name: "tada" });
  t.equal((await read(other)).reactions.length, 1);
  await owner.delete(`/messages/${other}/reactions`, { emoji_name: "tada" });
  t.equal((await read(other)).reactions.length, 0);
  const moved = await written("changes");
  await owner.patch(`/messages/${moved}`, { topic: "elsewhere", propagate_mode: "change_one" });
  t.match(await read(moved), { subject: "elsewhere", last_moved_timestamp: Number });
  const renamed = await written("old name");
  await owner.patch(`/messages/${renamed}`, { topic: "new name", propagate_mode: "change_all" });
  t.match(await read(renamed), { subject: "new name", last_moved_timestamp: Number });
});

t.test("[M9] a deleted message disappears at once", async (t) => {
  await written("deletion");
  const id = await written("deletion");
  await owner.delete(`/messages/${id}`);
  t.equal((await owner.get(`/messages/${id}`)).status, 400);
  t.strictSame((await owner.get("/messages", { message_ids: [id] })).body.messages, []);
});

t.test("[M9] new names of the sender and the channel, and linkifiers, apply to earlier messages", async (t) => {
  const id = await written("see #42");
  await member.patch("/settings", { full_name: "Another Name" });
  t.equal((await read(id)).sender_full_name, "Another Name");
  await owner.patch(`/streams/${channelId}`, { new_name: "kept on" });
  t.equal((await read(id)).display_recipient, "kept on");
  t.strictSame((await read(id)).topic_links, []);
  await owner.post("/realm/filters", { pattern: "#(?P<id>[0-9]+)", url_template: "https://example.com/{id}" });
  t.strictSame((await read(id)).topic_links, [{ text: "#42", url: "https://example.com/42" }]);
  await owner.patch(`/streams/${channelId}`, { new_name: "kept" });
});

t.test("[spec 2.9] each variant is cached on its own: Markdown, avatars, the empty topic", async (t) => {
  const id = await written("");
  t.equal((await read(id)).content, "<p>first <strong>text</strong></p>");
  t.equal((await read(id, { apply_markdown: false })).content, "first **text**");
  t.equal((await read(id)).content_type, "text/html");
  t.equal((await read(id, { allow_empty_topic_name: true })).subject, "");
  t.equal((await read(id, { allow_empty_topic_name: false })).subject, "general chat");
  server.setRealm({ empty_topic_display_name: "small talk" });
  t.equal((await read(id, { allow_empty_topic_name: false })).subject, "small talk");
  const pictures = async (gravatar: boolean) =>
    (await owner.get("/messages", { message_ids: [id], client_gravatar: gravatar })).body.messages[0].avatar_url;
  t.equal(await pictures(true), null);
  t.type(await pictures(false), "string");
  t.equal(await pictures(true), null);
});

t.test("[S1] flags belong to each reader and follow their actions", async (t) => {
  const id = await written("flags");
  const flags = async () => (await read(id)).flags;
  t.strictSame(await flags(), []);
  await owner.post("/messages/flags", { messages: [id], op: "add", flag: "read" });
  await owner.post("/messages/flags", { messages: [id], op: "add", flag: "starred" });
  t.strictSame(await flags(), ["read", "starred"]);
  t.strictSame((await member.get(`/messages/${id}`)).body.message.flags, []);
  await owner.post("/messages/flags", { messages: [id], op: "remove", flag: "read" });
  t.strictSame(await flags(), ["starred"]);
});

t.test(
  "[S3] cached_messages_characters_max: beyond it the message that was not read for longest is evicted",
  async (t) => {
    const cache = new RowCache();
    const text = "x".repeat(1_000_000);
    const row = (id: number) => ({ id, content: text, rendered: text });
    let reads = 0;
    const read = (id: number) =>
      cache.get("messages", id, () => {
        reads++;
        return row(id);
      });
    // Twice its texts and the overhead: four million characters each.
    const counted = 4 * text.length + limits.cached_message_overhead_characters;
    const fitting = Math.floor(limits.cached_messages_characters_max / counted);
    for (let id = 1; id <= fitting; id++) read(id);
    for (let id = 1; id <= fitting; id++) read(id);
    t.equal(reads, fitting, "as many as fit are cached");
    read(fitting + 1);
    read(fitting + 1);
    t.equal(reads, fitting + 1, "one more is cached, too");
    read(1);
    t.equal(reads, fitting + 2, "and the first one is evicted");
  },
);

t.test("[S3] cached small rows are limited in number, per table", async (t) => {
  const cache = new RowCache();
  let reads = 0;
  const read = (id: number) =>
    cache.get("conversations", id, () => {
      reads++;
      return { id };
    });
  for (let id = 1; id <= limits.cached_rows_per_table_max; id++) read(id);
  read(1);
  t.equal(reads, limits.cached_rows_per_table_max, "as many as fit are cached");
  read(limits.cached_rows_per_table_max + 1);
  read(2);
  t.equal(reads, limits.cached_rows_per_table_max + 2, "one more evicts the one that was not read for longest");
});

t.test("[M9] message_ends_max: messages of one author in one topic differ in their own fields only", async (t) => {
  const contents = ["first", '"quoted", "client": \\ 🦊', "/me waves", "last"];
  const ids: number[] = [];
  for (const content of contents) ids.push(await member.say("kept", "shared ends", content));
  const other = await owner.say("kept", "shared ends", "by somebody else");
  const shown = async (params: Params) =>
    (await owner.get("/messages", { message_ids: [...ids, other], client_gravatar: true, ...params })).body.messages;
  for (const params of [{ apply_markdown: false }, {}, { allow_empty_topic_name: true }, { client_gravatar: false }]) {
    const messages: Event[] = await shown(params);
    const [first, quoted, me, last, foreign] = messages as [Event, Event, Event, Event, Event];
    const own = ({ id: _id, content: _content, timestamp: _time, is_me_message: _me, ...rest }: Event) => rest;
    for (const message of [quoted, me, last]) t.strictSame(own(message), own(first));
    t.strictSame([quoted.is_me_message, me.is_me_message, last.is_me_message], [false, true, false]);
    t.strictSame([foreign.sender_id, foreign.content_type], [owner.userId, first.content_type]);
    if (params.apply_markdown === false)
      t.strictSame(
        messages.slice(0, 4).map(({ content }) => content),
        contents,
      );
  }
});
