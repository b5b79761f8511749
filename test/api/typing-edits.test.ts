/**
 * POST /messages/{message_id}/typing (OpenAPI, set-typing-status-for-message-edit and typing_edit_message): receivers,
 * permissions, settings, and the stop of an inactive typist, on a manual clock.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, type Follower, refusal, success } from "../support/client.ts";
import { createUsers, receivedEvents as toldOf, typingServer } from "../support/typing.ts";

const { clock, server, owner } = await typingServer(t);
const wanted = { event_types: ["typing_edit_message", "typing", "message"] };

const people = (count: number) => createUsers(server, count);

const type = (by: Client, id: number | string, op: string | undefined = "start") =>
  by.post(`/messages/${id}/typing`, { op });

async function receivedEvents(follower: Follower) {
  await follower.settled();
  t.strictSame(follower.ofType("typing"), []);
  return toldOf(follower, "typing_edit_message");
}

t.test("other readers of the channel receive start and stop; the typist does not", async (t) => {
  const [anna, bert, carla] = (await people(3)) as [Client, Client, Client];
  const channel_id = await owner.createChannel("talk", [anna, bert]);
  const id = await anna.say(channel_id, "", "x");
  const followers = await Promise.all([anna, bert, carla].map((client) => client.follow(wanted)));
  const newer = await bert.follow({ ...wanted, client_capabilities: { empty_topic_name: true } });
  for (const op of ["start", "stop"]) {
    await expects(t, type(anna, id, op), success());
    const notice = { type: "typing_edit_message", op, sender_id: anna.userId, message_id: id };
    const recipient = { type: "channel", channel_id, topic: "general chat" };
    const each = [];
    for (const follower of followers) each.push(await receivedEvents(follower));
    t.strictSame(each, [[], [{ ...notice, recipient }], []]);
    t.strictSame(await receivedEvents(newer), [{ ...notice, recipient: { ...recipient, topic: "" } }]);
  }
});

t.test("direct messages: other participants who want typing notifications receive them", async (t) => {
  const [anna, bert, carla] = (await people(3)) as [Client, Client, Client];
  server.setUser(carla.userId, { receives_typing_notifications: false });
  const to = [anna, bert, carla].map(({ userId }) => userId);
  const { id } = (await anna.post("/messages", { type: "direct", to, content: "x" })).body;
  const [hearing, deaf] = [await bert.follow(wanted), await carla.follow(wanted)];
  await type(anna, id);
  const user_ids = to.sort((a, b) => a - b);
  const notice = { type: "typing_edit_message", op: "start", sender_id: anna.userId, message_id: id };
  t.strictSame(await receivedEvents(hearing), [{ ...notice, recipient: { type: "direct", user_ids } }]);
  t.strictSame(await receivedEvents(deaf), []);
});

t.test("an inactive typist expires after 15 s with one stop; a deleted message causes no event", async (t) => {
  const [anna, bert] = (await people(2)) as [Client, Client];
  const id = await anna.say(await owner.createChannel("silent", [anna, bert]), "t", "x");
  const follower = await bert.follow(wanted);
  const ops = async () => (await receivedEvents(follower)).map(({ op }) => op);
  await type(anna, id);
  clock.advance(limits.typing_expiry_ms - 1);
  t.strictSame(await ops(), ["start"]);
  clock.advance(201);
  t.strictSame(await ops(), ["stop"]);
  await type(anna, id);
  await owner.delete(`/messages/${id}`);
  t.strictSame(await ops(), ["start"]);
  clock.advance(2 * limits.typing_expiry_ms);
  t.strictSame(await ops(), []);
});

t.test("a user who may not edit the message gets the reason, and nobody receives an event", async (t) => {
  const [anna, bert] = (await people(2)) as [Client, Client];
  const id = await anna.say(await owner.createChannel("strict", [anna, bert]), "t", "x");
  const hidden = await owner.say(await owner.createChannel("sealed", [owner], { invite_only: true }), "t", "x");
  const follower = await bert.follow(wanted);
  await expects(t, type(bert, id), "You don't have permission to edit this message");
  await expects(t, type(owner, id), "You don't have permission to edit this message");
  for (const other of [hidden, 99_999]) {
    await expects(t, type(anna, other), "Invalid message(s)", "[D24] hidden or missing");
  }
  server.setUser(anna.userId, { send_stream_typing_notifications: false });
  await expects(t, type(anna, id), "User has disabled typing notifications for channel messages");
  server.setUser(anna.userId, { send_stream_typing_notifications: true });
  await expects(t, type(anna, id, "pause"), "Invalid op");
  const missing = refusal("Missing 'op' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "op" });
  await expects(t, anna.post(`/messages/${id}/typing`), missing);
  server.setRealm({ allow_message_editing: false });
  await expects(t, type(anna, id), "Your organization has turned off message editing");
  server.setRealm({ allow_message_editing: true });
  const direct = (await anna.post("/messages", { type: "direct", to: [bert.userId], content: "x" })).body.id;
  server.setUser(anna.userId, { send_private_typing_notifications: false });
  await expects(t, type(anna, direct), "User has disabled typing notifications for direct messages");
  t.strictSame(await receivedEvents(follower), []);
});

t.test("[S1] in protected history, only users who received the message receive its typing events", async (t) => {
  const [anna, bert, late] = (await people(3)) as [Client, Client, Client];
  const options = { invite_only: true, history_public_to_subscribers: false };
  const channel = await anna.createChannel("protected", [anna, bert], options);
  const id = await anna.say(channel, "t", "x");
  await anna.post("/users/me/subscriptions", { subscriptions: [{ name: "protected" }], principals: [late.userId] });
  const [there, after] = [await bert.follow(wanted), await late.follow(wanted)];
  await type(anna, id);
  t.equal((await receivedEvents(there)).length, 1);
  t.strictSame(await receivedEvents(after), []);
});

t.test("[S3] typing_channel_subscribers_max: no typing events in larger channels", async (t) => {
  const [anna, bert] = (await people(2)) as [Client, Client];
  const others = await server.users("many", limits.typing_channel_subscribers_max - 1);
  const follower = await bert.follow(wanted);
  for (const [name, ids, count] of [
    ["full", others.slice(1), 1],
    ["overfull", others, 0],
  ] as const) {
    const subscribers = [anna.userId, bert.userId, ...ids];
    const { id: channel } = (await owner.post("/channels/create", { name, subscribers })).body;
    const id = await anna.say(channel, "t", "x");
    await receivedEvents(follower);
    await type(anna, id);
    t.equal((await receivedEvents(follower)).length, count);
  }
});
