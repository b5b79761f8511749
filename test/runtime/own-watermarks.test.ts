/**
 * Read watermarks that follow a user's own posts (D87): the server need not read all posts of a user who has written
 * many to find that they are read, and no unread message is lost by this.
 */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { ReadState } from "../../domain/read-state.ts";
import { collectUnread } from "../../domain/unread.ts";
import { limits } from "../../schemas/limits.ts";
import {
  answerOf,
  commands,
  createUsers,
  generalId,
  type OpenRealm,
  openNewRealm,
  ownerId,
} from "../support/runtime.ts";

const posts = 10 * limits.own_posts_per_watermark;
/** Three times the average number of posts above the watermark. */
const leftBehind_max = 3 * limits.own_posts_per_watermark;

async function flood(bench: OpenRealm, topic: string, count: number): Promise<number[]> {
  const pending = Array.from({ length: count }, (_, index) => bench.ask(commands.post(topic, `m${index}`)));
  return (await Promise.all(pending)).map((result) => answerOf(result)["id"] as number);
}

async function mark(bench: OpenRealm, request: Command): Promise<void> {
  answerOf(await bench.ask(request));
  await bench.idle();
}

const unreadIds = (bench: OpenRealm) => collectUnread(bench.realm.view, ownerId).messages.map(({ id }) => id);

function watermarkIn(bench: OpenRealm, topic: string | null): number {
  const named = topic === null ? undefined : bench.realm.view.row("topicNames", [generalId, topic]);
  return new ReadState(bench.realm.view, ownerId).watermarkOf({
    channelId: generalId,
    conversationId: named?.id ?? null,
  });
}

async function markUnread(bench: OpenRealm, id: number): Promise<void> {
  const what = { op: "remove", flag: "read", messageIds: [id] } as const;
  const params = { ...what, mustReachAll: true, answer: {}, countsUpdated: false };
  answerOf(await bench.ask(command({ actor: "user", id: ownerId }, "message-flags.update", params, ownerId)));
}

t.test("[D87] few of a user's own posts lie above the channel's read watermark", async (t) => {
  const bench = await openNewRealm(t);
  const ids = await flood(bench, "mine", posts);
  const above = ids.filter((id) => id > watermarkIn(bench, null));
  t.ok(above.length <= leftBehind_max, `${above.length} of ${posts} are above it`);
  t.equal(bench.lmdb.count("readWatermarks"), 1, "one row, however many posts");
  t.strictSame(unreadIds(bench), []);
});

t.test("[D87] the topic's read watermark advances when an unread message blocks the channel's", async (t) => {
  const bench = await openNewRealm(t);
  const [other = 0] = await createUsers(bench, 1);
  const first = answerOf(await bench.ask(commands.post("theirs", "unread", other)))["id"] as number;
  const ids = await flood(bench, "mine", posts);
  t.ok(watermarkIn(bench, null) < first, "the channel's read watermark stays below the unread message");
  const above = ids.filter((id) => id > watermarkIn(bench, "mine"));
  t.ok(above.length <= leftBehind_max, `${above.length} of ${posts} are above it`);
  t.strictSame(unreadIds(bench), [first]);
});

t.test("[behaviour 8] a message marked as unread stays unread, below a read watermark and above it", async (t) => {
  const bench = await openNewRealm(t);
  const ids = await flood(bench, "mine", posts);
  const [below = 0] = ids;
  const inTheWay = ids.at(-1) ?? 0;
  t.ok(below <= watermarkIn(bench, null));
  t.ok(inTheWay > watermarkIn(bench, null));
  for (const id of [below, inTheWay]) await markUnread(bench, id);
  await flood(bench, "mine", posts);
  t.strictSame(unreadIds(bench), [below, inTheWay]);
  t.ok(watermarkIn(bench, null) < inTheWay);
});

t.test("a post that its sender has not read is unread and stops the read watermark", async (t) => {
  const bench = await openNewRealm(t);
  const request = commands.post("mine", "by a program");
  const params = { ...request.params, isReadBySender: false };
  const id = answerOf(await bench.ask({ ...request, params }))["id"] as number;
  await flood(bench, "mine", posts);
  t.strictSame(unreadIds(bench), [id]);
  t.ok(watermarkIn(bench, "mine") < id);
});

t.test("[S3] own_watermark_rows_max: a post looks at no more rows than that, the next ones go on", async (t) => {
  const bench = await openNewRealm(t);
  const [other = 0] = await createUsers(bench, 1);
  const first = answerOf(await bench.ask(commands.post("first", "in the way", other)))["id"] as number;
  const count = 3 * limits.own_watermark_rows_max;
  const pending = Array.from({ length: count }, (_, index) => bench.ask(commands.post("theirs", `m${index}`, other)));
  for (const result of await Promise.all(pending)) answerOf(result);
  const self = { actor: "user", id: ownerId } as const;
  const theirs = { channelId: generalId, topic: "theirs", mustHaveReceived: false };
  await mark(bench, command(self, "read-state.mark-topic", theirs, ownerId));
  t.ok(watermarkIn(bench, null) < first, "an unread message stops the channel's read watermark");
  const what = { op: "add", flag: "read", messageIds: [first] } as const;
  const params = { ...what, mustReachAll: true, answer: {}, countsUpdated: false };
  await mark(bench, command(self, "message-flags.update", params, ownerId));
  const rises: number[] = [];
  for (let posted = 0; posted < posts && rises.length < 2; posted++) {
    const before = watermarkIn(bench, null);
    await flood(bench, "mine", 1);
    const rise = bench.realm.view.keys("channelMessages", {
      start: [generalId, before + 1],
      end: [generalId, watermarkIn(bench, null) + 1],
      limit: count + posts,
    }).length;
    if (rise > 0) rises.push(rise);
  }
  t.strictSame(rises, [limits.own_watermark_rows_max, limits.own_watermark_rows_max]);
  t.strictSame(unreadIds(bench), []);
});
