/**
 * GET and DELETE /events (realtime.md, Long-poll; OpenAPI get-events; behaviour 4.2): held, repeated, ended and
 * rejected polls.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Client, refusal, success } from "../support/client.ts";
import { increases, messageIds, queueOf, sayMany, startPoll, until, waitingPoll } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

function gone(queueId: string) {
  return refusal(`Bad event queue ID: ${queueId}`, "BAD_EVENT_QUEUE_ID", 400, { queue_id: queueId });
}

async function plainly(answer: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await answer;
  return { status, body };
}

t.test("[behaviour 4.2] a poll is held until the first event and returns it", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const poll = await waitingPoll(server, owner, queue, queue.last_event_id);
  const id = await owner.say("general", "held", "at last");
  const { status, body } = await poll.answer;
  t.equal(status, 200);
  t.strictSame(Object.keys(body).sort(), ["events", "msg", "result"]);
  t.strictSame(messageIds(body.events), [id]);
  t.ok(body.events[0].id > queue.last_event_id);
});

t.test("[behaviour 4.2] waiting events are returned at once, and dont_block returns an empty list", async (t) => {
  const queue = await owner.openQueue(["message"]);
  t.strictSame(
    await plainly(owner.getEvents(queue, queue.last_event_id, { dont_block: true })),
    success({ events: [] }),
  );
  const ids = [await owner.say("general", "now", "1"), await owner.say("general", "now", "2")];
  const { body } = await owner.getEvents(queue, queue.last_event_id);
  t.strictSame(messageIds(body.events), ids);
  t.ok(increases(body.events));
  t.strictSame(await owner.readNow(queue, body.events[1].id), []);
});

t.test("[behaviour 4.2] the same last_event_id returns the same events until another acknowledges them", async (t) => {
  const queue = await owner.openQueue(["message"]);
  for (const content of ["1", "2", "3"]) await owner.say("general", "again", content);
  const first = await owner.readNow(queue);
  t.equal(first.length, 3);
  t.strictSame(await owner.readNow(queue), first, "the response was lost: nothing is acknowledged yet");
  t.strictSame(await owner.readNow(queue, first[0].id), first.slice(1));
  t.strictSame(await owner.readNow(queue, first[0].id), first.slice(1));
  t.strictSame(await owner.readNow(queue, first[2].id), []);
});

t.test("[behaviour 4.2] a last_event_id below the acknowledged one is rejected, and repeats no event", async (t) => {
  const queue = await owner.openQueue(["message"]);
  for (const content of ["1", "2", "3"]) await owner.say("general", "acknowledged", content);
  const events = await owner.readNow(queue);
  t.equal((await owner.readNow(queue, events[1].id)).length, 1);
  const held = await waitingPoll(server, owner, queue, events[2].id);
  for (const older of [events[1].id, events[0].id, queue.last_event_id, 0, -1]) {
    const { status, body } = await owner.getEvents(queue, older, { dont_block: true });
    t.strictSame({ status, body }, gone(queue.queue_id), `${older} is older than ${events[2].id}`);
  }
  const id = await owner.say("general", "acknowledged", "4");
  t.strictSame(messageIds((await held.answer).body.events), [id], "the held poll continues");
});

t.test("[E2] a poll whose client hung up loses nothing: the next poll returns the events", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const poll = await waitingPoll(server, owner, queue, queue.last_event_id);
  poll.abort();
  await until(() => queueOf(server, queue)?.state.kind === "unread");
  const id = await owner.say("general", "hung up", "nobody holds");
  t.strictSame(messageIds(await owner.readNow(queue)), [id]);
});

t.test("[E2] a poll whose client hangs up at the moment of an event loses nothing", async (t) => {
  for (let round = 0; round < 20; round++) {
    const queue = await owner.openQueue(["message"]);
    const poll = await waitingPoll(server, owner, queue, queue.last_event_id);
    const said = owner.say("general", "race", String(round));
    poll.abort();
    const id = await said;
    await until(() => queueOf(server, queue)?.state.kind === "unread");
    t.strictSame(messageIds(await owner.readNow(queue)), [id]);
    await owner.delete("/events", { queue_id: queue.queue_id });
  }
});

t.test("[E2] when each poll acknowledges the last event, every event is returned once and in order", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const contents = Array.from({ length: 60 }, (_, index) => String(index));
  const sent = sayMany(owner, "general", "stream of", contents);
  const seen: { id: number; message: { id: number } }[] = [];
  while (seen.length < contents.length) {
    const { body } = await owner.getEvents(queue, seen.at(-1)?.id ?? queue.last_event_id);
    seen.push(...body.events);
  }
  t.strictSame(messageIds(seen.map((event) => ({ type: "message", ...event }))), await sent);
  t.ok(increases(seen));
  t.strictSame(await owner.readNow(queue, seen.at(-1)?.id), []);
});

t.test("[behaviour 4.2] a second poll ends the first, which returns no events", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const first = await waitingPoll(server, owner, queue, queue.last_event_id);
  const second = await waitingPoll(server, owner, queue, queue.last_event_id);
  t.strictSame(await plainly(first.answer), success({ events: [] }));
  const id = await owner.say("general", "second", "for the second");
  t.strictSame(messageIds((await second.answer).body.events), [id]);
});

t.test("[behaviour 4.2, D24] unknown queues and queues of other users give the same error", async (t) => {
  const outsider = await server.user("outsider");
  const queue = await owner.openQueue(["message"]);
  const foreign = await plainly(outsider.getEvents(queue, queue.last_event_id));
  t.strictSame(foreign, gone(queue.queue_id));
  t.strictSame(await plainly(outsider.delete("/events", { queue_id: queue.queue_id })), gone(queue.queue_id));
  const unknown = { queue_id: "0123-4567", last_event_id: -1 };
  t.strictSame(await plainly(owner.getEvents(unknown, -1)), gone("0123-4567"));
  t.strictSame(await plainly(owner.delete("/events", { queue_id: "0123-4567" })), gone("0123-4567"));
  t.match(await owner.get("/events", { last_event_id: -1 }), {
    status: 400,
    body: { msg: "Missing 'queue_id' argument" },
  });
  const named = { queue_id: queue.queue_id };
  t.match(await owner.get("/events", named), { status: 400, body: { msg: "Missing 'last_event_id' argument" } });
  for (const last of ["x", "-2", "1.5", '"7"']) {
    const refused = await owner.get("/events", { ...named, last_event_id: last });
    t.match(refused, { status: 400, body: { result: "error", code: "BAD_REQUEST" } }, last);
  }
  t.equal((await owner.readNow(queue)).length, 0, "the queue still exists");
});

t.test("[spec 5, D2] GET /events rejects requests without credentials", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const answer = await owner.anonymous().get("/events", { queue_id: queue.queue_id, last_event_id: -1 });
  t.match(answer, { status: 401, body: { result: "error", code: "UNAUTHORIZED" } });
});

t.test("[behaviour 4.2] DELETE /events deletes the queue and ends its held poll", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const poll = await waitingPoll(server, owner, queue, queue.last_event_id);
  t.strictSame(await plainly(owner.delete("/events", { queue_id: queue.queue_id })), success());
  t.strictSame(await plainly(poll.answer), gone(queue.queue_id));
  t.strictSame(await plainly(owner.getEvents(queue, queue.last_event_id)), gone(queue.queue_id));
  t.strictSame(await plainly(owner.delete("/events", { queue_id: queue.queue_id })), gone(queue.queue_id));
});

t.test("[behaviour 4.2] a stop answers a held poll with a heartbeat, and the client resumes from its id", async (t) => {
  const before = await startTestServer(t);
  const queue = await before.owner.openQueue(["message"]);
  const poll = await waitingPoll(before, before.owner, queue, queue.last_event_id);
  await before.stop();
  const { status, body } = await poll.answer;
  t.equal(status, 200);
  t.strictSame(
    body.events,
    [{ type: "heartbeat", id: body.events[0]?.id }],
    "a blocking poll never returns an empty list",
  );
  const heartbeat = body.events[0].id;
  t.ok(heartbeat > queue.last_event_id);

  const after = await startTestServer(t, { dataDir: before.dataDir });
  const again = new Client(after.url, before.owner.account);
  const id = await again.say("general", "resumed", "after the restart");
  const older = await again.readNow(queue, queue.last_event_id);
  t.strictSame(messageIds(older), [id], "[E2] acknowledgements are not kept across a restart: the log decides");
  const events = await again.readNow(queue, heartbeat);
  t.strictSame(messageIds(events), [id]);
  t.ok(events[0].id > heartbeat, "[E1] ids increase across the restart");
});

t.test(
  "[E2] a stop during a poll that is still reading the log returns no partial result: the client polls again and misses nothing",
  async (t) => {
    const before = await startTestServer(t);
    const quiet = await before.user("quiet");
    const queue = await quiet.openQueue(["message"]);
    await before.owner.createChannel("loud", [before.owner]);
    const { body } = await before.owner.post("/messages", { type: "direct", to: [quiet.userId], content: "waits" });
    // Later rows are for other recipients, so that reading the log takes more than one pass.
    const contents = Array.from({ length: limits.replay_rows_per_pass_max * 2 }, (_, index) => String(index));
    await sayMany(before.owner, "loud", "past", contents);
    const poll = await waitingPoll(before, quiet, queue, queue.last_event_id);
    await before.stop();
    t.match(await plainly(poll.answer), { status: 503, body: { code: "SERVER_SHUTTING_DOWN" } });

    const after = await startTestServer(t, { dataDir: before.dataDir });
    const again = new Client(after.url, quiet.account);
    t.strictSame(messageIds(await again.readNow(queue)), [body.id]);
  },
);

t.test("[spec 4.20] deactivating a user deletes their queues and ends the polls held on them", async (t) => {
  const leaver = await server.user("leaver");
  const queue = await leaver.openQueue(["message"]);
  const poll = await waitingPoll(server, leaver, queue, queue.last_event_id);
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame(await plainly(poll.answer), gone(queue.queue_id));
  t.match(await leaver.getEvents(queue, queue.last_event_id), { status: 401, body: { code: "USER_DEACTIVATED" } });
});

t.test("[E2] last_event_id and state belong to the same moment: each message is in one of them", async (t) => {
  await owner.createChannel("busy", [owner]);
  const contents = Array.from({ length: 120 }, (_, index) => String(index));
  const sent = sayMany(owner, "busy", "flow", contents);
  const opened = await Promise.all(
    Array.from({ length: 12 }, () => owner.register({ event_types: ["message"], narrow: [["channel", "busy"]] })),
  );
  const ids = await sent;
  for (const queue of opened) {
    const later = messageIds(await owner.readNow(queue));
    t.strictSame(
      later,
      ids.filter((id) => id > Number(queue["max_message_id"])),
    );
  }
});

t.test("[E4] an offline reader gets the latest typing event of each typist, and nothing twice", async (t) => {
  const typist = await server.user("typist");
  const other = await server.user("other typist");
  const queue = await owner.openQueue(["typing"]);
  for (const op of ["start", "stop", "start"]) await typist.post("/typing", { op, to: [owner.userId] });
  await other.post("/typing", { op: "start", to: [owner.userId] });
  const events = await owner.readNow(queue);
  const found = events.map((event) => [event.sender.user_id, event.op]);
  t.strictSame(found, [
    [typist.userId, "start"],
    [other.userId, "start"],
  ]);
  t.ok(increases(events));
  t.strictSame(await owner.readNow(queue), [], "volatile: given once");
  t.strictSame(await owner.readNow(queue, events[1].id), []);
});

t.test("[S3, E4] a queue keeps at most 200 volatile events for its next reader and evicts the oldest", async (t) => {
  const typist = await server.user("many topics");
  const channelId = await owner.createChannel("many topics", [owner, typist]);
  const capabilities = { notification_settings_null: true, stream_typing_notifications: true };
  const queue = await owner.openQueue(["typing"], { client_capabilities: capabilities });
  const topics = Array.from({ length: limits.queue_volatile_events_max + 1 }, (_, index) => `topic ${index}`);
  for (const topic of topics) {
    await typist.post("/typing", { type: "channel", op: "start", stream_id: channelId, topic });
  }
  const events = await owner.readNow(queue);
  const found = events.map((event) => event.topic);
  t.strictSame(found, topics.slice(1));
  t.ok(increases(events));
});

t.test("[E1] typing events kept for the next poll and messages are returned in order of their ids", async (t) => {
  const typist = await server.user("order");
  const queue = await owner.openQueue(["typing", "message"]);
  await typist.post("/typing", { op: "start", to: [owner.userId] });
  await typist.post("/messages", { type: "direct", to: [owner.userId], content: "typed" });
  await typist.post("/typing", { op: "stop", to: [owner.userId] });
  const events = await owner.readNow(queue);
  t.strictSame(events.map((event) => event.type).sort(), ["message", "typing"]);
  t.ok(increases(events));
  t.strictSame(await owner.readNow(queue, events[1].id), []);
});

/** Queues with thousands of log rows behind them: one queue reads all of them, the other none. */
async function longPast() {
  const reader = await server.user("long reader");
  const quiet = await server.user("quiet reader");
  await owner.createChannel("long", [owner, reader]);
  const full = await reader.openQueue(["message", "typing"]);
  const empty = await quiet.openQueue(["message"]);
  // A queue that only receives what the reader writes, and nothing of the other tests.
  const another = await quiet.openQueue(["message"], { narrow: [["sender", reader.account?.email ?? ""]] });
  const contents = Array.from({ length: 4100 }, (_, index) => String(index));
  const ids = await sayMany(owner, "long", "past", contents);
  await owner.post("/typing", { op: "start", to: [reader.userId] });
  return { reader, quiet, full, empty, another, ids };
}

t.test("[S3, E1] a poll over thousands of log rows", async (t) => {
  const { reader, quiet, full, empty, another, ids } = await longPast();

  t.test("returns them in full responses, in order, with the volatile events at the end", async (t) => {
    const seen = [];
    let answers = 0;
    for (let last = full.last_event_id; ; last = seen.at(-1).id) {
      const events = await reader.readNow(full, last);
      if (events.length === 0) break;
      seen.push(...events);
      answers++;
    }
    t.ok(answers > 1, "a response is bounded");
    t.strictSame(messageIds(seen), ids);
    t.ok(increases(seen));
    t.equal(seen.at(-1).type, "typing");
  });

  t.test("for other recipients does not lose concurrent polls that read it", async (t) => {
    const first = await waitingPoll(server, quiet, empty, empty.last_event_id);
    const second = await waitingPoll(server, quiet, empty, empty.last_event_id);
    second.abort();
    const last = await waitingPoll(server, quiet, empty, empty.last_event_id);
    const { body } = await owner.post("/messages", { type: "direct", to: [quiet.userId], content: "wake up" });
    t.strictSame(messageIds((await last.answer).body.events), [body.id]);
    t.strictSame(await plainly(first.answer), success({ events: [] }));
  });

  t.test("for other recipients answers every one of several polls that arrive at once", async (t) => {
    const polls = [0, 1, 2].map(() => startPoll(quiet, another, another.last_event_id));
    const { body } = await reader.post("/messages", {
      type: "direct",
      to: [quiet.userId],
      content: "for one of you",
    });
    const answers = await Promise.all(polls.map(({ answer }) => answer));
    const given = answers.map((answer) => messageIds(answer.body.events).filter((id) => id === body.id).length);
    t.ok(Math.max(...given) === 1, "and the message is returned");
  });
});
