/**
 * Readers that stop reading (E3, E4; realtime.md, How a slow reader is handled): they are closed at the bound, do not
 * delay others and lose no event. Readers that keep reading are never closed, however much they request.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { askAdmin, sampleIn } from "../support/admin.ts";
import type { Event, Queue } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, increases, messageIds, queueOf, resume, sayMany, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

// Readers that are paused answer no ping.
const server = await startTestServer(t, { environment: { SOCKET_HEARTBEAT_S: String(limits.socket_heartbeat_s_max) } });
const { owner } = server;

/** 27 kB in one event: three-byte characters, close to the maximum message length. */
const filler = "\u6f22".repeat(9000);
/** More messages than the kernel's buffers and the server's bound hold together; the loop below ends far earlier. */
const messages_max = 2000;

/** A socket that follows a queue and has stopped reading. */
async function stalled(queue: Queue): Promise<RawSocket> {
  const raw = await RawSocket.of(owner);
  raw.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await raw.frame((frame) => frame.ref === "resume");
  raw.pause();
  return raw;
}

/** Number of messages posted between two looks at the reader. */
const step = 8;

/** Posts until the server has closed the reader. @returns ids of the posted messages */
async function fill(
  queue: Queue,
  afterEach: (ids: number[]) => Promise<void> = async () => undefined,
): Promise<number[]> {
  const ids: number[] = [];
  while (queueOf(server, queue)?.state.kind === "socket" && ids.length < messages_max) {
    const contents = Array.from({ length: step }, (_, index) => `${ids.length + index} ${filler}`);
    const posted = await sayMany(owner, "general", "fill", contents);
    ids.push(...posted);
    await afterEach(posted);
  }
  return ids;
}

t.test(
  "[E3] a reader that stops reading is closed at the bound, others receive every event meanwhile, and its resume is complete",
  async (t) => {
    const queue = await owner.openQueue(["message"]);
    const raw = await stalled(queue);
    const { socket: healthy } = await follow(owner, { event_types: ["message"] });
    const ids = await fill(queue, async (posted) => {
      await healthy.event((event) => event.message.id === posted.at(-1));
    });
    t.ok(ids.length < messages_max, `closed after ${ids.length} messages`);
    t.strictSame(messageIds(healthy.events), ids);
    t.strictSame(raw.events, [], "it has read nothing so far");

    const missed = await owner.say("general", "fill", "after the end");
    raw.resume();
    t.strictSame(await raw.closed, { code: 4508, reason: "slow reader: reconnect and resume" });
    const seen: Event[] = raw.events;
    t.ok(seen.length > 0 && seen.length < ids.length + 1);
    const { socket } = await resume(owner, queue, seen.at(-1).id);
    await socket.event((event) => event.message.id === missed);
    t.strictSame(messageIds([...seen, ...socket.events]), [...ids, missed]);
    t.ok(increases([...seen, ...socket.events]));
    socket.terminate();
    healthy.terminate();
  },
);

/** Bytes that wait at the server for clients that do not read. */
async function unsentBytes(): Promise<number> {
  return sampleIn((await askAdmin(server.dataDir, "/metrics")).body, "colloquy_unsent_bytes") ?? Number.NaN;
}

t.test("[E4] typing behind a full buffer is coalesced: the latest event of each, after the messages", async (t) => {
  const typists = await Promise.all([server.user("first typist"), server.user("second typist")]);
  const queue = await owner.openQueue(["message", "typing"]);
  const raw = await stalled(queue);
  // More than the kernel takes, at however small a pace, and less than the bound of 1 MiB.
  const ids: number[] = [];
  while ((await unsentBytes()) < limits.socket_buffer_bytes_soft_max / 2 && ids.length < messages_max) {
    ids.push(await owner.say("general", "fill", `${ids.length} ${filler}`));
  }
  for (const typist of typists) {
    for (const op of ["start", "stop", "start", "stop", "start"])
      await typist.post("/typing", { op, to: [owner.userId] });
  }
  await typists[1]?.post("/typing", { op: "stop", to: [owner.userId] });
  const last = await owner.say("general", "fill", "the last");
  t.equal(queueOf(server, queue)?.state.kind, "socket", "it is slow, but not above the bound");
  t.ok((await unsentBytes()) > 0, "and has read nothing meanwhile");
  raw.resume();
  await raw.frame(() => raw.events.filter((event) => event.type === "typing").length === typists.length);
  await raw.frame(() => messageIds(raw.events).at(-1) === last);
  t.strictSame(messageIds(raw.events), [...ids, last], "durable events are never coalesced");
  const found = raw.events.filter((event) => event.type === "typing").map((event) => [event.sender.user_id, event.op]);
  t.strictSame(found, [
    [typists[0]?.userId, "start"],
    [typists[1]?.userId, "stop"],
  ]);
  t.ok(increases(raw.events), "[E1] ids increase although the typing events waited");
  const id = await owner.say("general", "fill", "and on");
  await raw.frame(() => messageIds(raw.events).at(-1) === id);
  raw.destroy();
});

t.test("[E3] a reader that reads is not closed, however much is replayed", async (t) => {
  const reader = await server.user("big reader");
  await owner.createChannel("big", [owner, reader]);
  const queue = await reader.openQueue(["message"]);
  const contents = Array.from({ length: 300 }, (_, index) => `${index} ${filler}`);
  const ids = await sayMany(owner, "big", "fill", contents);
  const { socket } = await resume(reader, queue, queue.last_event_id);
  const live = await owner.say("big", "fill", "meanwhile");
  const isEnded = socket.closed.then(({ code }) => code);
  const isThere = socket.event((event) => event.message.id === live).then(() => "there");
  t.equal(await Promise.race([isEnded, isThere]), "there");
  t.strictSame(messageIds(socket.events), [...ids, live]);
  t.ok(increases(socket.events));

  const asking = await connect(reader);
  const params = { anchor: "newest", num_before: 280, num_after: 0, narrow: [["channel", "big"]] };
  const pending = asking.ask({ type: "call", method: "GET", path: "/messages", params });
  const answer = await Promise.race([pending, asking.closed]);
  t.match(answer, { type: "reply", result: "success" }, "nor by a response of many megabytes");
  t.equal(answer.messages?.length, 280);
  t.equal((await asking.ask({ type: "ping" })).type, "pong");
  asking.terminate();
  socket.terminate();
});

t.test("[E3, S3] a poll response is bounded in characters; the next polls return the rest", async (t) => {
  const reader = await server.user("polling reader");
  await owner.createChannel("polled", [owner, reader]);
  const queue = await reader.openQueue(["message"]);
  const contents = Array.from({ length: 300 }, (_, index) => `${index} ${filler}`);
  const ids = await sayMany(owner, "polled", "fill", contents);
  const seen: Event[] = [];
  let answers = 0;
  for (let last = queue.last_event_id; seen.length < ids.length; last = seen.at(-1).id) {
    const events = await reader.readNow(queue, last);
    if (events.length === 0) break;
    const longest = Math.max(...events.map((event) => JSON.stringify(event).length));
    t.ok(JSON.stringify(events).length <= limits.replay_characters_per_answer_max + longest + 2);
    seen.push(...events);
    answers++;
  }
  t.ok(answers > 1);
  t.strictSame(messageIds(seen), ids);
  t.ok(increases(seen));
});

t.test("[E3] a replay whose client stops reading waits, and continues where it stopped", async (t) => {
  const reader = await server.user("pausing reader");
  await owner.createChannel("paused", [owner, reader]);
  const queue = await reader.openQueue(["message"]);
  const contents = Array.from({ length: 260 }, (_, index) => `${index} ${filler}`);
  const ids = await sayMany(owner, "paused", "fill", contents);
  const raw = await RawSocket.of(reader);
  raw.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await raw.frame((frame) => frame.ref === "resume");
  raw.pause();
  await until(() => queueOf(server, queue)?.state.kind === "socket");
  ids.push(await owner.say("paused", "fill", "while it waits"));
  raw.resume();
  await raw.frame(() => raw.events.length >= ids.length);
  t.strictSame(messageIds(raw.events), ids);
  t.ok(increases(raw.events));
  raw.destroy();
});
