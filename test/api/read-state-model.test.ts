/**
 * Compares read state with a naive model (architecture, Read state) that has one row per user and message, over random
 * histories of actions. Unread messages and flags in a fresh state and in events must match the model.
 */
import fc from "fast-check";
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import { Mirror, mirroredTypes } from "../support/mirror.ts";
import { type Flag, Model } from "../support/read-state-model.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const people = await Promise.all(["ada", "bob", "cyd"].map((name) => server.user(name)));
// Topics that are followed or unmuted automatically have their own tests (automatic-policies.test.ts).
const never = 4;
for (const who of people) {
  await who.patch("/settings", {
    automatically_follow_topics_policy: never,
    automatically_unmute_topics_in_muted_streams_policy: never,
    automatically_follow_topics_where_mentioned: false,
  });
}
const names = ["ada 0", "bob 0", "cyd 0"];
const topics = ["soup", "Bread", ""];

const person = fc.nat({ max: people.length - 1 });
/** Most actions use few channels, so that much happens to each message. */
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
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      person: fc.constant(0),
      pick: fc.nat(),
      topic,
      mode: fc.constantFrom("change_one" as const, "change_later" as const, "change_all" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("burst" as const), person, channel, topic }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type StepOf<K extends Step["kind"]> = Extract<Step, { kind: K }>;

/** More than a mark processes before the request is answered. */
const burstSize = limits.read_rows_inline_max + 10;
let made = 0;

class World {
  readonly model: Model;
  readonly channelNames: readonly string[];

  private constructor(channelIds: readonly number[], channelNames: readonly string[]) {
    this.model = new Model(
      channelIds,
      people.map(({ userId }) => userId),
    );
    this.channelNames = channelNames;
  }

  static async make(): Promise<World> {
    made++;
    const channelNames = [`a${made}`, `b${made}`, `p${made}`];
    const ids: number[] = [];
    for (const name of channelNames) {
      ids.push(await owner.createChannel(name, [owner, ...people], { invite_only: name.startsWith("p") }));
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
      server.realm.dispatcher.ask(command(to, "message.post", params, userId)),
    );
    for (const result of await Promise.all(sends)) {
      if (result.kind === "refused") return;
      const id = Number(result.answer.id);
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

  /** Subscribes or unsubscribes. */
  async turn({ person: who, channel: index }: StepOf<"turn">) {
    const name = this.channelNames[index];
    if (this.model.subscribed[who]?.delete(index) === true) {
      await client(who).delete("/users/me/subscriptions", { subscriptions: [name] });
      this.model.read(who, (message) => message.channel === index);
      return;
    }
    const principals = [client(who).userId];
    await owner.post("/users/me/subscriptions", {
      subscriptions: [{ name }],
      principals,
      send_new_subscription_messages: false,
    });
    this.model.subscribed[who]?.add(index);
  }

  /** By the owner, who has the permission. */
  async move({ pick, topic: name, mode }: StepOf<"move">) {
    const messages = this.model.messages.filter((message) => message.channel !== null);
    const message = messages[pick % Math.max(1, messages.length)];
    if (message === undefined) return;
    const { status } = await owner.patch(`/messages/${message.id}`, {
      topic: name,
      propagate_mode: mode,
      send_notification_to_old_thread: false,
      send_notification_to_new_thread: false,
    });
    if (status === 200) this.model.moved(message, name, mode);
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

  /** Messages sent meanwhile are not received; earlier unread messages stay unread. */
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
    await server.reactivate(owner, client(who));
    this.model.inactive.delete(who);
  }

  async play(played: Step): Promise<void> {
    await (this[played.kind] as (step: Step) => Promise<void>)(played);
  }
}

function client(index: number): Client {
  const found = people[index];
  if (found === undefined) throw new Error(`there is no user ${index}`);
  return found;
}

/** Waits until all marks are announced. */
async function announced(): Promise<void> {
  const { dispatcher, lmdb } = server.realm;
  const isPending = () =>
    lmdb
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

t.test("read watermarks and exceptions give the same result as a row per user and message", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 45 }), fc.boolean(), async (all, hasMoves) => {
      // A history has either moves or muted topics: policies follow moved topics, which this model does not cover.
      const steps = all.filter(({ kind }) => kind !== (hasMoves ? "mute topic" : "move"));
      await clean();
      const world = await World.make();
      const followers = await Promise.all(
        people.map((who) => who.follow({ ...watched, fetch_event_types: mirroredTypes })),
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
        // Queues end when their user is deactivated; such a user registers again.
        if (steps.some((played) => played.kind === "away" && played.person === index)) continue;
        const follower = followers[index];
        if (follower === undefined) continue;
        const mirror = new Mirror(follower.state, { includesSubscribers: true, isModern: false });
        mirror.apply(await follower.present());
        const state = new Mirror(fresh, { includesSubscribers: true, isModern: false }).snapshot();
        t.strictSame(mirror.snapshot()["flags"], state["flags"], `flags by events of ${names[index]}`);
      }
      if (!t.passing()) throw new Error(`does not match the model: ${JSON.stringify(steps)}`);
    }),
    { numRuns: 6, endOnFailure: true, seed: seedOf(t) },
  );
});
