/** Channels and topics whose names new ones may not have: an import brought them, and they can be used (D264). */
import t from "tap";
import { fold } from "../../schemas/fold.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { conversationRow } from "../support/filled.ts";
import { startTestServer } from "../support/server.ts";

const odd = "ad\u00admin \u2068one";
const refused = refusal("Invalid character in topic, at position 3!");
const server = await startTestServer(t);
const { owner } = server;
const member = await server.user("member");

let conversations = 100_000;

/** A topic that no request can create, with a message. @returns its channel and the message */
async function importTopic(name: string): Promise<{ channel: number; message: number }> {
  const channel = await owner.createChannel(name, [owner, member]);
  const id = ++conversations;
  server.write("conversations", id, conversationRow(id, { channelId: channel, topic: odd }));
  server.write("topicNames", [channel, fold(odd)], { id });
  const posted = await postTo(owner, channel, odd);
  t.equal(posted.status, 200);
  return { channel, message: posted.body.id };
}

const postTo = (by: Client, to: number | string, topic: string) =>
  by.post("/messages", { type: "channel", to, topic, content: "a" });

t.test("[D264] a topic that exists is posted to, whatever its name, and its spelling stays", async (t) => {
  const { channel } = await importTopic("posts");
  t.equal((await postTo(member, channel, odd)).status, 200);
  t.equal((await postTo(member, channel, odd.toUpperCase())).status, 200);
  const later = { scheduled_delivery_timestamp: 4_000_000_000 };
  const scheduled = { type: "channel", to: channel, topic: odd, content: "a", ...later };
  t.equal((await member.post("/scheduled_messages", scheduled)).status, 200);
  const { body } = await owner.get(`/users/me/${channel}/topics`);
  t.match(body.topics, [{ name: odd }]);
  t.equal(body.topics.length, 1);
  const other = await owner.createChannel("others", [owner, member]);
  await expects(t, postTo(member, other, odd), refused, "elsewhere it would be new");
});

t.test("[D264] a topic that exists is muted and followed, and a policy is taken back, whatever its name", async (t) => {
  const { channel } = await importTopic("policies");
  const set = async (stream_id: number, topic: string, visibility_policy: number) =>
    outcome(await member.post("/user_topics", { stream_id, topic, visibility_policy }));
  for (const policy of [1, 3, 0]) t.strictSame(await set(channel, odd, policy), success(), String(policy));
  const mute = async (op: string) =>
    outcome(await member.patch("/users/me/subscriptions/muted_topics", { stream_id: channel, topic: odd, op }));
  for (const op of ["add", "remove"]) t.strictSame(await mute(op), success(), op);
  const gone = `${odd} two`;
  server.write("userTopics", [member.userId, channel, fold(gone)], { topic: gone, visibilityPolicy: 3, changedAt: 0 });
  server.write("topicPolicies", [channel, fold(gone), member.userId], { visibilityPolicy: 3 });
  t.strictSame(await set(channel, gone, 0), success(), "the topic is gone, and the policy is not");
  t.strictSame(await set(channel, gone, 1), refused);
  t.strictSame(await set(channel, gone, 0), refused);
});

t.test("[D264] a topic that exists is resolved, respelled and moved to, whatever its name", async (t) => {
  const { channel, message } = await importTopic("moves");
  const moved = success({ detached_uploads: [] });
  const move = async (id: number, topic: string) =>
    outcome(await owner.patch(`/messages/${id}`, { topic, propagate_mode: "change_all" }));
  t.strictSame(await move(message, `✔ ${odd}`), moved, "resolved");
  t.strictSame(await move(message, odd), moved, "unresolved");
  t.strictSame(await move(message, odd.toUpperCase()), moved, "another case");
  const plain = await owner.say("moves", "plain", "bread");
  t.strictSame(await move(plain, `${odd} two`), refused, "a new name");
  t.strictSame(await move(plain, odd), moved, "into a topic that exists");
  const elsewhere = await owner.createChannel("far", [owner]);
  const far = await owner.patch(`/messages/${plain}`, { stream_id: elsewhere, topic: odd });
  t.strictSame(outcome(far), refused, "in another channel it would be new");
  t.equal((await owner.get(`/users/me/${channel}/topics`)).body.topics.length, 1);
});

t.test("[D264] a channel that exists is posted to and subscribed to by its name, whatever its name", async (t) => {
  const name = "ki\u00adtchen";
  const id = await owner.createChannel("imported channel", [owner, member]);
  const row = server.realm.view.channels.get(id);
  if (row === undefined) throw new Error("there is no channel");
  server.write("channels", id, { ...row, name });
  t.equal((await postTo(member, name, "t")).status, 200);
  t.equal((await member.post("/users/me/subscriptions", { subscriptions: [{ name }] })).status, 200);
  const unknown = refusal("Invalid character in channel name, at position 3.");
  await expects(t, postTo(member, "ki\u00adtchen two", "t"), unknown);
});

t.test("[S1, D264] a user who cannot read a channel does not learn which names exist in it", async (t) => {
  const { channel } = await importTopic("secret");
  const row = server.realm.view.channels.get(channel);
  if (row === undefined) throw new Error("there is no channel");
  const hidden = "se\u00adcret";
  server.write("channels", channel, { ...row, name: hidden, isPrivate: true, isHistoryPublic: false });
  const stranger = await server.user("stranger");
  await expects(t, postTo(stranger, hidden, "t"), "Invalid character in channel name, at position 3.");
  const policy = { stream_id: channel, visibility_policy: 1 };
  t.strictSame(
    outcome(await stranger.post("/user_topics", { ...policy, topic: odd })),
    outcome(await stranger.post("/user_topics", { ...policy, topic: `${odd} two` })),
  );
  t.strictSame(outcome(await postTo(stranger, channel, odd)), outcome(await postTo(stranger, channel, `${odd} two`)));
});
