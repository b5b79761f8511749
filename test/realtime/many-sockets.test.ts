/**
 * Many sockets (E2, E3): one in a hundred stalls while messages are sent, then all are disconnected at once.
 * Every receiver gets exactly what was posted, without a gap or a duplicate, whichever sockets stall and whenever they
 * resume.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client, Queue } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { increases, messageIds, queueOf, resume, sayMany } from "../support/realtime.ts";
import { lacksDescriptors, mismatched, Receiver } from "../support/receivers.ts";
import { startTestServer } from "../support/server.ts";

const sockets = Number(process.env["SOCKETS"] ?? 2000);
const people = 40;
const socketsEach = sockets / people;
const stalledSockets = sockets / 100;

const skip = lacksDescriptors(sockets + stalledSockets);
// Readers that are paused answer no ping.
const server = await startTestServer(t, { environment: { SOCKET_HEARTBEAT_S: String(limits.socket_heartbeat_s_max) } });
const { owner } = server;
const members = await Promise.all(Array.from({ length: people }, (_, index) => server.user(`member ${index}`)));

/** Number of concurrent handshakes and registrations: as many as the listen backlog queues without loss. */
const atOnce = 250;

async function openAll(receivers: readonly Receiver[]): Promise<void> {
  for (let start = 0; start < receivers.length; start += atOnce) {
    await Promise.all(receivers.slice(start, start + atOnce).map((receiver) => receiver.open()));
  }
}

function everybody(): Receiver[] {
  return members.flatMap((client) => Array.from({ length: socketsEach }, () => new Receiver(client)));
}

function texts(count: number, filler = ""): string[] {
  return Array.from({ length: count }, (_, index) => `${index} ${filler}`);
}

/** 27 kB in one event: three-byte characters, close to the maximum message length. */
const large = "\u6f22".repeat(9000);
/** Far more large messages than the kernel's buffers and the server's bound can hold together. */
const largeMax = 2000;

/** A socket that follows a queue and has stopped reading. */
async function stalled(client: Client, queue: Queue): Promise<RawSocket> {
  const raw = await RawSocket.of(client);
  raw.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await raw.frame((frame) => frame.ref === "resume");
  raw.pause();
  return raw;
}

t.test(
  "[E3] thousands of sockets receive every event while 1 % of them do not read; those resume without a gap",
  { skip },
  async (t) => {
    const sleeper = await server.user("sleeper");
    await owner.createChannel("load", [...members, sleeper]);
    // The messages that fill the stalled readers' buffers have few recipients, so that no memory is needed for
    // thousands of copies.
    await owner.createChannel("large", [sleeper]);
    const receivers = everybody();
    await openAll(receivers);
    const queues = await Promise.all(Array.from({ length: stalledSockets }, () => sleeper.openQueue(["message"])));
    const asleep = await Promise.all(queues.map((queue) => stalled(sleeper, queue)));
    const isRead = (queue: Queue) => queueOf(server, queue)?.state.kind === "socket";

    const toAll: number[] = [];
    const toSleepers: number[] = [];
    let isSubscribed = true;
    const post = async (content: string) => {
      const id = await owner.say("load", "flow", content);
      toAll.push(id);
      if (isSubscribed) toSleepers.push(id);
    };
    const setSubscribed = async (wanted: boolean) => {
      const principals = [sleeper.userId];
      const quietly = { principals, send_new_subscription_messages: false };
      if (wanted) await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "load" }], ...quietly });
      else await owner.delete("/users/me/subscriptions", { subscriptions: ["load"], principals });
      isSubscribed = wanted;
    };
    await post("all are there");
    while (queues.some(isRead) && toSleepers.length < largeMax) {
      toSleepers.push(...(await sayMany(owner, "large", "fill", texts(16, large))));
      await post("between large ones");
    }
    t.ok(toSleepers.length < largeMax, `all of them were closed after ${toSleepers.length} messages`);
    // While they are offline, a channel is left and joined again.
    await setSubscribed(false);
    await post("while they are offline");
    await setSubscribed(true);
    await post("in again");

    await Promise.all(receivers.map((receiver) => receiver.got(toAll.at(-1) ?? 0)));
    t.strictSame(mismatched(receivers, toAll), [], `${sockets} sockets, ${toAll.length} messages each`);
    const found = receivers.filter(({ ended }) => ended !== null);
    t.strictSame(found, [], "no socket that reads was closed");

    const last = toSleepers.at(-1) ?? 0;
    for (const [index, raw] of asleep.entries()) {
      raw.resume();
      const closed = await raw.closed;
      const { events } = raw;
      const queue = queues[index] ?? { queue_id: "", last_event_id: 0 };
      const { socket } = await resume(sleeper, queue, events.at(-1)?.id ?? queue.last_event_id);
      await socket.event((event) => event.message.id === last);
      const all = [...events, ...socket.events];
      const given = messageIds(all);
      const isComplete = given.join() === toSleepers.join() && increases(all);
      if (closed.code !== 4508 || !isComplete) t.fail(`stalled ${index}: ${closed.code}, ${given.length} messages`);
      socket.terminate();
    }
    t.pass(`${stalledSockets} stalled sockets were closed with 4508, and have ${toSleepers.length} messages each`);
    for (const receiver of receivers) receiver.drop();
  },
);

t.test(
  "[E2] thousands of sockets disconnected at once all resume without a gap or a duplicate",
  { skip },
  async (t) => {
    await owner.createChannel("storm", members);
    const receivers = everybody();
    await openAll(receivers);
    const ids = await sayMany(owner, "storm", "t", texts(10));
    // Disconnected in the middle: some have the latest messages, some do not.
    await receivers[0]?.got(ids.at(-1) ?? 0);
    for (const receiver of receivers) receiver.drop();
    ids.push(...(await sayMany(owner, "storm", "t", texts(20))));
    const during = sayMany(owner, "storm", "t", texts(20));
    await Promise.all(receivers.map((receiver) => receiver.open()));
    ids.push(...(await during), await owner.say("storm", "t", "the last"));
    await Promise.all(receivers.map((receiver) => receiver.got(ids.at(-1) ?? 0)));
    t.strictSame(mismatched(receivers, ids), [], `${sockets} sockets, ${ids.length} messages each`);
    for (const receiver of receivers) receiver.drop();
  },
);
