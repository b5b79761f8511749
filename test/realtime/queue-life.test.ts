/**
 * Heartbeats, idle queues, a pruned log and restarts (realtime.md, Long-poll; behaviour 4.2; E1, E2), with a clock that
 * the test advances.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Queue, refusal } from "../support/client.ts";
import { connect, increases, messageIds, queueOf, resume, until, waitingPoll } from "../support/realtime.ts";
import { firstMoment, startClockedServer } from "../support/realtime-clock.ts";
import { type TestServer, temporaryFolder } from "../support/server.ts";

const minute = 60_000;
/** The interval at which idle queues are collected. */
const collectorPause = minute;

function bad(queue: Queue) {
  return refusal(`Bad event queue ID: ${queue.queue_id}`, "BAD_EVENT_QUEUE_ID", 400, { queue_id: queue.queue_id });
}

t.test("a heartbeat ends a quiet poll between 45 and 50 s, with its own id", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const queue = await owner.openQueue(["message"]);
  let last = queue.last_event_id;
  for (let round = 0; round < 3; round++) {
    const poll = await waitingPoll(server, owner, queue, last);
    clock.advance(limits.heartbeat_ms_min - 1);
    t.equal(queueOf(server, queue)?.state.kind, "poll", "still held just before 45 s");
    clock.advance(limits.heartbeat_ms_max - limits.heartbeat_ms_min + 101);
    t.equal(queueOf(server, queue)?.state.kind, "unread", "answered by 50 s plus a tick");
    const { events } = (await poll.answer).body;
    t.strictSame(events, [{ type: "heartbeat", id: events[0].id }], "whatever types were requested");
    t.ok(events[0].id > last);
    last = events[0].id;
  }
  const id = await owner.say("general", "after", "the heartbeats");
  const [event] = await owner.readNow(queue, last);
  t.equal(event.message.id, id);
  t.ok(event.id > last, "[E1] ids increase over heartbeats");
});

t.test("heartbeats of many queues are spread over the window", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const queues = await Promise.all(Array.from({ length: 20 }, () => owner.openQueue([])));
  const polls = await Promise.all(queues.map((queue) => waitingPoll(server, owner, queue, queue.last_event_id)));
  clock.advance((limits.heartbeat_ms_min + limits.heartbeat_ms_max) / 2);
  const ended = queues.filter((queue) => queueOf(server, queue)?.state.kind === "unread").length;
  t.ok(ended > 0 && ended < queues.length, `${ended} of ${queues.length} after half of the window`);
  clock.advance(limits.heartbeat_ms_max);
  for (const poll of polls) t.equal((await poll.answer).body.events[0].type, "heartbeat");
});

t.test("a queue that nobody reads is deleted after IDLE_QUEUE_TIMEOUT_MS, not before", async (t) => {
  const timeout = 10 * minute;
  const environment = { IDLE_QUEUE_TIMEOUT_MS: String(timeout) };
  const { server, clock } = await startClockedServer(t, { environment });
  const { owner } = server;
  const state = await owner.register({ fetch_event_types: [] });
  t.equal(state["idle_queue_timeout_secs"], 600);
  const idle = await owner.openQueue([]);
  const longer = await owner.openQueue([], { queue_lifespan_secs: 30 * 60 });
  clock.advance(timeout - 1);
  t.strictSame(await owner.readNow(idle), [], "still there just before, and reading restarts its timeout");
  clock.advance(timeout - 1);
  t.ok(queueOf(server, idle));
  clock.advance(collectorPause + 1);
  await until(() => queueOf(server, idle) === undefined);
  const { status, body } = await owner.getEvents(idle, idle.last_event_id);
  t.strictSame({ status, body }, bad(idle));
  t.ok(queueOf(server, longer), "queue_lifespan_secs extends it");
  clock.advance(30 * minute + collectorPause);
  await until(() => queueOf(server, longer) === undefined);
});

t.test("a queue that is read stays alive, whichever way it is read", async (t) => {
  const timeout = 10 * minute;
  const environment = { IDLE_QUEUE_TIMEOUT_MS: String(timeout) };
  const { server, clock } = await startClockedServer(t, { environment });
  const { owner } = server;
  const [impatient, held, pushed] = [
    await owner.openQueue(["message"]),
    await owner.openQueue(["message"]),
    await owner.openQueue(["message"]),
  ];
  const { socket } = await resume(owner, pushed, pushed.last_event_id);
  t.teardown(() => socket.terminate());
  let last = held.last_event_id;
  let seen = impatient.last_event_id;
  for (let step = 0; step < 4; step++) {
    const poll = await waitingPoll(server, owner, held, last);
    await owner.say("general", "alive", String(step));
    last = (await poll.answer).body.events[0].id;
    const waiting = await owner.readNow(impatient, seen);
    t.equal(waiting.length, 1);
    seen = waiting[0].id;
    clock.advance(timeout - minute);
  }
  clock.advance(collectorPause - 1);
  for (const queue of [impatient, held, pushed]) t.ok(queueOf(server, queue));
});

/** Prunes everything older than the guaranteed retention, as for a log that is too large. */
function pruneLog(server: TestServer): void {
  const realm = server.realm;
  // One slice at a time.
  realm.dispatcher.maintain(() => {
    while (realm.log.prune(realm.view.now, Number.MAX_SAFE_INTEGER) > 0);
  });
}

t.test("[E2] a reader behind the pruned part of the log gets a gap, other readers continue", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const behind = await owner.openQueue(["message"]);
  const seenFirst = await owner.openQueue(["message"]);
  await owner.say("general", "old", "1");
  const [event] = await owner.readNow(seenFirst);
  await owner.say("general", "old", "2");
  const upToDate = await owner.openQueue(["message"]);
  clock.advance(limits.event_log_kept_ms_min + 1);
  const recent = await owner.say("general", "new", "3");
  pruneLog(server);
  for (const [queue, after] of [
    [behind, behind.last_event_id],
    [seenFirst, event.id],
  ] as const) {
    const { status, body } = await owner.getEvents(queue, after, { dont_block: true });
    t.strictSame({ status, body }, bad(queue));
    const { socket, reply } = await resume(owner, queue, after);
    t.match(reply, { type: "reply", result: "error", code: "BAD_EVENT_QUEUE_ID", queue_id: queue.queue_id });
    socket.terminate();
  }
  t.strictSame(messageIds(await owner.readNow(upToDate)), [recent]);
});

t.test("[E2] a pending volatile event becomes a gap once the log is pruned past it", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const queue = await owner.openQueue(["message"]);
  t.strictSame(await owner.readNow(queue), [], "the reader has everything");
  await owner.say("general", "missed", "1");
  clock.advance(limits.event_log_kept_ms_min + 1);
  await owner.say("general", "kept", "2");
  pruneLog(server);
  const { status, body } = await owner.getEvents(queue, queue.last_event_id, { dont_block: true });
  t.strictSame({ status, body }, bad(queue), "never a guess");
});

t.test("[E2, S3] a replay longer than one pass is complete, and ends with 4410 when the log is pruned", async (t) => {
  const { server, clock } = await startClockedServer(t);
  const { owner } = server;
  const queue = await owner.openQueue(["realm_user"]);
  const ids = await server.users("newcomer", limits.replay_rows_per_pass_max + 50);
  const whole = await resume(owner, queue, queue.last_event_id);
  await whole.socket.event((event) => event.person.user_id === ids.at(-1));
  const received = whole.socket.events.map((event) => event.person.user_id);
  t.strictSame(received, ids, "over two passes");
  whole.socket.terminate();
  await until(() => queueOf(server, queue)?.state.kind === "unread");

  const socket = await connect(owner);
  socket.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  await until(() => queueOf(server, queue)?.state.kind === "socket");
  // Between two passes: nothing has been awaited since the first.
  clock.advance(limits.event_log_kept_ms_min + 1);
  pruneLog(server);
  t.strictSame(await socket.closed, { code: 4410, reason: "queue gone: register again" });
  const given = socket.events.map((event) => event.person.user_id);
  t.ok(given.length > 0 && given.length < ids.length, `${given.length} of ${ids.length} before the gap`);
  t.strictSame(given, ids.slice(0, given.length), "the events before the gap are complete, and nothing follows it");
});

t.test("queues survive a restart and continue without a gap or a duplicate", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const queue = await first.server.owner.openQueue(["message"]);
  const read = await first.server.owner.say("general", "before", "read");
  const seen = await first.server.owner.readNow(queue);
  const unread = await first.server.owner.say("general", "before", "not read");
  await first.server.stop();

  const second = await startClockedServer(t, { dataDir }, firstMoment + minute);
  const { owner } = second.server;
  t.strictSame(messageIds(seen), [read]);
  const after = await owner.say("general", "after", "the restart");
  const later = await owner.readNow(queue, seen[0].id);
  t.strictSame(messageIds(later), [unread, after]);
  t.ok(increases([...seen, ...later]), "[E1] ids increase across the restart");
  const last = later[1].id;
  t.strictSame(await owner.readNow(queue, last), []);
  const poll = await waitingPoll(second.server, owner, queue, last);
  const held = await owner.say("general", "after", "held");
  const [event] = (await poll.answer).body.events;
  t.equal(event.message.id, held);
  const { socket } = await resume(owner, queue, seen[0].id);
  await socket.event(({ message }) => message?.id === held);
  t.strictSame(messageIds(socket.events), [unread, after, held], "and a socket can read them again");
  socket.terminate();
});

t.test("server_generation is the start time in seconds", async (t) => {
  const dataDir = temporaryFolder(t);
  const generation = async ({ server }: { readonly server: TestServer }) =>
    (await server.owner.register({ fetch_event_types: ["realm"] }))["server_generation"];
  const first = await startClockedServer(t, { dataDir });
  t.equal(await generation(first), firstMoment / 1000);
  first.clock.advance(minute);
  t.equal(await generation(first), firstMoment / 1000, "it does not change while the server runs");
  await first.server.stop();
  const second = await startClockedServer(t, { dataDir }, firstMoment + 5 * minute);
  t.equal(await generation(second), (firstMoment + 5 * minute) / 1000);
});

t.test("a queue without any event survives two restarts", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const queue = await first.server.owner.openQueue(["message"]);
  await first.server.stop();
  const second = await startClockedServer(t, { dataDir }, firstMoment + minute);
  t.strictSame(await second.server.owner.readNow(queue), []);
  await second.server.stop();
  const third = await startClockedServer(t, { dataDir }, firstMoment + 2 * minute);
  const { owner } = third.server;
  t.strictSame(await owner.readNow(queue), []);
  const id = await owner.say("general", "first", "event of all");
  t.strictSame(messageIds(await owner.readNow(queue)), [id]);
});

t.test("[E1] ids taken by volatile events without a disk write are not reused after a restart", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const typist = await first.server.user("typist");
  const queue = await first.server.owner.openQueue(["typing", "message"]);
  await typist.post("/typing", { op: "start", to: [2] });
  const [typing] = await first.server.owner.readNow(queue);
  const poll = await waitingPoll(first.server, first.server.owner, queue, typing.id);
  first.clock.advance(limits.heartbeat_ms_max + 100);
  const [heartbeat] = (await poll.answer).body.events;
  await first.server.stop();

  const second = await startClockedServer(t, { dataDir }, firstMoment + 10 * minute);
  const again = await second.server.owner.openQueue(["typing"]);
  t.ok(typing.id < heartbeat.id);
  t.ok(again.last_event_id >= heartbeat.id);
  await second.server.owner.say("general", "after", "the restart");
  const [message] = await second.server.owner.readNow(queue, heartbeat.id);
  t.ok(message.id > heartbeat.id);
});

t.test("the options of a queue survive a restart", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const client = first.server.owner;
  const channelId = await client.createChannel("kept", [client]);
  const options = { narrow: [["channel", "kept"]], apply_markdown: true, all_public_streams: true };
  const queue = await client.openQueue(["message"], options);
  await first.server.stop();

  const { server } = await startClockedServer(t, { dataDir }, firstMoment + minute);
  await server.owner.say("general", "x", "not in the narrow");
  await server.owner.say("kept", "x", "**bold**");
  const events = await server.owner.readNow(queue);
  const found = events.map((event) => [event.message.stream_id, event.message.content]);
  t.strictSame(found, [[channelId, "<p><strong>bold</strong></p>"]]);
});

t.test("[behaviour 4.1] a stored queue whose narrow uses full-text search is deleted at start-up", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const queue = await first.server.owner.openQueue(["message"]);
  const other = await first.server.owner.openQueue(["message"]);
  const record = first.server.realm.projections.queues.get(queue.queue_id);
  if (record === undefined) throw new Error("the queue has no row");
  first.server.write("queues", queue.queue_id, {
    ...record,
    options: { ...record.options, narrow: [["search", "x"]] },
  });
  await first.server.stop();

  const { server } = await startClockedServer(t, { dataDir }, firstMoment + minute);
  const gone = await server.owner.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  t.match(gone, { status: 400, body: { code: "BAD_EVENT_QUEUE_ID", queue_id: queue.queue_id } });
  const id = await server.owner.say("general", "x", "others go on");
  t.strictSame(messageIds(await server.owner.readNow(other)), [id]);
  t.equal(server.realm.projections.queues.get(queue.queue_id), undefined, "its row is deleted, too");
});

t.test("a stop answers held polls, and their clients resume afterwards", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const queue = await first.server.owner.openQueue(["message"]);
  const poll = await waitingPoll(first.server, first.server.owner, queue, queue.last_event_id);
  await first.server.stop();
  const { status, body } = await poll.answer;
  const events = [{ type: "heartbeat", id: body.events[0]?.id }];
  t.strictSame({ status, body }, { status: 200, body: { result: "success", msg: "", events } }, "never an empty list");
  const { server } = await startClockedServer(t, { dataDir }, firstMoment + minute);
  const id = await server.owner.say("general", "again", "here");
  t.strictSame(messageIds(await server.owner.readNow(queue)), [id]);
});
