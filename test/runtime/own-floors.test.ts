/**
 * Floors that follow one's own posts (architecture, Read state): whoever has written a lot does not make the server open all of it
 * to find out that it is read, and nothing that is unread is lost by that.
 */
import t from "tap";
import { type Command, command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { ReadState } from "../../src/domain/read-state.ts";
import { collectUnread } from "../../src/domain/unread.ts";
import { answerOf, commands, generalId, makePeople, type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";

const posts = 10 * limits.own_posts_per_floor;
/** Three times what goes by on average. */
const leftBehind_max = 3 * limits.own_posts_per_floor;

async function flood(bench: OpenRealm, topic: string, count: number): Promise<number[]> {
  const asked = Array.from({ length: count }, (_, index) => bench.ask(commands.post(topic, `m${index}`)));
  return (await Promise.all(asked)).map((result) => answerOf(result)["id"] as number);
}

async function mark(bench: OpenRealm, asked: Command): Promise<void> {
  answerOf(await bench.ask(asked));
  await bench.idle();
}

const unreadIds = (bench: OpenRealm) => collectUnread(bench.realm.view, ownerId).messages.map(({ id }) => id);

function floorIn(bench: OpenRealm, topic: string | null): number {
  const named = topic === null ? undefined : bench.realm.view.row("topicNames", [generalId, topic]);
  return new ReadState(bench.realm.view, ownerId).floorOf({ channelId: generalId, conversationId: named?.id ?? null });
}

async function markUnread(bench: OpenRealm, id: number): Promise<void> {
  const what = { op: "remove", flag: "read", messageIds: [id] } as const;
  const params = { ...what, mustReachAll: true, answer: {}, countsUpdated: false };
  answerOf(await bench.ask(command({ actor: "user", id: ownerId }, "message-flags.update", params, ownerId)));
}

t.test("[architecture, Read state] of what one wrote oneself, little lies above the channel's floor", async (t) => {
  const bench = await openFounded(t);
  const ids = await flood(bench, "mine", posts);
  const above = ids.filter((id) => id > floorIn(bench, null));
  t.ok(above.length <= leftBehind_max, `${above.length} of ${posts} are above it`);
  t.equal(bench.environment.count("readFloors"), 1, "one row, however much was written");
  t.strictSame(unreadIds(bench), []);
});

t.test("[architecture, Read state] where something unread is in the way, the topic's floor rises", async (t) => {
  const bench = await openFounded(t);
  const [other = 0] = await makePeople(bench, 1);
  const first = answerOf(await bench.ask(commands.post("theirs", "unread", other)))["id"] as number;
  const ids = await flood(bench, "mine", posts);
  t.ok(floorIn(bench, null) < first, "the channel's floor stays below what is unread");
  const above = ids.filter((id) => id > floorIn(bench, "mine"));
  t.ok(above.length <= leftBehind_max, `${above.length} of ${posts} are above it`);
  t.strictSame(unreadIds(bench), [first]);
});

t.test("[behaviour 8] what one marks as unread stays so, below such a floor and in its way", async (t) => {
  const bench = await openFounded(t);
  const ids = await flood(bench, "mine", posts);
  const [below = 0] = ids;
  const inTheWay = ids.at(-1) ?? 0;
  t.ok(below <= floorIn(bench, null));
  t.ok(inTheWay > floorIn(bench, null));
  for (const id of [below, inTheWay]) await markUnread(bench, id);
  await flood(bench, "mine", posts);
  t.strictSame(unreadIds(bench), [below, inTheWay]);
  t.ok(floorIn(bench, null) < inTheWay);
});

t.test(
  "[openapi send-message, read_by_sender] a post that its sender did not read is unread and stops the floor",
  async (t) => {
    const bench = await openFounded(t);
    const asked = commands.post("mine", "by a program");
    const params = { ...asked.params, isReadBySender: false };
    const id = answerOf(await bench.ask({ ...asked, params }))["id"] as number;
    await flood(bench, "mine", posts);
    t.strictSame(unreadIds(bench), [id]);
    t.ok(floorIn(bench, "mine") < id);
  },
);

t.test("[S3] own_floor_rows_max: a post looks at so many rows, the next ones go on from there", async (t) => {
  const bench = await openFounded(t);
  const [other = 0] = await makePeople(bench, 1);
  const first = answerOf(await bench.ask(commands.post("first", "in the way", other)))["id"] as number;
  const count = 3 * limits.own_floor_rows_max;
  const asked = Array.from({ length: count }, (_, index) => bench.ask(commands.post("theirs", `m${index}`, other)));
  for (const result of await Promise.all(asked)) answerOf(result);
  const self = { actor: "user", id: ownerId } as const;
  const theirs = { channelId: generalId, topic: "theirs", mustHaveReceived: false };
  await mark(bench, command(self, "read-state.mark-topic", theirs, ownerId));
  t.ok(floorIn(bench, null) < first, "what is unread stops the channel's floor");
  const what = { op: "add", flag: "read", messageIds: [first] } as const;
  const params = { ...what, mustReachAll: true, answer: {}, countsUpdated: false };
  await mark(bench, command(self, "message-flags.update", params, ownerId));
  const rises: number[] = [];
  for (let posted = 0; posted < posts && rises.length < 2; posted++) {
    const before = floorIn(bench, null);
    await flood(bench, "mine", 1);
    const rise = bench.realm.view.keys("channelMessages", {
      start: [generalId, before + 1],
      end: [generalId, floorIn(bench, null) + 1],
      limit: count + posts,
    }).length;
    if (rise > 0) rises.push(rise);
  }
  t.strictSame(rises, [limits.own_floor_rows_max, limits.own_floor_rows_max]);
  t.strictSame(unreadIds(bench), []);
});
