/** The bound on queues per user (S3, realtime.md): it never locks a user out. */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Queue } from "../support/client.ts";
import { connect, queueOf, until } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

const count = limits.queues_per_user_max;

async function stage(t: Test) {
  const { server, clock } = await startClockedServer(t);
  const person = await server.user("person");
  const queues: Queue[] = [];
  for (let made = 0; made < count; made++) {
    clock.advance(1);
    queues.push(await person.openQueue(["message"]));
  }
  clock.advance(1);
  const isThere = (queue: Queue | undefined) => queue !== undefined && queueOf(server, queue) !== undefined;
  return { server, clock, person, queues, isThere };
}

async function register(person: Client): Promise<void> {
  const { status, body } = await person.post("/register", { fetch_event_types: [] });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

t.test("[S3] queues_per_user_max: one more queue evicts the queue that was unread longest", async (t) => {
  const { person, queues, isThere } = await stage(t);
  t.ok(queues.every(isThere), "as many as the bound");
  await person.readNow(queues[0] as Queue);
  await register(person);
  t.notOk(isThere(queues[1]), "the first one was read after it");
  t.strictSame(queues.filter((queue) => !isThere(queue)).length, 1);
  const { status, body } = await person.getEvents(queues[1] as Queue, 0);
  t.match({ status, body }, { status: 400, body: { code: "BAD_EVENT_QUEUE_ID" } });
});

t.test("[S3] a queue with a reader outlives queues without one, however many are created at once", async (t) => {
  const { server, person, queues, isThere } = await stage(t);
  const [read] = queues as [Queue];
  const socket = await connect(person);
  socket.send({ type: "resume", queue_id: read.queue_id, last_event_id: read.last_event_id });
  await until(() => queueOf(server, read)?.state.kind === "socket");
  await Promise.all(Array.from({ length: 2 * count }, () => register(person)));
  t.ok(isThere(read));
  t.equal(queues.filter(isThere).length, 1);
  socket.close();
});

t.test("[S3] when every queue has a reader, the oldest reader is closed: 4410, or BAD_EVENT_QUEUE_ID", async (t) => {
  const { server, person, queues } = await stage(t);
  const [first, second] = queues as [Queue, Queue];
  const socket = await connect(person);
  socket.send({ type: "resume", queue_id: first.queue_id, last_event_id: first.last_event_id });
  const polls = queues.slice(1).map((queue) => person.getEvents(queue, queue.last_event_id));
  await until(() => queues.every((queue) => queueOf(server, queue)?.state.kind !== "unread"));
  await register(person);
  t.strictSame(await socket.closed, { code: 4410, reason: "queue gone: register again" });
  // The new queue has no reader, so it is evicted before those that have one.
  await register(person);
  t.not(queueOf(server, second), undefined);
  await server.stop();
  await Promise.all(polls);
});
