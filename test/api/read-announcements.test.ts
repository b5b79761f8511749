/**
 * Marking or leaving with more unread messages than one pass processes is announced in slices (architecture, Read
 * state). Whatever happens to a message before its slice, it is announced once, and events lead to the same state as a
 * fresh fetch (E2). The clock is manual, so only the first slices run until the test advances it.
 */
import t from "tap";
import type { Command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { watermarkKinds } from "../../schemas/read-state.ts";
import { Client, expects, Follower } from "../support/client.ts";
import { move, moved } from "../support/message-moves.ts";
import { firstMoment, startClockedServer } from "../support/realtime-clock.ts";
import type { TestServer } from "../support/server.ts";

const types = ["message", "update_message_flags"];
const count = limits.read_rows_inline_max + 5;
const { server, clock } = await startClockedServer(t);
const { owner } = server;
let places = 0;

interface SetUp {
  readonly reader: Client;
  readonly from: number;
  /** The reader is subscribed here, too. */
  readonly to: number;
  /** In topic `t` of the first channel; topic `other` has one read message. */
  readonly ids: readonly number[];
  readonly follower: Follower;
}

/** @param on a server, by default the shared one */
async function setUp(on: TestServer = server): Promise<SetUp> {
  places++;
  const reader = await on.user(`reader${places}`);
  const from = await on.owner.createChannel(`from ${places}`, [on.owner, reader]);
  const to = await on.owner.createChannel(`to ${places}`, [on.owner, reader]);
  const others = await on.flood({ channelId: from, topic: "other", count: 1 });
  await flag(reader, "add", others);
  const ids = await on.flood({ channelId: from, topic: "t", count });
  const follower = await reader.follow({ event_types: types });
  return { reader, from, to, ids, follower };
}

const leave = (who: Client) =>
  who.delete("/users/me/subscriptions", { subscriptions: [`from ${places}`] }).then(({ status }) => status);
const markChannel = (who: Client, id: number) =>
  who.post("/mark_stream_as_read", { stream_id: id }).then(({ status }) => status);
const markTopic = (who: Client, id: number, topic = "t") =>
  who.post("/mark_topic_as_read", { stream_id: id, topic_name: topic }).then(({ status }) => status);
const flag = (who: Client, op: string, messages: readonly number[]) =>
  who.post("/messages/flags", { op, flag: "read", messages });

/** Advances the clock until nothing is left to announce. */
async function goOn(on: TestServer = server, time = clock): Promise<void> {
  const { dispatcher, lmdb } = on.realm;
  for (;;) {
    await dispatcher.idle();
    if (lmdb.count("timers") === 0 || lmdb.count("readAnnouncements") === 0) return;
    time.advance(limits.read_announcement_pause_ms);
  }
}

/** Ids announced as read, ascending, with repetitions. */
async function announcedTo(follower: Follower): Promise<number[]> {
  await follower.settled();
  const added = follower.ofType("update_message_flags").filter(({ op }) => op === "add");
  return added.flatMap(({ messages }) => messages).sort((a, b) => a - b);
}

async function unreadOf(who: Client): Promise<number[]> {
  const state = await who.register({ event_types: types, fetch_event_types: types });
  const { streams } = state["unread_msgs"] as { readonly streams: readonly { unread_message_ids: number[] }[] };
  return streams.flatMap((group) => group.unread_message_ids).sort((a, b) => a - b);
}

const rowsLeft = (on: TestServer = server) =>
  (["readAnnouncements", "readDepartures"] as const).map((table) => on.realm.lmdb.count(table));

for (const [what, mark] of [
  ["left with a channel", ({ reader }: SetUp) => leave(reader)],
  ["marked with a channel", ({ reader, from }: SetUp) => markChannel(reader, from)],
  ["marked with a topic", ({ reader, from }: SetUp) => markTopic(reader, from)],
] as const) {
  t.test(`[E2] a message that is ${what} and moved before its slice is announced as read once`, async (t) => {
    const made = await setUp();
    const { reader, to, ids, follower } = made;
    const [first = 0, second = 0] = ids;
    const [last = 0, before = 0, twice = 0, deleted = 0] = ids.toReversed();
    // Below the former watermark and marked as unread: part of the first slice.
    await flag(reader, "add", [first, second]);
    await flag(reader, "remove", [first, second]);
    const known = (await announcedTo(follower)).length;
    t.equal(known, 2);
    t.equal(await mark(made), 200);
    await server.realm.dispatcher.idle();
    const otherTopic = { topic: "other" };
    for (const [id, params] of [
      [last, { stream_id: to }],
      [before, otherTopic],
      [twice, otherTopic],
      [twice, { stream_id: to }],
      [first, { stream_id: to }],
      [second, otherTopic],
    ] as const) {
      await expects(t, move(owner, id, params), moved);
    }
    await owner.delete(`/messages/${deleted}`);
    t.not(rowsLeft()[1], 0, "the slice has not run yet");
    await goOn();
    t.strictSame(
      await announcedTo(follower),
      [first, second, ...ids].filter((id) => id !== deleted).sort((a, b) => a - b),
      "two had been marked as read before, too",
    );
    t.strictSame(await unreadOf(reader), []);
    t.strictSame(rowsLeft(), [0, 0], "no row is left");
  });
}

for (const [what, mark] of [
  ["a channel", markChannel],
  ["a topic", markTopic],
] as const) {
  t.test(`[E2] a user who marks ${what} and leaves before the slices gets each message announced once`, async (t) => {
    const { reader, from, ids, follower } = await setUp();
    t.equal(await mark(reader, from), 200);
    const later = await server.flood({ channelId: from, topic: "t", count: 3 });
    t.equal(await leave(reader), 200);
    await goOn();
    t.strictSame(await announcedTo(follower), [...ids, ...later]);
    t.strictSame(await unreadOf(reader), []);
    t.strictSame(rowsLeft(), [0, 0]);
  });
}

for (const [what, goesOn] of [
  [
    "reads a newer message one by one",
    async (reader: Client, from: number) => {
      const newer = await server.flood({ channelId: from, topic: "t", count: 1 });
      await flag(reader, "add", newer);
      return { announced: newer, unread: [] };
    },
  ],
  [
    "posts beyond an unread message",
    async (reader: Client, from: number) => {
      const unread = await server.flood({ channelId: from, topic: "other", count: 1 });
      const message = { type: "channel", to: from, topic: "t", content: "own", read_by_sender: true };
      for (let post = 0; post < 4 * limits.own_posts_per_watermark; post++) await reader.post("/messages", message);
      return { announced: [], unread };
    },
  ],
] as const) {
  t.test(
    `[E2] a user who marks a channel and ${what} before the slices gets each message announced once`,
    async (t) => {
      const { reader, from, ids, follower } = await setUp();
      t.equal(await markChannel(reader, from), 200);
      const { announced, unread } = await goesOn(reader, from);
      t.not(rowsLeft()[0], 0, "the slices have not run yet");
      await goOn();
      t.strictSame(await announcedTo(follower), [...ids, ...announced]);
      t.strictSame(await unreadOf(reader), unread);
      t.strictSame(rowsLeft(), [0, 0]);
    },
  );
}

t.test("[E2] a topic that is marked while its channel's mark is still to be announced is announced once", async (t) => {
  const { reader, from, to, ids, follower } = await setUp();
  // So many are marked as unread one by one that the second mark cannot look at all of them at once.
  const single = await server.flood({ channelId: to, topic: "single", count: limits.read_rows_inline_max });
  t.equal(await markChannel(reader, to), 200);
  await goOn();
  await flag(reader, "remove", single);
  const last = await server.flood({ channelId: from, topic: "t", count: 1 });
  const known = (await announcedTo(follower)).length;
  t.equal(await markChannel(reader, from), 200);
  t.equal(await markTopic(reader, from), 200);
  t.not(rowsLeft()[0], 0, "the slices have not run yet");
  await goOn();
  const announced = await announcedTo(follower);
  const found = announced.filter((id) => !single.includes(id));
  t.strictSame(found, [...ids, ...last]);
  t.equal(announced.length, known + ids.length + 1, "and nothing else");
  t.strictSame(await unreadOf(reader), single);
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[E2] what was announced as read on leaving stays read where it moves, whatever is pending", async (t) => {
  const { reader, from, to, ids, follower } = await setUp();
  t.equal(await markChannel(reader, from), 200);
  t.equal((await flag(reader, "remove", ids)).status, 200);
  t.equal(await leave(reader), 200);
  await server.realm.dispatcher.idle();
  t.strictSame(await announcedTo(follower), ids);
  t.equal(rowsLeft()[0], 1, "the mark's slices have not run yet");
  await expects(t, move(owner, ids[0] ?? 0, { stream_id: to, propagate_mode: "change_all" }), moved);
  t.strictSame(await unreadOf(reader), []);
  await goOn();
  t.strictSame([...new Set(await announcedTo(follower))], ids);
  t.strictSame(await unreadOf(reader), []);
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[S3] read_announcements_examined_max: of more pending marks the latest counts", async (t) => {
  const { reader, from, ids, follower } = await setUp();
  t.equal(await markChannel(reader, from), 200);
  await goOn();
  t.equal((await flag(reader, "remove", ids)).status, 200);
  const earlier = Array.from({ length: limits.read_announcements_examined_max }, (_, index) => index / 100);
  for (const at of earlier) server.write("readAnnouncements", [from, reader.userId, at], { startedAt: clock.now() });
  t.equal(await markChannel(reader, from), 200);
  t.equal(await leave(reader), 200);
  const { lmdb } = server.realm;
  lmdb.transaction(() => {
    for (const at of earlier) lmdb.remove("readAnnouncements", [from, reader.userId, at]);
  });
  await goOn();
  t.strictSame(
    await announcedTo(follower),
    ids.flatMap((id) => [id, id]),
    "by the first mark and by the second one",
  );
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[E2] messages moved into a topic after the mark, and those marked as unread since, stay unread", async (t) => {
  const { reader, from, to, ids, follower } = await setUp();
  const [elsewhere = 0] = await server.flood({ channelId: from, topic: "elsewhere", count: 1 });
  const [last = 0, before = 0, sooner = 0] = ids.toReversed();
  // Moved before the mark, so not marked.
  await expects(t, move(owner, sooner, { stream_id: to }), moved);
  await server.realm.dispatcher.idle();
  t.equal(await markTopic(reader, from), 200);
  await expects(t, move(owner, elsewhere, { topic: "t" }), moved);
  await expects(t, move(owner, last, { stream_id: to }), moved);
  t.equal((await flag(reader, "remove", [last, before])).status, 200);
  await goOn();
  const unread = [sooner, before, last, elsewhere];
  t.strictSame(
    await announcedTo(follower),
    ids.filter((id) => !unread.includes(id)),
  );
  t.strictSame(await unreadOf(reader), unread);
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[E2] when two users leave one after the other and messages move, each gets all announcements", async (t) => {
  const { reader, from, to, ids, follower } = await setUp();
  const other = await server.user("other");
  await other.post("/users/me/subscriptions", {
    subscriptions: [{ name: `from ${places}` }, { name: `to ${places}` }],
  });
  const [newest = 0] = ids.toReversed();
  const more = await server.flood({ channelId: from, topic: "t", count });
  const follows = await other.follow({ event_types: types });
  t.equal(await leave(reader), 200);
  await expects(t, move(owner, newest, { stream_id: to }), moved);
  t.equal(await leave(other), 200);
  await expects(t, move(owner, more[0] ?? 0, { stream_id: to }), moved);
  await goOn();
  t.strictSame(await announcedTo(follower), [...ids, ...more]);
  t.strictSame(await announcedTo(follows), more, "the other user has received no more");
  t.strictSame([await unreadOf(reader), await unreadOf(other)], [[], []]);
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[M3] a restart between the slices loses neither pending announcements nor departures", async (t) => {
  const first = await startClockedServer(t);
  const { reader, to, ids, follower } = await setUp(first.server);
  t.equal(await leave(reader), 200);
  await first.server.realm.dispatcher.idle();
  const [last = 0] = ids.toReversed();
  await expects(t, move(first.server.owner, last, { stream_id: to }), moved);
  t.strictSame(rowsLeft(first.server), [1, 1]);
  const { queue_id, last_event_id } = follower.state;
  await first.server.stop();
  const second = await startClockedServer(t, { dataDir: first.server.dataDir }, firstMoment + 1000);
  const again = new Client(second.server.url, reader.account);
  await goOn(second.server, second.clock);
  t.strictSame(await announcedTo(new Follower(again, { queue_id, last_event_id })), ids);
  t.strictSame(await unreadOf(again), []);
  t.strictSame(rowsLeft(second.server), [0, 0]);
});

t.test("[M8] announcements that an older server left without a row are sent", async (t) => {
  const { reader, ids, follower } = await setUp();
  const { lmdb, dispatcher } = server.realm;
  t.equal(await leave(reader), 200);
  await dispatcher.idle();
  lmdb.transaction(() => {
    for (const { key } of lmdb.rows("readAnnouncements", { limit: 10 })) lmdb.remove("readAnnouncements", key);
    for (const { key, row } of lmdb.rows("timers", { limit: 10 })) {
      const waiting = row.command as Command;
      if (waiting.type !== "read-state.announce") continue;
      const params = { ...waiting.params, hasLeft: true };
      lmdb.put("timers", key, { ...row, command: { ...waiting, params } });
    }
  });
  await goOn();
  clock.advance(limits.read_announcement_pause_ms);
  await dispatcher.idle();
  t.strictSame(await announcedTo(follower), ids);
  t.equal(lmdb.count("deadLetters"), 0);
  t.strictSame(rowsLeft(), [0, 0]);
});

t.test("[S3] an abandoned announcement neither records departures forever nor keeps those recorded", async (t) => {
  const { reader, from, to, ids, follower } = await setUp();
  const [one = 0, other = 0] = ids;
  const since = clock.now() - limits.read_announcement_ms_max;
  server.write("readAnnouncements", [from, reader.userId, 0], { startedAt: since });
  await expects(t, move(owner, one, { stream_id: to }), moved);
  t.strictSame(rowsLeft(), [1, 1], "kept at the limit, because it may still run");
  clock.advance(1);
  await expects(t, move(owner, other, { stream_id: to }), moved);
  t.strictSame(rowsLeft(), [0, 1], "removed beyond the limit");
  t.equal(await leave(reader), 200);
  await goOn();
  t.strictSame(rowsLeft(), [0, 0], "the next announcement removes the others");
  t.strictSame(await announcedTo(follower), ids.slice(2));
  t.strictSame(await unreadOf(reader), [one, other], "these were moved earlier, and are unread in their new channel");
});

t.test("[S3] recorded departures are removed slice by slice, however many there are", async (t) => {
  const { reader, from, ids, follower } = await setUp();
  const many = limits.read_rows_per_command_max + 5;
  t.equal(await leave(reader), 200);
  const gone = { conversationId: 1, senderId: owner.userId, traits: 0 };
  const { lmdb } = server.realm;
  lmdb.transaction(() => {
    for (let id = 1; id <= many; id++) lmdb.put("readDepartures", [from, 1_000_000 + id, 0], gone);
  });
  await goOn();
  t.strictSame(rowsLeft(), [0, 0]);
  t.strictSame(await announcedTo(follower), ids);
});

t.test("after a topic mark is announced, the channel's read watermark is above the messages read", async (t) => {
  const { reader, from, ids } = await setUp();
  const watermark = () =>
    server.realm.lmdb.get("readWatermarks", [watermarkKinds.channel, from, reader.userId])?.upTo ?? 0;
  t.ok(watermark() < (ids[0] ?? 0));
  t.equal(await markTopic(reader, from), 200);
  await goOn();
  // As many as one pass scans, unless it finds an unread message.
  t.ok(watermark() >= (ids[limits.read_rows_inline_max - 2] ?? 0), `${watermark()} of ${ids.at(-1)}`);
  t.strictSame(await unreadOf(reader), []);
});
