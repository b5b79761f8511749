/**
 * Resuming after a loss (E2): every later event that the user may see, in order, once; across disconnects, restarts and
 * unsubscriptions.
 */
import t from "tap";
import type { Event } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, increases, messageIds, resume, sayMany } from "../support/realtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

function withoutFlags({ flags: _flags, ...event }: Event): Event {
  return event;
}

/** Disables the message to users whom somebody else subscribed. */
const quietly = { send_new_subscription_messages: false };

const server = await startTestServer(t);
const { owner } = server;

/** The events without fields that depend on the moment. */
function outline(events: readonly Event[]): string[] {
  return events.map((event) => (event.type === "message" ? event.message.content : `${event.type} ${event.op ?? ""}`));
}

t.test("[E2] a socket that is disconnected repeatedly while events flow misses none and gets none twice", async (t) => {
  const contents = Array.from({ length: 400 }, (_, index) => String(index));
  const { socket: first, queue } = await follow(owner, { event_types: ["message"] });
  const sent = sayMany(owner, "general", "flow", contents);
  const seen: Event[] = [];
  let socket = first;
  for (let cut = 1; seen.length < contents.length; cut++) {
    const enough = Math.min(contents.length - seen.length, 7 * cut);
    await socket.frame(() => socket.events.length >= enough);
    seen.push(...socket.events);
    socket.terminate();
    if (seen.length < contents.length) ({ socket } = await resume(owner, queue, seen.at(-1).id));
  }
  t.strictSame(messageIds(seen), await sent);
  t.ok(increases(seen));
});

t.test("[E2] a socket and a poll take turns on one queue without a gap or a duplicate", async (t) => {
  const contents = Array.from({ length: 200 }, (_, index) => String(index));
  const queue = await owner.openQueue(["message"]);
  const sent = sayMany(owner, "general", "turns", contents);
  const seen: Event[] = [];
  const last = () => seen.at(-1)?.id ?? queue.last_event_id;
  while (seen.length < contents.length) {
    const { body } = await owner.getEvents(queue, last());
    seen.push(...body.events);
    if (seen.length >= contents.length) break;
    const { socket } = await resume(owner, queue, last());
    await socket.frame((frame) => frame.type === "event" || frame.type === "events");
    // The poll takes the queue over while events are in flight; what the socket received counts until it is closed.
    const taken = owner.getEvents(queue, last(), { dont_block: true });
    await socket.closed;
    await taken;
    seen.push(...socket.events);
  }
  t.strictSame(messageIds(seen), await sent);
  t.ok(increases(seen));
});

t.test("[E1] typing kept for the next socket follows the messages, with a fresh id", async (t) => {
  const typist = await server.user("kept typist");
  const queue = await owner.openQueue(["message", "typing"]);
  await typist.post("/typing", { op: "start", to: [owner.userId] });
  await owner.say("general", "kept", "later than the typing");
  const { socket } = await resume(owner, queue, queue.last_event_id);
  await socket.event((event) => event.type === "typing");
  t.strictSame(outline(socket.events), ["later than the typing", "typing start"]);
  t.ok(increases(socket.events));
  const id = await owner.say("general", "kept", "live");
  const event = await socket.event((candidate) => candidate.message?.id === id);
  t.ok(event.id > socket.events[1].id);
  socket.terminate();
});

t.test("a resume after a server restart has no gap and no duplicate", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const { socket, queue } = await follow(before.owner, { event_types: ["message"] });
  const ids = [await before.owner.say("general", "restart", "seen")];
  await socket.event((event) => event.type === "message");
  await before.stop();
  t.match(await socket.closed, { code: 1001 });
  const after = await startTestServer(t, { dataDir });
  ids.push(await after.owner.say("general", "restart", "while away"));
  const { socket: again } = await resume(after.owner, queue, socket.events[0].id);
  ids.push(await after.owner.say("general", "restart", "live"));
  await again.event((event) => event.message.id === ids[2]);
  t.strictSame(messageIds([...socket.events, ...again.events]), ids);
  t.ok(increases([...socket.events, ...again.events]));
  again.terminate();
});

for (const kind of ["public", "private"] as const) {
  t.test(
    `[E2] a user who left and rejoined a ${kind} channel gets only messages from inside the subscription periods`,
    async (t) => {
      const reader = await server.user(`stayer ${kind}`);
      const name = `stays ${kind}`;
      await owner.createChannel(name, [owner, reader], { invite_only: kind === "private" });
      const types = ["message", "subscription"];
      const live = await follow(reader, { event_types: types });
      const queue = await reader.openQueue(types);
      const names = JSON.stringify([name]);
      await owner.say(name, "t", "in");
      await reader.delete("/users/me/subscriptions", { subscriptions: names });
      await owner.say(name, "t", "out");
      const principals = [reader.userId];
      await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals, ...quietly });
      await owner.say(name, "t", "in again");
      const expected = ["in", "subscription remove", "subscription add", "in again"];
      const polled = await reader.readNow(queue);
      t.strictSame(outline(polled), expected);
      const { socket } = await resume(reader, queue, queue.last_event_id);
      await socket.event((event) => event.message?.content === "in again");
      t.strictSame(socket.events, polled, "the same by socket");
      // A replay has the current flags: unsubscribing has marked unread messages as read.
      t.strictSame(live.socket.events.map(withoutFlags), polled.map(withoutFlags), "the same as live");
      socket.terminate();
      live.socket.terminate();
    },
  );
}

t.test("[S1] a former subscriber of a private channel does not receive its messages", async (t) => {
  const reader = await server.user("expelled");
  const insider = await server.user("insider");
  const name = "secret plans";
  const queue = await reader.openQueue(null, { include_subscribers: "true" });
  await owner.createChannel(name, [owner], { invite_only: true, description: "described" });
  const principals = [reader.userId];
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals, ...quietly });
  await owner.say(name, "t", "while the reader was subscribed");
  await owner.delete("/users/me/subscriptions", { subscriptions: [name], principals });
  await owner.say(name, "t", "after the reader was removed");
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [insider.userId], ...quietly });
  const events = await reader.readNow(queue);
  t.strictSame(messageIds(events), []);
  const received = JSON.stringify(events);
  t.notOk(received.includes("described"), "nor the channel's description");
  const peers = events.filter((event) => event.type === "subscription" && event.op === "peer_add");
  t.notOk(peers.some((event) => event.user_ids.includes(insider.userId)));
  const shown = events.flatMap((event) => event.subscriptions ?? []).flatMap((record) => record.subscribers ?? []);
  t.notOk(shown.includes(insider.userId), "nor its later subscribers");
  const { socket } = await resume(reader, queue, queue.last_event_id);
  await socket.ask({ type: "ping" });
  t.strictSame(socket.events, events, "the same by socket");
  socket.terminate();
});

t.test("[S1] a user who joins a private channel later receives nothing from before, live or replayed", async (t) => {
  const reader = await server.user("late joiner");
  const early = await server.user("early bird");
  const types = ["message", "stream", "subscription"];
  const live = await follow(reader, { event_types: types });
  const queue = await reader.openQueue(types);
  const name = "from the start";
  await owner.createChannel(name, [owner], { invite_only: true });
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [early.userId], ...quietly });
  await owner.say(name, "t", "before");
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: [reader.userId], ...quietly });
  await owner.say(name, "t", "after");
  const events = await reader.readNow(queue);
  t.strictSame(outline(events), ["stream create", "subscription add", "after"]);
  await live.socket.event((event) => event.message?.content === "after");
  t.strictSame(live.socket.events, events);
  live.socket.terminate();
});

t.test("a replay skips a message that was deleted meanwhile and sends its deletion", async (t) => {
  const channelId = await owner.createChannel("deleted", [owner]);
  const queue = await owner.openQueue(["message", "delete_message"], {
    client_capabilities: { notification_settings_null: true, bulk_message_deletion: true },
  });
  const gone = await owner.say("deleted", "gone", "1");
  const stays = await owner.say("deleted", "periods", "2");
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "gone" });
  const { socket } = await resume(owner, queue, queue.last_event_id);
  const deletion = await socket.event((event) => event.type === "delete_message");
  t.strictSame(messageIds(socket.events), [stays]);
  t.strictSame(deletion.message_ids, [gone]);
  t.ok(increases(socket.events));
  socket.terminate();
});

t.test("a user who received messages and left receives their deletion", async (t) => {
  const leaver = await server.user("received");
  const outsider = await server.user("never there");
  const channelId = await owner.createChannel("received", [owner, leaver]);
  const heard = await owner.say("received", "t", "heard");
  await leaver.delete("/users/me/subscriptions", { subscriptions: ["received"] });
  const queues = [await leaver.openQueue(["delete_message"]), await outsider.openQueue(["delete_message"])] as const;
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "t" });
  t.match(await leaver.readNow(queues[0]), [{ type: "delete_message", message_id: heard }]);
  t.strictSame(await outsider.readNow(queues[1]), []);
});

t.test("[S1] with protected history each user receives deletions only of messages they received", async (t) => {
  const people = await Promise.all(["even", "odd", "all"].map((name) => server.user(`${name} receiver`)));
  const name = "protected deletions";
  const channelId = await owner.createChannel(name, [owner, ...people], { invite_only: true });
  const present: readonly (readonly number[])[] = [
    [0, 1, 2],
    [0, 2],
    [1, 2],
    [0, 1, 2],
  ];
  const received = new Map<number, number[]>(people.map((client) => [client.userId, []]));
  for (const there of present) {
    const absent = people.filter((_client, index) => !there.includes(index)).map((client) => client.userId);
    if (absent.length > 0) {
      await owner.delete("/users/me/subscriptions", { subscriptions: [name], principals: absent });
    }
    const id = await owner.say(name, "t", "content");
    for (const index of there) received.get(people[index]?.userId ?? 0)?.push(id);
    if (absent.length > 0) {
      await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals: absent });
    }
  }
  const bulk = { client_capabilities: { notification_settings_null: true, bulk_message_deletion: true } };
  const types = { event_types: ["delete_message"], ...bulk };
  const followed = await Promise.all(people.map((client) => follow(client, types)));
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "t" });
  for (const [index, client] of people.entries()) {
    const socket = followed[index]?.socket ?? (await connect(client));
    const event = await socket.event((candidate) => candidate.type === "delete_message");
    t.strictSame(event.message_ids, received.get(client.userId));
    socket.terminate();
  }
});

t.test("[E2] a position that the server never issued is rejected", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const future = Number.MAX_SAFE_INTEGER - 1;
  t.match(await owner.getEvents(queue, future, { dont_block: true }), { status: 400, body: { result: "error" } });
  const { socket, reply } = await resume(owner, queue, future);
  t.match(reply, { type: "reply", result: "error" });
  const id = await owner.say("general", "future", "now");
  t.strictSame(messageIds(await owner.readNow(queue)), [id]);
  socket.terminate();
});

t.test("[E2] an event that arrives while a socket is still replaying is not lost when the socket closes", async (t) => {
  const quiet = await server.user("long quiet");
  const queue = await quiet.openQueue(["message"]);
  await owner.createChannel("noise", [owner]);
  const contents = Array.from({ length: 4100 }, (_, index) => String(index));
  await sayMany(owner, "noise", "noise", contents);
  const raw = await RawSocket.of(quiet);
  const params = { type: "direct", to: [quiet.userId], content: "in between" };
  // One segment: the replay needs three passes, the message arrives after the first, and another queue ends the
  // replay.
  raw.send(
    { type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" },
    { type: "call", method: "POST", path: "/messages", params, ref: "post" },
    { type: "register", event_types: [], fetch_event_types: [], ref: "register" },
  );
  const { id } = await raw.frame((frame) => frame.ref === "post");
  await raw.frame((frame) => frame.ref === "register");
  const given = messageIds(raw.events);
  const rest = messageIds(await quiet.readNow(queue, raw.events.at(-1)?.id ?? queue.last_event_id));
  t.strictSame([...given, ...rest], [id]);
  raw.destroy();
});

/**
 * What replayed events have in common with the live ones: bodies show the current rows (architecture, Event log). Typing
 * and presence are not logged and come under a fresh id: a typist of another test may expire meanwhile.
 */
function identities(events: readonly Event[]): unknown[] {
  return events.filter(({ type }) => type !== "typing" && type !== "presence").map(identity);
}

function identity(event: Event): unknown {
  return [event.id, event.type, event.op, event.message, event.stream_ids, event.user_ids, event.streams?.length];
}

t.test("[E2] live and replayed events are the same events under the same ids", async (t) => {
  const member = await server.user("witness");
  const other = await server.user("doer");
  const followed = await Promise.all([owner, member].map((client) => follow(client, {})));
  const repeated = await Promise.all([owner, member].map((client) => client.openQueue(null)));
  const channelId = await other.createChannel("witnessed", [other, member, owner]);
  await owner.createChannel("witnessed in private", [owner, member], { invite_only: true });
  await owner.createChannel("for newcomers", [], { is_default_stream: true });
  await other.say("witnessed", "a", "@**all** first");
  await owner.say("witnessed in private", "", "private");
  await other.post("/users/me/subscriptions", { subscriptions: [{ name: "made by subscribing" }] });
  await other.delete("/users/me/subscriptions", { subscriptions: ["witnessed"] });
  const newcomer = await server.user("newcomer");
  await newcomer.post("/messages", { type: "direct", to: [member.userId, owner.userId], content: "hello" });
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "no such topic" });
  await owner.delete(`/users/${newcomer.userId}`);
  const settled = await owner.post("/messages", { type: "direct", to: [member.userId], content: "the end" });
  for (const [index, client] of [owner, member].entries()) {
    const socket = followed[index]?.socket ?? (await connect(client));
    await socket.event((event) => event.message?.id === settled.body.id);
    const queue = repeated[index] ?? (await client.openQueue([]));
    const from = queue.last_event_id;
    t.strictSame(
      identities(await client.readNow(queue)),
      identities(socket.events.filter((event) => event.id > from)),
      index === 0 ? "for an owner" : "for a member",
    );
    t.ok(socket.events.length > 10);
    t.ok(increases(socket.events));
    socket.terminate();
  }
});
