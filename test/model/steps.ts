/**
 * Random actions of users: for each kind of step its parameters, its HTTP request, and its effect on the model. A step
 * that the model forbids must be rejected, and one that it allows must succeed.
 */
import fc from "fast-check";
import { type Flag, type Mode, type Post, placeKey, same, type TopicAddress } from "./conversation-model.ts";
import type { Ability } from "./event-follower.ts";
import { names, type World } from "./world.ts";

const person = fc.nat({ max: names.length - 1 });
/** Most steps use few places, so that many affect the same message. */
const channel = fc.constantFrom(0, 0, 0, 1, 1, 2, 2, 3);
const topic = fc.constantFrom("soup", "soup", "Bread", "");
const anyTopic = fc.constantFrom("soup", "Bread", "bread", "SOUP", "", "tea");
const pick = fc.nat();
const picks = fc.array(pick, { minLength: 1, maxLength: 4 });
const op = fc.constantFrom("add" as const, "remove" as const);
const emoji = fc.constantFrom("tada", "smile");
const mode = fc.constantFrom<Mode>("change_one", "change_later", "change_all");

const quietly = { send_notification_to_new_thread: false, send_notification_to_old_thread: false };
const resolved = "✔ ";

/** @returns whether it changed anything, as expected; @throws when the response contradicts the facts */
function expect(what: string, { status, body }: { status: number; body: unknown }, isAllowed: boolean): boolean {
  if ((status === 200) !== isAllowed) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return isAllowed;
}

/** One of the existing posts; undefined: there is none yet. */
function chosen({ facts }: World, number: number, test: (post: Post) => boolean = () => true): Post | undefined {
  const posts = facts.posts.filter(test);
  // Newer posts are chosen more often.
  return posts[posts.length - 1 - (number % Math.min(12, Math.max(1, posts.length)))];
}

interface StepKind<P> {
  readonly weight: number;
  readonly params: fc.Arbitrary<P>;
  /** @returns whether it had an effect */
  readonly run: (world: World, params: P) => Promise<boolean>;
}

const step = <P>(kind: StepKind<P>): StepKind<P> => kind;

function contentOf({ mention, isForAll, word }: { mention: number | null; isForAll: boolean; word: string }) {
  const all = [word, mention === null ? "" : `@**${personName(mention)}**`, isForAll ? "@**all**" : ""];
  return all.filter((part) => part !== "").join(" ");
}

function personName(index: number): string {
  return index === 0 ? "nobody" : `${names[index]} 0`;
}

const content = {
  mention: fc.option(fc.integer({ min: 1, max: names.length - 1 })),
  isForAll: fc.boolean(),
  word: fc.constantFrom("hi", "ho"),
};

function move(kind: string, isToggle: boolean) {
  return async (
    world: World,
    {
      who,
      number,
      to,
      means,
    }: { who: number; number: number; to: { channel: number | null; topic: string | null }; means: Mode },
  ): Promise<boolean> => {
    const { facts } = world;
    const post = chosen(world, number, ({ place }) => place !== null);
    if (post?.place == null) return false;
    const from = { ...post.place };
    const toggled = from.topic.startsWith(resolved) ? from.topic.slice(resolved.length) : `${resolved}${from.topic}`;
    const name = isToggle ? toggled : to.topic;
    const target: TopicAddress = { channel: to.channel ?? from.channel, topic: name ?? from.topic };
    const isChange = target.channel !== from.channel || target.topic !== from.topic;
    const isAllowed =
      isChange && facts.canRead(who, post) && facts.isOpenTo(who, target.channel) && !(isToggle && from.topic === "");
    const before = facts.inTopic(from.channel, from.topic).at(-1);
    const answer = await world.client(who).patch(`/messages/${post.id}`, {
      ...quietly,
      propagate_mode: means,
      ...(name === null ? {} : { topic: name }),
      ...(to.channel === null ? {} : { stream_id: world.channelIds[to.channel] }),
    });
    if (!expect(kind, answer, isAllowed)) return false;
    // For other users the notice is read at once (spec 2.3, resolved_topic_notice_auto_read_policy: except_followed).
    const unreadBy = facts.followers([from, target]);
    const { isWhole, isRename } = facts.move(who, post, target, means);
    // A topic that merges into another one has no notice to delete.
    const last = isRename ? before : undefined;
    const isToggled = isWhole && target.channel === from.channel && isResolving(from.topic, target.topic);
    if (isToggled) await noteNotice(world, post, { last, unreadBy });
    return true;
  };
}

function isResolving(before: string, after: string): boolean {
  return after === `${resolved}${before}` || before === `${resolved}${after}`;
}

/** A change that is reverted within a minute deletes the earlier notice instead of posting another. */
async function noteNotice(
  world: World,
  post: Post,
  { last, unreadBy }: { readonly last: Post | undefined; readonly unreadBy: readonly number[] },
): Promise<void> {
  const { facts } = world;
  if (last !== undefined && last.noticeAt !== null && world.now - last.noticeAt <= 60_000) {
    facts.remove([last]);
    return;
  }
  const id = await world.newestId(post);
  if (facts.find(id) !== undefined) throw new Error("there is no notice of a resolved topic");
  const place = { ...(post.place as TopicAddress) };
  facts.sent(
    { id, sender: -1, place, people: [], content: "", mentions: [], isForAll: false },
    { isRead: false, noticeAt: world.now, unreadBy },
  );
}

export const steps = {
  "send to channel": step({
    weight: 12,
    params: fc.record({ who: person, channel, topic, isRead: fc.boolean(), ...content }),
    async run(world, { who, channel: to, topic: name, isRead, ...text }) {
      const written = contentOf(text);
      const answer = await world.client(who).post("/messages", {
        type: "channel",
        to: world.channelIds[to],
        topic: name,
        content: written,
        read_by_sender: isRead,
      });
      if (!expect("send", answer, world.facts.isOpenTo(who, to))) return false;
      const mentions = text.mention === null ? [] : [text.mention];
      const place = { channel: to, topic: name };
      world.facts.sent(
        { id: answer.body.id, sender: who, place, people: [], content: written, mentions, isForAll: text.isForAll },
        { isRead },
      );
      return true;
    },
  }),
  "send directly": step({
    weight: 4,
    params: fc.record({ who: person, others: fc.subarray([0, 1, 2, 3]), isRead: fc.boolean(), ...content }),
    async run(world, { who, others, isRead, ...text }) {
      if (others.length === 0) return false;
      const written = contentOf({ ...text, isForAll: false });
      const to = others.map((index) => world.client(index).userId);
      const answer = await world
        .client(who)
        .post("/messages", { type: "direct", to, content: written, read_by_sender: isRead });
      expect("send directly", answer, true);
      const group = [...new Set([who, ...others])].sort((a, b) => a - b);
      const mentions = [text.mention ?? -1].filter((index) => group.includes(index));
      world.facts.sent(
        { id: answer.body.id, sender: who, place: null, people: group, content: written, mentions, isForAll: false },
        { isRead },
      );
      return true;
    },
  }),
  edit: step({
    weight: 5,
    params: fc.record({ who: fc.option(person), number: pick, ...content }),
    async run(world, { who, number, ...text }) {
      const post = chosen(world, number);
      if (post === undefined) return false;
      const editor = who ?? Math.max(0, post.sender);
      const written = contentOf({ ...text, isForAll: text.isForAll && post.place !== null });
      const answer = await world.client(editor).patch(`/messages/${post.id}`, { content: written });
      if (!expect("edit", answer, post.sender === editor && world.facts.canRead(editor, post))) return false;
      if (written === post.content) return true;
      post.content = written;
      post.changes.push({ isEdit: true, fromChannel: null });
      post.isForAll = text.isForAll && post.place !== null;
      const isForThem = (index: number) => post.place !== null || post.people.includes(index);
      post.mentions = text.mention !== null && isForThem(text.mention) ? [text.mention] : [];
      return true;
    },
  }),
  move: step({
    weight: 8,
    params: fc.record({
      who: fc.constantFrom(0, 0, 1, 2, 3),
      number: pick,
      to: fc.record({ channel: fc.constant(null), topic: anyTopic }),
      means: mode,
    }),
    run: move("move", false),
  }),
  "move across": step({
    weight: 8,
    params: fc.record({
      who: fc.constantFrom(0, 0, 1, 2, 3),
      number: pick,
      to: fc.record({ channel, topic: fc.option(anyTopic) }),
      means: mode,
    }),
    run: move("move across", false),
  }),
  resolve: step({
    weight: 4,
    params: fc.record({
      who: person,
      number: pick,
      to: fc.constant({ channel: null, topic: null }),
      means: fc.constant<Mode>("change_all"),
    }),
    run: move("resolve", true),
  }),
  flag: step({
    weight: 10,
    params: fc.record({ who: person, op, flag: fc.constantFrom<Flag>("read", "read", "starred"), picks }),
    async run(world, { who, op: change, flag, picks: numbers }) {
      const posts = numbers.flatMap((number) => chosen(world, number) ?? []);
      if (posts.length === 0) return false;
      const messages = posts.map(({ id }) => id);
      const answer = await world.client(who).post("/messages/flags", { op: change, flag, messages });
      const isAllowed = posts.every((post) => world.facts.canRead(who, post));
      if (!expect("flag", answer, isAllowed)) return false;
      world.facts.flag(who, change, flag, posts);
      return true;
    },
  }),
  "flag a narrow": step({
    weight: 4,
    params: fc.record({
      who: person,
      op,
      flag: fc.constantFrom<Flag>("read", "starred"),
      channel,
      count: fc.integer({ min: 1, max: 4 }),
    }),
    async run(world, { who, op: change, flag, channel: index, count }) {
      const answer = await world.client(who).post("/messages/flags/narrow", {
        op: change,
        flag,
        anchor: "newest",
        num_before: count,
        num_after: 0,
        narrow: [{ operator: "channel", operand: world.channelIds[index] }],
      });
      if (!world.facts.isOpenTo(who, index)) return false;
      expect("flag a narrow", answer, true);
      const inside = world.facts.readable(who).filter(({ place }) => place?.channel === index);
      world.facts.flag(who, change, flag, inside.slice(-count));
      return inside.length > 0;
    },
  }),
  "mark topic": step({
    weight: 8,
    params: fc.record({ who: person, channel, topic: fc.option(topic, { freq: 1 }), number: pick }),
    async run(world, { who, channel: index, topic: name, number }) {
      const { facts } = world;
      const place = name === null ? chosen(world, number)?.place : { channel: index, topic: name };
      if (place == null) return false;
      const topicName = place.topic === "" ? "general chat" : place.topic.toUpperCase();
      const params = { stream_id: world.channelIds[place.channel], topic_name: topicName };
      const answer = await world.client(who).post("/mark_topic_as_read", params);
      const hasIt = facts.inTopic(place.channel, place.topic).some((post) => facts.hasReceived(who, post));
      if (!expect("mark topic", answer, facts.isOpenTo(who, place.channel) && hasIt)) return false;
      const { channel: marked, topic: spelt } = place;
      facts.read(who, (post) => post.place?.channel === marked && same(post.place.topic, spelt));
      return true;
    },
  }),
  "mark channel": step({
    weight: 2,
    params: fc.record({ who: person, channel }),
    async run(world, { who, channel: index }) {
      const answer = await world.client(who).post("/mark_stream_as_read", { stream_id: world.channelIds[index] });
      if (!expect("mark channel", answer, world.facts.isOpenTo(who, index))) return false;
      world.facts.read(who, ({ place }) => place?.channel === index);
      return true;
    },
  }),
  "mark all": step({
    weight: 2,
    params: fc.record({ who: person }),
    async run(world, { who }) {
      expect("mark all", await world.client(who).post("/mark_all_as_read"), true);
      world.facts.read(who, () => true);
      return true;
    },
  }),
  join: step({
    weight: 6,
    params: fc.record({ who: fc.integer({ min: 1, max: names.length - 1 }), channel, byOwner: fc.boolean() }),
    async run(world, { who, channel: index, byOwner }) {
      const { facts } = world;
      const by = byOwner ? 0 : who;
      const answer = await world.client(by).post("/users/me/subscriptions", {
        subscriptions: [{ name: `channel ${index}` }],
        principals: [world.client(who).userId],
        send_new_subscription_messages: false,
      });
      if (!expect("join", answer, facts.isOpenTo(by, index)) || facts.isIn(who, index)) return false;
      facts.members[index]?.add(who);
      return true;
    },
  }),
  leave: step({
    weight: 4,
    params: fc.record({ who: fc.integer({ min: 1, max: names.length - 1 }), channel, byOwner: fc.boolean() }),
    async run(world, { who, channel: index, byOwner }) {
      const { facts } = world;
      const params = { subscriptions: [`channel ${index}`], principals: [world.client(who).userId] };
      const answer = await world.client(byOwner ? 0 : who).delete("/users/me/subscriptions", params);
      if (!facts.isIn(who, index)) return false;
      expect("leave", answer, true);
      facts.leave(who, index);
      return true;
    },
  }),
  react: step({
    weight: 4,
    params: fc.record({ who: person, number: pick, op, emoji }),
    async run(world, { who, number, op: change, emoji: emoji_name }) {
      const post = chosen(world, number);
      if (post === undefined) return false;
      const key = `${who} ${emoji_name}`;
      const path = `/messages/${post.id}/reactions`;
      const client = world.client(who);
      const answer = await (change === "add" ? client.post(path, { emoji_name }) : client.delete(path, { emoji_name }));
      const isNew = post.reactions.has(key) === (change === "remove");
      if (!expect("react", answer, isNew && world.facts.canRead(who, post))) return false;
      if (change === "add") post.reactions.add(key);
      else post.reactions.delete(key);
      return true;
    },
  }),
  "delete message": step({
    weight: 3,
    params: fc.record({ number: pick }),
    async run(world, { number }) {
      const post = chosen(world, number, (candidate) => world.facts.canRead(0, candidate));
      if (post === undefined) return false;
      expect("delete message", await world.client(0).delete(`/messages/${post.id}`), true);
      world.facts.remove([post]);
      return true;
    },
  }),
  "delete topic": step({
    weight: 3,
    params: fc.record({ who: fc.constantFrom(0, 0, 0, 1), number: pick }),
    async run(world, { who, number }) {
      const place = chosen(world, number)?.place;
      if (place == null) return false;
      const answer = await world.client(who).post(`/streams/${world.channelIds[place.channel]}/delete_topic`, {
        topic_name: place.topic === "" ? "general chat" : place.topic,
      });
      if (!expect("delete topic", answer, who === 0)) return false;
      world.facts.endTopic(place);
      return true;
    },
  }),
  "set policy": step({
    weight: 3,
    params: fc.record({ who: person, channel, topic: anyTopic, policy: fc.constantFrom(0, 1, 1, 2, 3) }),
    async run(world, { who, channel: index, topic: name, policy }) {
      const { facts } = world;
      const key = placeKey({ channel: index, topic: name });
      const policies = facts.policies[who];
      const params = { stream_id: world.channelIds[index], topic: name, visibility_policy: policy };
      const answer = await world.client(who).post("/user_topics", params);
      const isTakenBack = policy === 0 && policies?.has(key) === true;
      if (!expect("set policy", answer, facts.isOpenTo(who, index) || isTakenBack)) return false;
      if (policy === 0) policies?.delete(key);
      else policies?.set(key, policy);
      return true;
    },
  }),
  watch: step({
    weight: 3,
    params: fc.record({ who: person, ability: fc.constantFrom<Ability>("modern", "plain") }),
    async run(world, { who, ability }) {
      if (world.followers.length > 5) return false;
      await world.watch(who, ability);
      return true;
    },
  }),
  look: step({
    weight: 3,
    params: fc.record({ who: person }),
    async run(world, { who }) {
      await world.compare(who);
      for (const follower of world.followers) await follower.compare();
      return true;
    },
  }),
};

export type StepName = keyof typeof steps;
