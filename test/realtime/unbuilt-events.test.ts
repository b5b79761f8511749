/**
 * An event that cannot be built is a bug of the server. Whoever would have got it is told that there is a gap and registers
 * anew (E2: never a guess); nobody else notices, and the process goes on. The doors to make such an event are white-box.
 */
import t from "tap";
import type { EventRecord } from "../../schemas/records.ts";
import { personOf } from "../support/conversation.ts";
import {
  connect,
  follow,
  getEvents,
  holdPoll,
  hubOf,
  messageIds,
  openQueue,
  readNow,
  realmOf,
} from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

/** Looks like any other until it is encoded. */
function brokenEvent(userIds: readonly number[]): EventRecord {
  const body = Object.defineProperty({}, "op", {
    enumerable: true,
    get() {
      throw new Error("cannot be built");
    },
  });
  const position = realmOf(server).dispatcher.takePosition();
  return { position, at: 0, type: "drafts", audience: { to: "users", ids: userIds }, body };
}

t.test("[E2] live: its readers are told of the gap, sockets by 4410, polls by BAD_EVENT_QUEUE_ID", async (t) => {
  const [hit, polling, other] = [
    await personOf(server, "hit"),
    await personOf(server, "polling"),
    await personOf(server, "other"),
  ];
  const [{ socket: broken }, { socket: whole }] = [await follow(hit, {}), await follow(other, {})];
  const queue = await openQueue(polling, null);
  const held = await holdPoll(server, polling, queue, queue.last_event_id);
  const hub = hubOf(server);
  hub.stage({ record: brokenEvent([hit.userId, polling.userId]), replaces: null });
  const next: EventRecord = { ...brokenEvent([other.userId]), body: { op: "add", drafts: [] } };
  hub.stage({ record: next, replaces: null });
  hub.publish();
  t.equal((await broken.closed).code, 4410);
  t.match((await held.answer).body, { result: "error", code: "BAD_EVENT_QUEUE_ID" });
  t.match(await whole.event(({ type }) => type === "drafts"), { op: "add", id: next.position }, "others go on");
  whole.terminate();
});

t.test("[E4] live: a volatile one is no gap, so its readers stay", async (t) => {
  const { socket } = await follow(owner, {});
  const hub = hubOf(server);
  hub.stage({ record: brokenEvent([owner.userId]), replaces: "typing:x" });
  hub.publish();
  const id = await owner.say("general", "t", "after it");
  t.equal((await socket.event(({ type }) => type === "message")).message.id, id);
  socket.terminate();
});

t.test("[E2] repeated: whoever resumes over it is told of the gap, and the process goes on", async (t) => {
  const reader = await personOf(server, "reader");
  const [bySocket, byPoll] = [await openQueue(reader, null), await openQueue(reader, null)];
  const { environment } = realmOf(server);
  const draft = { type: "private", to: [reader.userId], topic: "", content: "a", timestamp: 1 };
  const added = await reader.post("/drafts", { drafts: JSON.stringify([draft]) });
  t.equal(added.status, 200);
  const [last] = environment.rows("events", { reverse: true, limit: 1 });
  if (last === undefined) throw new Error("no event");
  t.equal(last.row.type, "drafts");
  const broken = { ...last.row, type: "update_message", body: {} };
  environment.transaction(() => environment.put("events", last.key, broken));
  t.match((await getEvents(reader, byPoll, byPoll.last_event_id)).body, { code: "BAD_EVENT_QUEUE_ID" });
  const socket = await connect(reader);
  socket.send({ type: "resume", queue_id: bySocket.queue_id, last_event_id: bySocket.last_event_id });
  t.equal((await socket.closed).code, 4410);
  const again = await openQueue(reader, ["message"]);
  const id = await owner.say("general", "t", "on");
  t.strictSame(messageIds(await readNow(reader, again)), [id]);
});
