/**
 * POST /mark_topic_as_read and similar operations, sentence by sentence (spec 4.16, section 3 Topic messages). Unread
 * counts, read watermarks and events are tested in read-state.test.ts.
 */
import t from "tap";
import { type Client, expects, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const anna = await server.user("anna");
const channel = await owner.createChannel("kitchen", [owner, anna]);

const mark = (by: Client, params: object) => by.post("/mark_topic_as_read", { ...params });
const flagsOf = async (by: Client, id: number): Promise<string[]> =>
  (await by.get(`/messages/${id}`)).body.message.flags;

t.test("[spec 4.16] stream_id and topic_name are required, and nothing is marked without them", async (t) => {
  const id = await owner.say(channel, "soup", "x");
  for (const [name, params] of [
    ["stream_id", { topic_name: "soup" }],
    ["topic_name", { stream_id: channel }],
  ] as const) {
    const missing = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, mark(anna, params), missing);
  }
  for (const stream_id of ["kitchen", 1.5, [channel]]) {
    t.equal((await mark(anna, { stream_id, topic_name: "soup" })).status, 400, String(stream_id));
  }
  t.strictSame(await flagsOf(anna, id), []);
  await expects(t, mark(anna, { stream_id: channel, topic_name: "soup" }), success(), "the envelope alone");
  t.strictSame(await flagsOf(anna, id), ["read"]);
});

t.test("[spec 3] only the topic's messages become read, and only for the caller", async (t) => {
  const other = await owner.createChannel("cellar", [owner, anna]);
  const bert = await server.user("bert");
  await bert.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
  const [here, beside, elsewhere] = [
    await owner.say(channel, "bread", "x"),
    await owner.say(channel, "breads", "x"),
    await owner.say(other, "bread", "x"),
  ];
  await mark(anna, { stream_id: channel, topic_name: "bread" });
  t.strictSame(await flagsOf(anna, here), ["read"]);
  for (const id of [beside, elsewhere]) t.strictSame(await flagsOf(anna, id), []);
  t.strictSame(await flagsOf(bert, here), [], "the caller alone");
});

t.test("[spec 4.16] only the organization's display name of the empty topic means the empty topic", async (t) => {
  server.setRealm({ empty_topic_display_name: "chatter" });
  const empty = await owner.say(channel, "", "x");
  const named = await owner.say(channel, "general chat", "x");
  await mark(anna, { stream_id: channel, topic_name: "general chat" });
  t.strictSame([await flagsOf(anna, empty), await flagsOf(anna, named)], [[], ["read"]]);
  await mark(anna, { stream_id: channel, topic_name: "chatter" });
  t.strictSame(await flagsOf(anna, empty), ["read"]);
  server.setRealm({ empty_topic_display_name: "general chat" });
});
