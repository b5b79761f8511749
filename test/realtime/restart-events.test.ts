/**
 * `restart` events (OpenAPI, /events): each queue that survives a restart gets one, in order, and gets it again until
 * it is acknowledged.
 */
import t from "tap";
import { featureLevel, serverVersion } from "../../schemas/server.ts";
import { Client, type Event, type Queue } from "../support/client.ts";
import { resume } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { restart } from "../support/restart.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const received = { type: "restart", zulip_version: serverVersion, zulip_feature_level: featureLevel };

async function restartsIn(client: Client, queue: Queue): Promise<Event[]> {
  return (await client.readNow(queue)).filter((event: Event) => event.type === "restart");
}

t.test("after each restart a queue gets one restart event, before any later event", async (t) => {
  const first = await startTestServer(t, { dataDir: temporaryFolder(t) });
  const person = await first.user("person");
  const queue = await person.openQueue(["restart", "message"]);
  const deaf = await person.openQueue(["message"]);
  const before = await first.owner.post("/messages", { type: "direct", to: [person.userId], content: "before" });
  const second = await restart(t, first);
  const again = second.as(person);
  const after = await second
    .as(first.owner)
    .post("/messages", { type: "direct", to: [person.userId], content: "after" });
  const events = await again.readNow(queue);
  t.match(events, [{ message: { id: before.body.id } }, received, { message: { id: after.body.id } }]);
  t.strictSame(Object.keys(events[1]).sort(), [
    "id",
    "server_generation",
    "type",
    "zulip_feature_level",
    "zulip_merge_base",
    "zulip_version",
  ]);
  const ids = events.map((event: Event) => event.id);
  t.strictSame(
    ids,
    ids.toSorted((a: number, b: number) => a - b),
    "[E1] ids increase",
  );
  t.strictSame(await again.readNow(queue), events, "[E2] it is repeated until it is acknowledged");
  t.strictSame((await again.getEvents(queue, ids[1])).body.events.length, 1, "and not again afterwards");
  t.notOk(
    (await again.readNow(deaf)).some((event: Event) => event.type === "restart"),
    "a queue that did not request it",
  );
  const fresh = await again.openQueue(["restart", "message"]);
  t.strictSame(await restartsIn(again, fresh), [], "a queue created after the restart");
  const third = await restart(t, second.server);
  t.equal(
    (await restartsIn(third.as(person), { ...queue, last_event_id: ids[2] })).length,
    1,
    "the next restart is reported, too",
  );
  t.equal((await restartsIn(third.as(person), fresh)).length, 1);
});

t.test("a socket that resumes gets the event once; server_generation is the server's start time", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startClockedServer(t, { dataDir });
  const person = await first.server.user("person");
  const queue = await person.openQueue(["restart"]);
  await first.server.stop();
  const startedAt = Date.UTC(2026, 6, 1);
  const second = await startClockedServer(t, { dataDir }, startedAt);
  const again = new Client(second.server.url, person.account);
  const { socket } = await resume(again, queue, queue.last_event_id);
  const event = await socket.event(({ type }) => type === "restart");
  t.match(event, { ...received, server_generation: startedAt / 1000 });
  socket.terminate();
  const later = await resume(again, queue, event.id);
  t.match(await later.socket.ask({ type: "ping" }), { type: "pong" });
  t.strictSame(later.socket.events, []);
  later.socket.terminate();
});
