/**
 * When an API key is revoked, the sockets and held polls it opened end (realtime.md, Close codes; behaviour 11). Queues
 * stay.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import { makeBot } from "../support/bots.ts";
import { Client } from "../support/client.ts";
import { connect, follow, messageIds, resume, waitingPoll } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;
const ended = { code: 4401, reason: "not authenticated: do not retry with these credentials" };
const invalid = { status: 401, body: { result: "error", code: "INVALID_API_KEY", msg: "Invalid API key" } };

function withKey(client: Client, key: string): Client {
  return new Client(client.url, { email: client.account?.email ?? "", key, userId: client.userId });
}

async function rekey(client: Client): Promise<Client> {
  const { body } = await client.post("/users/me/api_key/regenerate");
  return withKey(client, body.api_key);
}

t.test("a revoked key closes its sockets with 4401: following, idle, or authenticated by frame", async (t) => {
  const person = await server.user("person");
  const { socket: following } = await follow(person, { event_types: ["message"] });
  const idle = await connect(person);
  const framed = new Socket(server.url);
  await framed.opened();
  await framed.ask({ type: "authenticate", email: person.account?.email, api_key: person.account?.key });
  const foreign = await connect(owner);
  const renewed = await rekey(person);
  for (const socket of [following, idle, framed]) t.strictSame(await socket.closed, ended);
  t.match(await foreign.ask({ type: "ping" }), { type: "pong" });
  const again = await connect(renewed);
  t.match(await again.ask({ type: "ping" }), { type: "pong" });
  again.close();
  foreign.close();
});

t.test("a held poll of a revoked key is answered 401, the next one too, and no event is lost", async (t) => {
  const person = await server.user("poller");
  const queue = await person.openQueue(["message"]);
  const poll = await waitingPoll(server, person, queue, queue.last_event_id);
  const renewed = await rekey(person);
  t.match(await poll.answer, invalid);
  t.match(await person.getEvents(queue, queue.last_event_id), invalid);
  const { body } = await owner.post("/messages", { type: "direct", to: [person.userId], content: "still there?" });
  t.strictSame(
    messageIds(await renewed.readNow(queue)),
    [body.id],
    "the queue belongs to the user, whichever key is used",
  );
  const { reply, socket } = await resume(renewed, queue, queue.last_event_id);
  t.match(reply, { result: "success" });
  t.match(await socket.event((event) => event.message?.id === body.id), { type: "message" });
  socket.close();
});

t.test("[M1] when a socket regenerates its own key, the response is sent before the socket is closed", async (t) => {
  const person = await server.user("caller");
  const socket = await connect(person);
  const reply = await socket.ask({ type: "call", method: "POST", path: "/users/me/api_key/regenerate" });
  t.match(reply.api_key, /^[A-Za-z0-9]{32}$/);
  t.strictSame(await socket.closed, ended);
  t.equal((await withKey(person, reply.api_key).get("/users/me")).status, 200);
});

t.test("a key evicted by later logins closes only its own sockets", async (t) => {
  const person = await server.user("crowded");
  const { dispatcher } = server.realm;
  const { userId } = person;
  const add = (key: string) =>
    dispatcher.ask(command({ actor: "user", id: userId }, "user.api-key.add", { hash: hashApiKey(key) }, userId));
  await add("second");
  const oldest = await connect(person);
  const second = await connect(withKey(person, "second"));
  for (let count = 2; count < limits.api_keys_per_user_max + 1; count++) await add(`key ${count}`);
  t.strictSame(await oldest.closed, ended);
  t.match(await second.ask({ type: "ping" }), { type: "pong" });
  second.close();
});

t.test("regenerating a bot's key closes the sockets that the old key opened", async (t) => {
  const { bot } = await makeBot(owner, "worker");
  const queue = await bot.openQueue(["message"]);
  const socket = await connect(bot);
  const poll = await waitingPoll(server, bot, queue, queue.last_event_id);
  const { body } = await owner.post(`/bots/${bot.userId}/api_key/regenerate`);
  t.strictSame(await socket.closed, ended);
  t.match(await poll.answer, invalid);
  t.strictSame(await withKey(bot, body.api_key).readNow(queue), []);
});

t.test("[spec 4.20] every socket of a deactivated user or bot is closed with 4403 at once, idle or not", async (t) => {
  const person = await server.user("leaver");
  const { bot } = await makeBot(person, "theirs");
  const sockets = [await connect(person), await connect(bot), (await follow(bot, { event_types: ["message"] })).socket];
  await owner.delete(`/users/${person.userId}`);
  for (const socket of sockets) t.match(await socket.closed, { code: 4403 });
});
