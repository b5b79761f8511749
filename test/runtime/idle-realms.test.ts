/**
 * An organization that nobody uses is closed after a while, and opened with the next request (D254). Clients must not
 * see it: queues, answers and timers are as before.
 */
import { truncateSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { heapMib } from "../support/heap.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { connect, startPoll, until } from "../support/realtime.ts";
import { type ClockedServer, firstMoment, startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer, type Teardown, type TestServer } from "../support/server.ts";

const idleMs = 10 * 60_000;
const longEnough = idleMs + limits.realm_idle_check_ms;
const environment = { REALM_IDLE_MS: String(idleMs) };

function start(t: Teardown): Promise<ClockedServer> {
  return startClockedServer(t, { environment });
}

function openCount(server: TestServer): number {
  return [...server.running.host.openRealms].length;
}

const checks_max = 5;
/** What holds a closed organization may be an answer that is still under way, as a slow machine has. */
const collections_max = 1000;

/** Lets time pass until the realm is closed, and background work of its opening before that. */
async function close({ server, clock }: ClockedServer): Promise<void> {
  for (let check = 0; check < checks_max && openCount(server) > 0; check++) {
    for (const realm of server.running.host.openRealms) {
      await realm.files.idle();
      // What waits runs, and what was written reaches the store, in real time.
      await until(() => realm.dispatcher.queueLength === 0 && realm.isStored);
    }
    clock.advance(check === 0 ? longEnough : limits.realm_idle_check_ms);
  }
  if (openCount(server) > 0) throw new Error("it is still open");
}

t.test("[D254] an idle organization is closed after REALM_IDLE_MS, and serves the next request", async (t) => {
  const stage = await start(t);
  const { server, clock } = stage;
  const id = await server.owner.say("general", "plans", "before");
  clock.advance(idleMs - limits.realm_idle_check_ms);
  t.equal(openCount(server), 1, "not before its time");
  await close(stage);
  const { status, body } = await server.owner.get(`/messages/${id}`);
  t.match([status, body], [200, { message: { id } }]);
  t.equal(openCount(server), 1, "it was opened again");
  t.ok((await server.owner.say("general", "plans", "after")) > id);
  await close(stage);
  t.equal((await server.owner.get("/users/me")).status, 200, "and again");
});

t.test("[D254, E2] an unread queue continues where it was, without a restart event", async (t) => {
  const stage = await start(t);
  const { server } = stage;
  const queue = await server.owner.openQueue(["message", "restart"]);
  const read = await server.owner.say("general", "plans", "read");
  const [first] = await server.owner.readNow(queue);
  const unread = await server.owner.say("general", "plans", "unread");
  await close(stage);
  const later = await server.owner.say("general", "plans", "later");
  const events = await server.owner.readNow(queue, first.id);
  const found = [first, ...events].map(({ type, message }) => [type, message?.id]);
  t.match(
    found,
    [read, unread, later].map((id) => ["message", id]),
  );
  const ids = events.map(({ id }) => id);
  t.ok(
    ids.every((id, index) => id > (ids[index - 1] ?? first.id)),
    "[E1]",
  );
  await server.stop();
  const second = await startClockedServer(t, { dataDir: server.dataDir, environment }, stage.clock.now());
  const { owner } = second.server;
  const restarts = async () => (await owner.readNow(queue, ids.at(-1))).filter(({ type }) => type === "restart");
  const announced = await restarts();
  t.equal(announced.length, 1, "a restart is announced");
  await close(second);
  t.strictSame(await restarts(), announced, "[D213] and repeated until it is acknowledged, by the same event");
});

t.test("[D254] a queue that nobody reads expires at its time, its organization closed or not", async (t) => {
  const stage = await startClockedServer(t, { environment: { ...environment, IDLE_QUEUE_TIMEOUT_MS: "3600000" } });
  const { server, clock } = stage;
  const queue = await server.owner.openQueue(["message"]);
  await close(stage);
  clock.advance(1800_000);
  t.equal((await server.owner.get("/users/me")).status, 200);
  clock.advance(1800_000 - longEnough + 60_000);
  t.equal((await server.owner.get("/users/me")).status, 200);
  clock.advance(61_000);
  t.equal((await server.owner.get("/users/me")).status, 200, "the turn that removes it has run");
  t.equal((await server.owner.getEvents(queue, queue.last_event_id)).body.code, "BAD_EVENT_QUEUE_ID");
});

t.test("[D254] a held poll and a socket keep their organization open", async (t) => {
  const stage = await start(t);
  const { server, clock } = stage;
  const socket = await connect(server.owner);
  clock.advance(2 * longEnough);
  t.equal(openCount(server), 1, "a socket");
  socket.close();
  await until(() => {
    clock.advance(1);
    return [...server.running.host.openRealms].every(({ use }) => use.unusedMs() > 0);
  });
  const queue = await server.owner.openQueue(["message"]);
  const held = startPoll(server.owner, queue, queue.last_event_id);
  await until(() => [...server.running.host.openRealms].every(({ use }) => use.unusedMs() === 0));
  for (let passed = 0; passed < 40_000; passed += 1000) clock.advance(1000);
  t.equal(openCount(server), 1, "a held poll");
  await server.owner.say("general", "plans", "an end");
  await held.answer;
  await close(stage);
  t.pass("closed when both are gone");
});

t.test("[D254, M8] a timer that is due soon keeps its organization open, a later one opens it in time", async (t) => {
  const stage = await start(t);
  const { server, clock } = stage;
  const schedule = async (afterMs: number) => {
    const at = Math.round((clock.now() + afterMs) / 1000);
    const params = {
      type: "direct",
      to: [server.owner.userId],
      content: `at ${at}`,
      scheduled_delivery_timestamp: at,
    };
    t.equal((await server.owner.post("/scheduled_messages", params)).status, 200);
  };
  const newest = async () => {
    const { body } = await server.owner.get("/messages", { anchor: "newest", num_before: 1, num_after: 0 });
    return (body.messages as { content: string; timestamp: number }[]).at(-1);
  };
  await schedule(2 * idleMs - 60_000);
  clock.advance(longEnough);
  t.equal(openCount(server), 1, "due soon");
  clock.advance(idleMs);
  const dueAt = (clock.now() + 3 * 3600_000) / 1000;
  await schedule(3 * 3600_000);
  await close(stage);
  clock.advance(2 * 3600_000 - longEnough);
  t.equal(openCount(server), 0, "the timer is far away");
  clock.advance(3600_000 + limits.timer_sleep_ms_max);
  t.equal(openCount(server), 1, "opened by its timer");
  await until(() => [...server.running.host.openRealms].every(({ dispatcher }) => dispatcher.queueLength === 0));
  const fired = await newest();
  t.match(fired?.content, `at ${Math.round(dueAt)}`);
  t.ok((fired?.timestamp ?? 0) <= dueAt + limits.timer_sleep_ms_max / 1000 + 1, "late by at most one look");
});

t.test("[D254] requests that arrive while idle organizations are closed are answered", async (t) => {
  const stage = await start(t);
  const { server, clock } = stage;
  for (let round = 0; round < 5; round++) {
    for (const realm of server.running.host.openRealms) await realm.files.idle();
    const before = server.owner.get("/users/me");
    clock.advance(longEnough);
    const after = server.owner.get("/users/me");
    t.strictSame([(await before).status, (await after).status], [200, 200]);
    t.equal(openCount(server), 1);
    await close(stage);
    const both = [server.owner.say("general", "plans", "one"), server.owner.say("general", "plans", "two")];
    t.ok((await Promise.all(both)).every((id) => id > 0));
    t.equal(openCount(server), 1, "opened once");
  }
});

t.test("[D254, M5] an organization that was damaged while it was closed gets the declared error", async (t) => {
  const stage = await start(t);
  const { server } = stage;
  await close(stage);
  truncateSync(join(realmFolder(server.dataDir, 1), "data.mdb"), 3 * 4096);
  const { status, body } = await server.owner.get("/users/me");
  t.match([status, body], [500, { code: "INTERNAL_SERVER_ERROR" }]);
});

t.test("[D254, S3] nothing holds a closed organization in memory", async (t) => {
  const stage = await start(t);
  const { server } = stage;
  const closed: WeakRef<object>[] = [];
  for (let round = 0; round < 20; round++) {
    const queue = await server.owner.openQueue(null);
    await server.owner.say("general", "plans", `round ${round}`);
    await server.owner.getEvents(queue, queue.last_event_id, { dont_block: true });
    for (const realm of server.running.host.openRealms) closed.push(new WeakRef(realm), new WeakRef(realm.lmdb));
    await close(stage);
  }
  const left = () => closed.filter((one) => one.deref() !== undefined).length;
  for (let collection = 0; collection < collections_max && left() > 2; collection++) {
    await new Promise((resume) => setTimeout(resume, 5));
    heapMib();
  }
  t.ok(left() <= 2, `${left()} of ${closed.length} are left`);
});

t.test("[D254] an idle server wakes at most two times a second for its timers", async (t) => {
  const counted = new (class extends ManualClock {
    wakes = 0;
    override after(milliseconds: number, callback: () => void): () => void {
      return super.after(milliseconds, () => {
        this.wakes++;
        callback();
      });
    }
  })(firstMoment);
  const server = await startTestServer(t, { clock: counted });
  t.teardown(() => counted.release());
  await server.owner.say("general", "plans", "the last one");
  counted.advance(60_000);
  counted.wakes = 0;
  counted.advance(3600_000);
  t.ok(counted.wakes <= 1.1 * 3600, `${counted.wakes} wake-ups in an hour`);
  await server.stop();
});
