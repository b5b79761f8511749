/**
 * Generic bots receive messages of public channels that mention them, without a subscription (OpenAPI, /events,
 * message; realtime.md, Who gets what): live and again after a resume (E2), and never from a channel they cannot read
 * (S1).
 */
import t from "tap";
import { botTypes } from "../../schemas/bots.ts";
import { makeBot } from "../support/bots.ts";
import type { Client, Event } from "../support/client.ts";
import { follow, messageIds, resume, waitingPoll } from "../support/realtime.ts";
import { restart } from "../support/restart.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

const name = (short: string) => `@**The ${short}**`;

async function flagsOf(client: Client, id: number): Promise<readonly string[] | undefined> {
  const { body } = await client.get(`/messages/${id}`);
  return body.message?.flags;
}

t.test("a mentioned bot receives the message by poll and by socket, reads it and replies", async (t) => {
  const { bot } = await makeBot(owner, "helper");
  await owner.createChannel("support", [owner]);
  const queue = await bot.openQueue(["message"]);
  const { socket } = await follow(bot, { event_types: ["message"] });
  const poll = await waitingPoll(server, bot, queue, queue.last_event_id);
  await owner.say("support", "t", "nobody in particular");
  const id = await owner.say("support", "t", `${name("helper")} please`);
  const { body } = await poll.answer;
  t.strictSame(messageIds(body.events), [id], "and nothing else from the channel");
  const [event] = body.events;
  t.strictSame(event.flags, ["read", "mentioned"]);
  await socket.event((received) => received.message?.id === id);
  t.strictSame(messageIds(socket.events), [id]);
  socket.terminate();

  t.strictSame(await flagsOf(bot, id), event.flags, "a fetch returns it as the event did");
  const narrow = [{ operator: "is", operand: "mentioned" }];
  const fetched = await bot.get("/messages", { anchor: "newest", num_before: 5, num_after: 0, narrow });
  const found = fetched.body.messages.map((message: Event) => [message.id, message.flags]);
  t.strictSame(found, [[id, event.flags]]);
  const replied = await bot.post("/messages", { type: "channel", to: "support", topic: "t", content: "here I am" });
  t.equal(replied.status, 200);
  t.strictSame(messageIds(await bot.readNow(queue, event.id)), [], "the bot does not receive its own message");
});

t.test("[E2] mentions that a bot missed are replayed exactly once, also after a restart", async (t) => {
  const before = await startTestServer(t);
  const { bot } = await makeBot(before.owner, "sleeper");
  await before.owner.createChannel("support", [before.owner]);
  const queue = await bot.openQueue(["message"]);
  const first = await before.owner.say("support", "t", `${name("sleeper")} one`);
  await before.owner.say("support", "t", "not for it");
  const [received, ...others] = await bot.readNow(queue);
  t.equal(received.message.id, first);
  t.strictSame(others, []);
  const second = await before.owner.say("support", "t", `${name("sleeper")} two`);
  const { server: after, as } = await restart(t, before);
  const again = as(bot);
  t.strictSame(messageIds(await again.readNow(queue, received.id)), [second]);
  const { socket } = await resume(again, queue, queue.last_event_id);
  await socket.event((event) => event.message?.id === second);
  t.strictSame(messageIds(socket.events), [first, second]);
  t.strictSame(socket.events[0].flags, received.flags, "the same event");
  socket.terminate();
  await after.stop();
});

t.test("[E2] an edit changes neither who has received a message nor who receives it", async (t) => {
  const { bot } = await makeBot(owner, "editor");
  await owner.createChannel("edits", [owner]);
  const queue = await bot.openQueue(["message"]);
  const kept = await owner.say("edits", "t", `${name("editor")} hello`);
  const late = await owner.say("edits", "t", "hello");
  await owner.patch(`/messages/${kept}`, { content: "hello anybody" });
  await owner.patch(`/messages/${late}`, { content: `${name("editor")} hello` });
  const events = await bot.readNow(queue);
  t.strictSame(messageIds(events), [kept]);
  t.strictSame(events[0].flags, await flagsOf(bot, kept), "in its current form");
  t.strictSame(events[0].flags, ["read"]);
  t.strictSame(await flagsOf(bot, late), ["read", "mentioned", "historical"]);
});

t.test("[S1] a bot that cannot read the channel receives no mention, live or replayed", async (t) => {
  const { bot } = await makeBot(owner, "outsider");
  const closed = await owner.createChannel("closed", [owner], { invite_only: true });
  const open = await owner.createChannel("still open", [owner]);
  const queue = await bot.openQueue(["message"]);
  await owner.say("closed", "t", `${name("outsider")} secret`);
  const id = await owner.say("still open", "t", `${name("outsider")} not secret yet`);
  t.strictSame(messageIds(await bot.readNow(queue)), [id]);
  await owner.patch(`/streams/${open}`, { is_private: true, history_public_to_subscribers: true });
  const { socket } = await resume(bot, queue, queue.last_event_id);
  const direct = await owner.post("/messages", { type: "direct", to: [bot.userId], content: "the end" });
  await socket.event((event) => event.message?.id === direct.body.id);
  t.strictSame(
    messageIds(socket.events),
    [direct.body.id],
    "messages of a channel that became private are not replayed",
  );
  socket.terminate();
  t.ok(closed > 0);
});

t.test("other mentions and kinds of users receive nothing from a channel they are not subscribed to", async (t) => {
  const { bot } = await makeBot(owner, "generic");
  const { bot: webhook } = await makeBot(owner, "outgoing", {
    bot_type: botTypes.outgoingWebhook,
    payload_url: "http://127.0.0.1:9",
  });
  const { bot: gone } = await makeBot(owner, "gone");
  const person = await server.user("person");
  await owner.createChannel("mentions", [owner]);
  const group = await owner.post("/user_groups/create", {
    name: "robots",
    description: "",
    members: [bot.userId, person.userId],
  });
  t.equal(group.status, 200);
  const followers = [bot, webhook, person];
  const queues = await Promise.all(
    followers.map((client) => client.openQueue(["message"], { narrow: [["channel", "mentions"]] })),
  );
  await owner.delete(`/bots/${gone.userId}`);
  for (const content of [
    `@_**The generic** silently`,
    `\`@**The generic**\` in code`,
    "@*robots* all of you",
    "@**all** everybody",
    `${name("outgoing")} ${name("gone")} @**person**`,
  ]) {
    await owner.say("mentions", "t", content);
  }
  const received = await Promise.all(queues.map((queue, index) => (followers[index] as Client).readNow(queue)));
  t.strictSame(received, [[], [], []]);
});

t.test("a message received through all_public_streams without a subscription has no flags", async (t) => {
  const person = await server.user("watcher");
  await owner.createChannel("public", [owner]);
  const queue = await person.openQueue(["message"], { all_public_streams: true });
  const plain = await owner.say("public", "t", "plain");
  const mention = await owner.say("public", "t", "@**watcher** mentioned, and still not a recipient");
  const events = await person.readNow(queue);
  const found = events.map((event) => [event.message.id, event.flags]);
  t.strictSame(found, [
    [plain, []],
    [mention, []],
  ]);
});

t.test("a subscribed bot receives a message that mentions it once", async (t) => {
  const { bot } = await makeBot(owner, "member");
  await owner.createChannel("joined", [owner, bot]);
  const queue = await bot.openQueue(["message"]);
  const everything = await bot.openQueue(["message"], { all_public_streams: true });
  const id = await owner.say("joined", "t", `${name("member")} once`);
  const [event, ...others] = await bot.readNow(queue);
  t.strictSame([event.message.id, event.flags, others], [id, ["mentioned"], []]);
  t.strictSame(messageIds(await bot.readNow(everything)), [id]);
});
