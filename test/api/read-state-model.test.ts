/**
 * Read state against a naive model (architecture, Read state): one row per person and message, as nobody could afford it, and
 * random histories of what people do. What the server says of unread messages and flags, in a fresh state and by events, is
 * what the model says.
 */
import fc from "fast-check";
import t from "tap";
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import type { Client } from "../support/client.ts";
import { createChannel, Follower, personOf, realmOf } from "../support/conversation.ts";
import { Mirror, mirroredTypes } from "../support/mirror.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const people = await Promise.all(["ada", "bob", "cyd"].map((name) => personOf(server, name)));
const names = ["ada 0", "bob 0", "cyd 0"];
const topics = ["soup", "Bread", ""];

interface Row {
  isReceived: boolean;
  isRead: boolean;
  isStarred: boolean;
}

interface Message {
  readonly id: number;
  readonly sender: number;
  readonly channel: number | null;
  readonly topic: string;
  readonly people: readonly number[];
  readonly mentions: readonly number[];
  readonly isForAll: boolean;
}

type Flag = "read" | "starred";

/** One row per person and message; people and channels by index. */
class Model {
  readonly channelIds: readonly number[];
  readonly messages: Message[] = [];
  readonly rows = people.map(() => new Map<number, Row>());
  /** Everybody is in every channel at first. */
  readonly subscribed = people.map(() => new Set([0, 1, 2]));
  readonly muted = people.map(() => new Set<number>());
  readonly policies = people.map(() => new Map<string, number>());
  readonly inactive = new Set<number>();

  constructor(channelIds: readonly number[]) {
    this.channelIds = channelIds;
  }

  /** The last channel is private, with protected history. */
  isPrivate(channel: number): boolean {
    return channel === this.channelIds.length - 1;
  }

  canRead(person: number, message: Message): boolean {
    if (message.channel === null) return message.people.includes(person);
    if (!this.isPrivate(message.channel)) return true;
    return this.subscribed[person]?.has(message.channel) === true && this.#row(person, message.id)?.isReceived === true;
  }

  #row(person: number, id: number): Row | undefined {
    return this.rows[person]?.get(id);
  }

  sent(message: Message, isReadBySender: boolean): void {
    this.messages.push(message);
    people.forEach((_, person) => {
      const receives =
        message.channel === null
          ? message.people.includes(person)
          : this.subscribed[person]?.has(message.channel) === true;
      if (!receives || this.inactive.has(person)) return;
      const isRead = (message.sender === person && isReadBySender) || this.muted[person]?.has(message.sender) === true;
      this.rows[person]?.set(message.id, { isReceived: true, isRead, isStarred: false });
    });
  }

  flagged(person: number, op: "add" | "remove", flag: Flag, ids: readonly number[]): void {
    for (const message of this.messages.filter(({ id }) => ids.includes(id))) {
      const isIn = message.channel === null || this.subscribed[person]?.has(message.channel) === true;
      if (flag === "read" && op === "remove" && !isIn) continue;
      const row = this.#row(person, message.id) ?? { isReceived: false, isRead: true, isStarred: false };
      if (flag === "read") row.isRead = op === "add";
      else row.isStarred = op === "add";
      this.rows[person]?.set(message.id, row);
    }
  }

  read(person: number, test: (message: Message) => boolean): void {
    for (const message of this.messages.filter(test)) {
      const row = this.#row(person, message.id);
      if (row !== undefined) row.isRead = true;
    }
  }

  hasReceivedIn(person: number, channel: number, topic: string): boolean {
    return this.messages.some(
      (message) =>
        message.channel === channel && message.topic === topic && this.#row(person, message.id)?.isReceived === true,
    );
  }

  flagsOf(person: number, message: Message): string[] {
    const row = this.#row(person, message.id);
    const flags: string[] = [];
    if (row?.isRead !== false) flags.push("read");
    if (row?.isStarred === true) flags.push("starred");
    if (message.mentions.includes(person)) flags.push("mentioned");
    const isCalled = message.isForAll && row?.isReceived === true;
    if (isCalled) flags.push("stream_wildcard_mentioned");
    if (row?.isReceived !== true) flags.push("historical");
    if (isCalled) flags.push("wildcard_mentioned");
    return flags;
  }

  #isMuted(person: number, { channel, topic }: Message): boolean {
    return channel !== null && this.policies[person]?.get(`${channel}:${topic}`) === 1;
  }

  unreadOf(person: number) {
    const unread = this.messages.filter((message) => this.#row(person, message.id)?.isRead === false);
    const ids = (messages: readonly Message[]) => messages.map(({ id }) => id);
    const directs = new Map<string, Message[]>();
    const places = new Map<string, Message[]>();
    for (const message of unread) {
      const groups = message.channel === null ? directs : places;
      const key = message.channel === null ? message.people.join() : `${message.channel}:${message.topic}`;
      groups.set(key, [...(groups.get(key) ?? []), message]);
    }
    const userIds = (message: Message | undefined) =>
      (message?.people ?? []).map((index) => people[index]?.userId ?? 0);
    const own = people[person]?.userId ?? 0;
    return {
      count: unread.filter((message) => !this.#isMuted(person, message)).length,
      pms: [...directs.values()]
        .filter(([first]) => userIds(first).length <= 2)
        .map((messages) => {
          const other = userIds(messages[0]).find((id) => id !== own) ?? own;
          return { other_user_id: other, sender_id: other, unread_message_ids: ids(messages) };
        })
        .sort((a, b) => a.other_user_id - b.other_user_id),
      huddles: [...directs.values()]
        .filter(([first]) => userIds(first).length > 2)
        .map((messages) => ({ user_ids_string: userIds(messages[0]).join(), unread_message_ids: ids(messages) })),
      streams: [...places.values()]
        .map((messages) => ({
          stream_id: this.channelIds[messages[0]?.channel ?? 0] ?? 0,
          topic: messages[0]?.topic ?? "",
          unread_message_ids: ids(messages),
        }))
        .sort((a, b) => a.stream_id - b.stream_id || (a.topic.toLowerCase() < b.topic.toLowerCase() ? -1 : 1)),
      mentions: ids(
        unread.filter(
          (message) =>
            message.mentions.includes(person) ||
            (message.isForAll && this.#row(person, message.id)?.isReceived === true && !this.#isMuted(person, message)),
        ),
      ),
      old_unreads_missing: false,
    };
  }
}

const person = fc.nat({ max: people.length - 1 });
/** Most happens in few places, so that much happens to one message. */
const channel = fc.constantFrom(0, 0, 0, 1, 2);
const topic = fc.constantFrom("soup", "soup", ...topics);
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 4 });

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      person,
      channel,
      topic,
      mention: fc.option(person),
      isForAll: fc.boolean(),
      isRead: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("direct" as const),
      person,
      others: fc.subarray([0, 1, 2]),
      isRead: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("flag" as const),
      person,
      op: fc.constantFrom("add" as const, "remove" as const),
      flag: fc.constantFrom<Flag>("read", "read", "read", "starred"),
      picks,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("mark topic" as const), person, channel, topic }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mark channel" as const), person, channel }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mark all" as const), person }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("turn" as const), person, channel }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mute" as const), person, other: person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mute topic" as const), person, channel, topic }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("away" as const), person }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("burst" as const), person, channel, topic }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type StepOf<K extends Step["kind"]> = Extract<Step, { kind: K }>;

/** More than a mark looks at while somebody waits. */
const burstSize = limits.read_rows_inline_max + 10;
let made = 0;

class World {
  readonly model: Model;
  readonly channelNames: readonly string[];

  private constructor(channelIds: readonly number[], channelNames: readonly string[]) {
    this.model = new Model(channelIds);
    this.channelNames = channelNames;
  }

  static async make(): Promise<World> {
    made++;
    const channelNames = [`a${made}`, `b${made}`, `p${made}`];
    const ids: number[] = [];
    for (const name of channelNames) {
      ids.push(await createChannel(owner, name, [owner, ...people], { invite_only: name.startsWith("p") }));
    }
    return new World(ids, channelNames);
  }

  async say({ person: sender, channel: index, topic: name, mention, isForAll, isRead }: StepOf<"say">) {
    const { model } = this;
    const id = this.model.channelIds[index] ?? 0;
    const content = ["hi", mention === null ? "" : `@**${names[mention]}**`, isForAll ? "@**all**" : ""].join(" ");
    const answer = await client(sender).post("/messages", {
      type: "channel",
      to: id,
      topic: name,
      content,
      read_by_sender: isRead,
    });
    if (answer.status !== 200) return;
    const mentions = mention === null ? [] : [mention];
    const message = { id: answer.body.id, sender, channel: index, topic: name, people: [], mentions, isForAll };
    model.sent(message, isRead);
  }

  async burst({ person: sender, channel: index, topic: name }: StepOf<"burst">) {
    const { model } = this;
    const to = { actor: "topic", channelId: model.channelIds[index] ?? 0, topic: name } as const;
    const parsed = parseContent("burst", { linkifiers: [], translateEmoticons: false });
    const params = { content: "burst", parsed, client: "test", queueId: null, localId: null, isReadBySender: false };
    const { userId } = client(sender);
    const sends = Array.from({ length: burstSize }, () =>
      realmOf(server).dispatcher.ask(command(to, "message.post", params, userId)),
    );
    for (const result of await Promise.all(sends)) {
      if (result.kind === "refused") return;
      const id = Number(result.answer["id"]);
      model.sent({ id, sender, channel: index, topic: name, people: [], mentions: [], isForAll: false }, false);
    }
  }

  async direct({ person: sender, others, isRead }: StepOf<"direct">) {
    const to = others.map((index) => client(index).userId);
    if (to.length === 0) return;
    const answer = await client(sender).post("/messages", {
      type: "direct",
      to,
      content: "hi",
      read_by_sender: isRead,
    });
    if (answer.status !== 200) return;
    const all = [...new Set([sender, ...others])].sort((a, b) => a - b);
    const { id } = answer.body;
    this.model.sent({ id, sender, channel: null, topic: "", people: all, mentions: [], isForAll: false }, isRead);
  }

  async flag({ person: who, op, flag, picks: chosen }: StepOf<"flag">) {
    const { messages } = this.model;
    if (messages.length === 0) return;
    const picked = chosen.flatMap((pick) => messages[pick % messages.length] ?? []);
    const ids = picked.map(({ id }) => id);
    const { status } = await client(who).post("/messages/flags", { op, flag, messages: ids });
    const isAllowed = picked.every((message) => this.model.canRead(who, message));
    if ((status === 200) !== isAllowed) throw new Error(`flags: ${status}, ${JSON.stringify(picked)}`);
    if (isAllowed) this.model.flagged(who, op, flag, ids);
  }

  async "mark topic"({ person: who, channel: index, topic: name }: StepOf<"mark topic">) {
    const id = this.model.channelIds[index];
    const topicName = name === "" ? "general chat" : name.toUpperCase();
    const { status } = await client(who).post("/mark_topic_as_read", { stream_id: id, topic_name: topicName });
    const isIn = this.model.subscribed[who]?.has(index) === true;
    const isAllowed = (isIn || !this.model.isPrivate(index)) && this.model.hasReceivedIn(who, index, name);
    if ((status === 200) !== isAllowed) throw new Error(`mark topic: ${status}`);
    if (isAllowed) this.model.read(who, (message) => message.channel === index && message.topic === name);
  }

  async "mark channel"({ person: who, channel: index }: StepOf<"mark channel">) {
    const { status } = await client(who).post("/mark_stream_as_read", { stream_id: this.model.channelIds[index] });
    if (status === 200) this.model.read(who, (message) => message.channel === index);
  }

  async "mark all"({ person: who }: StepOf<"mark all">) {
    await client(who).post("/mark_all_as_read");
    this.model.read(who, () => true);
  }

  /** Joins or leaves. */
  async turn({ person: who, channel: index }: StepOf<"turn">) {
    const name = this.channelNames[index];
    if (this.model.subscribed[who]?.delete(index) === true) {
      await client(who).delete("/users/me/subscriptions", { subscriptions: [name] });
      this.model.read(who, (message) => message.channel === index);
      return;
    }
    const principals = [client(who).userId];
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name }], principals });
    this.model.subscribed[who]?.add(index);
  }

  async mute({ person: who, other }: StepOf<"mute">) {
    if (who === other) return;
    const muted = this.model.muted[who];
    const path = `/users/me/muted_users/${client(other).userId}`;
    if (muted?.delete(other) === true) await client(who).delete(path);
    else {
      await client(who).post(path);
      muted?.add(other);
      this.model.read(who, (message) => message.sender === other);
    }
  }

  async "mute topic"({ person: who, channel: index, topic: name }: StepOf<"mute topic">) {
    const stream_id = this.model.channelIds[index];
    const { status } = await client(who).post("/user_topics", { stream_id, topic: name, visibility_policy: 1 });
    if (status === 200) this.model.policies[who]?.set(`${index}:${name}`, 1);
  }

  /** What is written meanwhile is not received; what was unread before waits. */
  async away({ person: who }: StepOf<"away">) {
    const { userId } = client(who);
    this.model.inactive.add(who);
    await owner.delete(`/users/${userId}`);
    await this.say({
      kind: "say",
      person: (who + 1) % 3,
      channel: 0,
      topic: "soup",
      mention: null,
      isForAll: false,
      isRead: true,
    });
    await owner.post(`/users/${userId}/reactivate`);
    this.model.inactive.delete(who);
  }

  async play(played: Step): Promise<void> {
    await (this[played.kind] as (step: Step) => Promise<void>)(played);
  }
}

function client(index: number): Client {
  const found = people[index];
  if (found === undefined) throw new Error(`there is no person ${index}`);
  return found;
}

/** Everything that marks left to be told is told. */
async function announced(): Promise<void> {
  const { dispatcher, environment } = realmOf(server);
  const isPending = () =>
    environment
      .rows("timers", { limit: 100 })
      .some(({ row }) => (row.command as { type: string }).type.startsWith("read-state"));
  do {
    await new Promise((resolve) => setImmediate(resolve));
    await dispatcher.idle();
  } while (isPending());
}

const capabilities = { empty_topic_name: true };
const watched = { event_types: mirroredTypes, client_capabilities: capabilities };

async function clean(): Promise<void> {
  await announced();
  for (const who of people) {
    await who.post("/mark_all_as_read");
    for (const other of people) if (other !== who) await who.delete(`/users/me/muted_users/${other.userId}`);
    const { starred_messages: starred } = (await who.register({
      fetch_event_types: ["starred_messages"],
    })) as never as {
      starred_messages: number[];
    };
    await who.post("/messages/flags", { op: "remove", flag: "starred", messages: starred });
  }
  await announced();
}

t.test(
  "[architecture, Read state] floors and exceptions say what a row for each person and message would",
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 45 }), async (steps) => {
        await clean();
        const world = await World.make();
        const followers = await Promise.all(
          people.map((who) => Follower.of(who, { ...watched, fetch_event_types: mirroredTypes })),
        );
        for (const played of steps) await world.play(played);
        await announced();
        for (const [index, who] of people.entries()) {
          const fresh = await who.register(watched);
          t.strictSame(fresh["unread_msgs"], world.model.unreadOf(index), `unread of ${names[index]}`);
          const shown = world.model.messages.filter((message) => world.model.canRead(index, message));
          const { body } = await who.get("/messages", { message_ids: shown.slice(-200).map(({ id }) => id) });
          const flags = (messages: { id: number; flags: string[] }[]) =>
            messages.map((message) => [message.id, message.flags]);
          t.strictSame(
            flags(body.messages),
            shown.slice(-200).map((message) => [message.id, world.model.flagsOf(index, message)]),
            `flags of ${names[index]}`,
          );
          // Queues end with an account; who was away registers again.
          if (steps.some((played) => played.kind === "away" && played.person === index)) continue;
          const follower = followers[index];
          if (follower === undefined) continue;
          const mirror = new Mirror(follower.state, { includesSubscribers: true, isModern: false });
          const end = await who.get("/events", {
            queue_id: follower.state.queue_id,
            last_event_id: follower.state.last_event_id,
            dont_block: true,
          });
          mirror.apply(end.body.events);
          const state = new Mirror(fresh, { includesSubscribers: true, isModern: false }).picture();
          t.strictSame(mirror.picture()["unread"], state["unread"], `unread by events of ${names[index]}`);
          t.strictSame(mirror.picture()["starred_messages"], state["starred_messages"]);
        }
        if (!t.passing()) throw new Error(`not as the model says: ${JSON.stringify(steps)}`);
      }),
      { numRuns: 6, endOnFailure: true, seed: seedOf(t) },
    );
  },
);
