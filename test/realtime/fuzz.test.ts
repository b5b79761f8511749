/**
 * A reader polls, hangs up, connects and is disconnected at random while messages are sent and memberships change (E1,
 * E2, S1). It misses no event, gets none twice, and gets none from outside its subscription periods. Seeds that once
 * failed stay in the list.
 */
import t from "tap";
import type { Client, Event, Queue } from "../support/client.ts";
import { increases, messageIds, resume, startPoll, type WaitingPoll } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import type { Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;

const stepsPerSeed = 120;
const seeds = [1, 2, 3, 4, 5];

/** Pseudo-random numbers below 1, determined by the seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Reading = { kind: "none" } | { kind: "poll"; poll: WaitingPoll } | { kind: "socket"; socket: Socket };

/** One client's view of its queue: the events it received, in order, and the id it would acknowledge next. */
class Reader {
  readonly seen: Event[] = [];
  /** Number of events per delivery path. A run in which a path was never used proves nothing about that path. */
  readonly counts = { now: 0, held: 0, socket: 0, cut: 0 };
  readonly #client: Client;
  readonly #queue: Queue;
  #reading: Reading = { kind: "none" };

  constructor(client: Client, queue: Queue) {
    this.#client = client;
    this.#queue = queue;
  }

  get #last(): number {
    return this.seen.at(-1)?.id ?? this.#queue.last_event_id;
  }

  /** Ends the current reader. Events received before that count. */
  async #leave(): Promise<void> {
    const reading = this.#reading;
    this.#reading = { kind: "none" };
    if (reading.kind === "poll") {
      reading.poll.abort();
      this.counts.cut++;
    } else if (reading.kind === "socket") {
      reading.socket.terminate();
      this.counts.socket += reading.socket.events.length;
      this.seen.push(...reading.socket.events);
    }
  }

  async readNow(): Promise<void> {
    await this.#leave();
    const events = await this.#client.readNow(this.#queue, this.#last);
    this.counts.now += events.length;
    this.seen.push(...events);
  }

  /** Starts a poll, which is held unless events are waiting. It may reach the server after the reader's next action. */
  async poll(): Promise<void> {
    await this.#leave();
    this.#reading = { kind: "poll", poll: startPoll(this.#client, this.#queue, this.#last) };
  }

  /** Waits for the poll's response; an event must be on its way. */
  async takeAnswer(): Promise<void> {
    const reading = this.#reading;
    if (reading.kind !== "poll") return;
    this.#reading = { kind: "none" };
    const { events } = (await reading.poll.answer).body;
    this.counts.held += events.length;
    this.seen.push(...events);
  }

  async connect(): Promise<void> {
    await this.#leave();
    const { socket } = await resume(this.#client, this.#queue, this.#last);
    this.#reading = { kind: "socket", socket };
  }

  async finish(): Promise<void> {
    do await this.readNow();
    while ((await this.#client.readNow(this.#queue, this.#last)).length > 0);
  }
}

interface Said {
  readonly id: number;
  readonly place: string;
}

async function play(seed: number) {
  const random = randomFrom(seed);
  const client = await server.user(`fuzz${seed}`);
  const places = { open: `open ${seed}`, closed: `closed ${seed}` };
  await owner.createChannel(places.open, [owner, client]);
  await owner.createChannel(places.closed, [owner, client], { invite_only: true });
  const queue = await client.openQueue(["message", "subscription"]);
  const reader = new Reader(client, queue);
  const isIn = { open: true, closed: true };
  const due: Said[] = [];
  let posts: Promise<void>[] = [];

  const post = async (place: keyof typeof places | "direct") => {
    const params =
      place === "direct"
        ? { type: "direct", to: [client.userId], content: "fuzz" }
        : { type: "channel", to: places[place], topic: "fuzz", content: "fuzz" };
    const { body } = await owner.post("/messages", params);
    if (place === "direct" || isIn[place]) due.push({ id: body.id, place });
  };
  const toggle = async (place: keyof typeof places) => {
    await Promise.all(posts);
    posts = [];
    const principals = [client.userId];
    if (isIn[place]) await owner.delete("/users/me/subscriptions", { subscriptions: [places[place]], principals });
    else await owner.post("/users/me/subscriptions", { subscriptions: [{ name: places[place] }], principals });
    isIn[place] = !isIn[place];
  };
  const actions: readonly (() => Promise<void> | void)[] = [
    ...Array.from({ length: 5 }, () => () => void posts.push(post("open"))),
    ...Array.from({ length: 4 }, () => () => void posts.push(post("closed"))),
    ...Array.from({ length: 2 }, () => () => void posts.push(post("direct"))),
    () => toggle("open"),
    () => toggle("closed"),
    () => reader.readNow(),
    () => reader.poll(),
    () => reader.connect(),
    async () => {
      posts.push(post("direct"));
      await reader.takeAnswer();
    },
  ];
  for (let step = 0; step < stepsPerSeed; step++) await actions[Math.floor(random() * actions.length)]?.();
  await Promise.all(posts);
  for (const place of ["open", "closed"] as const) if (!isIn[place]) await toggle(place);
  await reader.finish();
  return { client, queue, reader, due: due.sort((a, b) => a.id - b.id) };
}

/** The notification bot messages users whom others subscribed; those messages are not part of the scenario. */
function isPlayed({ message }: Event): boolean {
  return message === undefined || message.sender_id === owner.userId;
}

const totals = { now: 0, held: 0, socket: 0, cut: 0 };

for (const seed of seeds) {
  t.test(
    `[E2] seed ${seed}: a random reader receives every event of every subscription period once, in order`,
    async (t) => {
      const { client, queue, reader, due } = await play(seed);
      const ids = due.map(({ id }) => id);
      const given = messageIds(reader.seen.filter(isPlayed));
      t.ok(increases(reader.seen), "[E1] in order, without duplicates");
      const found = given.filter((id) => !ids.includes(id));
      t.strictSame(found, [], "nothing from outside the subscription periods");
      // A message written in private and not read before the reader was removed may be hidden afterwards: only such
      // messages may be missing.
      const missing = due.filter(({ id }) => !given.includes(id));
      const shown = missing.filter(({ place }) => place !== "closed");
      t.strictSame(shown, []);
      // Polls do not repeat what they have acknowledged; a socket resumes from any position that the log still has.
      const { socket } = await resume(client, queue, queue.last_event_id);
      const { body } = await owner.post("/messages", { type: "direct", to: [client.userId], content: "the end" });
      await socket.event((event) => event.message?.id === body.id);
      const again = messageIds(socket.events.filter(isPlayed));
      t.strictSame(again, [...ids, body.id], "back in both channels, every message can be read again");
      socket.terminate();
      for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += reader.counts[key];
    },
  );
}

t.test("the seeds above used every delivery path", async (t) => {
  for (const [way, count] of Object.entries(totals)) t.ok(count > 0, `${way}: ${count}`);
});
