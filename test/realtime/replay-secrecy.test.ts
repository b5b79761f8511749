/**
 * Visibility changes while a client catches up (S1, E2): it resumes from an old position in small steps, or pauses in
 * the middle of a replay, while its channel is hidden and shown again. It never receives what it may not see at that
 * moment, and in the end it has everything that it may see.
 */
import fc from "fast-check";
import t from "tap";
import type { Client, Event } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { increases, queueOf, resume, sayMany, until } from "../support/realtime.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;

/** 27 kB in one event: three-byte characters, close to the maximum message length. */
const large = "\u6f22".repeat(9000);

const quietly = { send_new_subscription_messages: false };

function expel(channel: string, person: Client) {
  return owner.delete("/users/me/subscriptions", { subscriptions: [channel], principals: [person.userId] });
}

function invite(channel: string, person: Client) {
  const subscriptions = [{ name: channel }];
  return owner.post("/users/me/subscriptions", { subscriptions, principals: [person.userId], ...quietly });
}

/** Emits every kind of event that concerns a channel, each with the word in it. */
async function announce(channelId: number, word: string): Promise<void> {
  const said = await owner.say(channelId, word, `${word} said`);
  await owner.patch(`/messages/${said}`, { content: `${word} edited` });
  await owner.post(`/messages/${said}/reactions`, { emoji_name: "tada" });
  await owner.patch(`/messages/${said}`, { topic: `${word} moved` });
  await owner.patch(`/streams/${channelId}`, { description: `${word} described` });
  const gone = await owner.say(channelId, word, `${word} gone`);
  await owner.delete(`/messages/${gone}`);
}

t.test("[S1] a replay that waits for its client continues with what the client may see at that moment", async (t) => {
  const reader = await server.user("waiting reader");
  const queue = await reader.openQueue(null);
  // More than the kernel buffers: the server waits before it reaches the channel.
  const filler = Array.from({ length: 260 }, (_, index) => `${index} ${large}`);
  await owner.createChannel("filling", [owner, reader]);
  await sayMany(owner, "filling", "t", filler);
  const channelId = await owner.createChannel("in the middle", [owner, reader], { invite_only: true });
  await announce(channelId, "secret");
  const raw = await RawSocket.of(reader);
  raw.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await raw.frame((frame) => frame.ref === "resume");
  raw.pause();
  await until(() => queueOf(server, queue)?.state.kind === "socket");
  // When this response arrives, the replay has progressed as far as it can.
  await owner.say("filling", "t", "meanwhile");
  await expel("in the middle", reader);
  await announce(channelId, "secret afterwards");
  const last = await owner.say("filling", "t", "the end");
  raw.resume();
  await raw.frame(() => raw.events.some((event) => event.message?.id === last));
  const { events } = raw;
  t.equal(events.filter((event) => event.message?.content.includes(large.slice(0, 100))).length, filler.length);
  t.ok(increases(events));
  const leaks = events.filter((event) => /secret/.test(JSON.stringify(event)));
  const found = leaks.map((event) => [event.type, event.op]);
  t.strictSame(found, [], "nothing of the channel except its removal");
  const aboutChannel = (event: Event) => event.stream_id === channelId || event.message?.stream_id === channelId;
  t.strictSame(events.filter(aboutChannel), []);
  const seen = (await reader.readNow(queue, events.at(-1)?.id)).filter((event) => /secret/.test(JSON.stringify(event)));
  t.strictSame(seen, []);
  raw.destroy();
});

type Step = "announce" | "say" | "expel" | "invite" | "close" | "open" | "read";

/** A client that catches up in steps, with what it must and must not have by then. */
async function play(name: string, steps: readonly (readonly [Step, number])[]) {
  const reader = await server.user(name);
  const word = `word-${name}`;
  const channelId = await owner.createChannel(name, [owner, reader], { invite_only: true });
  const queue = await reader.openQueue(null);
  let isIn = true;
  let isPrivate = true;
  let last = queue.last_event_id;
  const due: number[] = [];
  const leaks: Event[] = [];
  const execute: Readonly<Record<Step, (count: number) => Promise<unknown>>> = {
    announce: () => announce(channelId, word),
    say: async () => {
      const id = await owner.say(channelId, word, word);
      if (isIn) due.push(id);
    },
    expel: async () => {
      await expel(name, reader);
      isIn = false;
    },
    invite: async () => {
      await invite(name, reader);
      isIn = true;
    },
    close: async () => {
      await owner.patch(`/streams/${channelId}`, { is_private: true });
      isPrivate = true;
    },
    open: async () => {
      await owner.patch(`/streams/${channelId}`, { is_private: false });
      isPrivate = false;
    },
    // Reads a few events at a time from an old position on.
    read: async (count) => {
      const { socket } = await resume(reader, queue, last);
      const fence = await owner.post("/messages", { type: "direct", to: [reader.userId], content: "fence" });
      await socket.event((event) => event.message?.id === fence.body.id);
      const got = socket.events.slice(0, count);
      socket.terminate();
      last = got.at(-1)?.id ?? last;
      if (!isIn && isPrivate) leaks.push(...socket.events.filter((event) => JSON.stringify(event).includes(word)));
    },
  };
  for (const [step, count] of steps) await execute[step](count);
  if (!isIn) await execute.invite(0);
  const all: Event[] = [];
  for (let from = queue.last_event_id; ; from = all.at(-1).id) {
    const events = await reader.readNow(queue, from);
    if (events.length === 0) break;
    all.push(...events);
  }
  const said = all.filter((event) => event.message?.stream_id === channelId && event.message.content === word);
  return { leaks, due, said: said.map((event) => event.message.id), isAscending: increases(all) };
}

t.test(
  "[S1, E2] a client catching up while a channel is removed and restored never sees hidden events, and misses none in the end",
  async (t) => {
    const seed = seedOf(t);
    const step = fc.constantFrom<Step>(
      "announce",
      "say",
      "say",
      "expel",
      "invite",
      "close",
      "open",
      "read",
      "read",
      "read",
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.integer({ min: 1, max: 6 })), { minLength: 10, maxLength: 25 }),
        async (steps) => {
          runs++;
          const { leaks, due, said, isAscending } = await play(`catching up ${runs}`, steps);
          if (leaks.length > 0) throw new Error(`leaked: ${JSON.stringify(leaks)}`);
          if (said.join() !== due.join()) throw new Error(`due ${due}, given ${said}`);
          if (!isAscending) throw new Error("ids are not ascending");
        },
      ),
      { seed, numRuns: 8, endOnFailure: true },
    );
    t.pass(`${runs} plays`);
  },
);
