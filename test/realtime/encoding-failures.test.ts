/**
 * An event that cannot be built is a bug of the server. Its readers get a gap and register again (E2: an explicit gap
 * instead of a wrong event); other readers are unaffected, and the process continues. Creating such an event is
 * white-box.
 */
import t from "tap";
import type { EventRecord } from "../../schemas/runtime.ts";
import { connect, follow, hubOf, messageIds, waitingPoll } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

/** Valid until it is encoded. */
function brokenEvent(userIds: readonly number[]): EventRecord<"drafts"> {
  const body = Object.defineProperty({ op: "remove", draft_id: 1 } as const, "op", {
    enumerable: true,
    get() {
      throw new Error("cannot be built");
    },
  });
  const position = server.realm.dispatcher.takePosition();
  return { position, at: 0, type: "drafts", audience: { to: "users", ids: userIds }, body };
}

t.test("[E2] readers of an event that cannot be encoded get a gap, 4410 or BAD_EVENT_QUEUE_ID", async (t) => {
  const [hit, polling, other] = [await server.user("hit"), await server.user("polling"), await server.user("other")];
  const [{ socket: broken }, { socket: whole }] = [await follow(hit, {}), await follow(other, {})];
  const queue = await polling.openQueue(null);
  const held = await waitingPoll(server, polling, queue, queue.last_event_id);
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

t.test("[E4] a volatile event that cannot be encoded is no gap, so its readers stay", async (t) => {
  const { socket } = await follow(owner, {});
  const hub = hubOf(server);
  hub.stage({ record: brokenEvent([owner.userId]), replaces: "typing:x" });
  hub.publish();
  const id = await owner.say("general", "t", "after it");
  t.equal((await socket.event(({ type }) => type === "message")).message.id, id);
  socket.terminate();
});

t.test("[E2] a resume over an event that cannot be encoded gets a gap, and the process continues", async (t) => {
  const reader = await server.user("reader");
  const [bySocket, byPoll] = [await reader.openQueue(null), await reader.openQueue(null)];
  const { lmdb } = server.realm;
  const draft = { type: "private", to: [reader.userId], topic: "", content: "a", timestamp: 1 };
  const added = await reader.post("/drafts", { drafts: JSON.stringify([draft]) });
  t.equal(added.status, 200);
  const [last] = lmdb.rows("events", { reverse: true, limit: 1 });
  if (last === undefined) throw new Error("no event");
  t.equal(last.row.type, "drafts");
  // No version has written such a row.
  const broken = { ...last.row, type: "update_message", body: {} } as unknown as EventRecord;
  lmdb.transaction(() => lmdb.put("events", last.key, broken));
  t.match((await reader.getEvents(byPoll, byPoll.last_event_id)).body, { code: "BAD_EVENT_QUEUE_ID" });
  const socket = await connect(reader);
  socket.send({ type: "resume", queue_id: bySocket.queue_id, last_event_id: bySocket.last_event_id });
  t.equal((await socket.closed).code, 4410);
  const again = await reader.openQueue(["message"]);
  const id = await owner.say("general", "t", "on");
  t.strictSame(messageIds(await reader.readNow(again)), [id]);
  // The stop of a test's server checks that the log holds what schemas/events.ts declares.
  lmdb.transaction(() => lmdb.remove("events", last.key));
});
