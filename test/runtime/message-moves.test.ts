/**
 * Moves of many messages (D54 to D58; M2, M3, M6): in batches, while users post and delete, through crashes. Every copy
 * of the folder after a turn is a crash at that point.
 */
import t, { type Test } from "tap";
import { abandonmentOf } from "../../actors/abandonment.ts";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { auditRealm } from "../support/audit.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { deleteCommand, editCommand } from "../support/message-changes.ts";
import {
  answerOf,
  codeOf,
  commands,
  crashImage,
  generalId,
  OpenRealm,
  openNewRealm,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import type { Teardown } from "../support/server.ts";
import { crashesToAnswer, runToAnswer } from "../support/turns.ts";

const moved: Reply = { kind: "ok", answer: { detached_uploads: [] } };
const everything = { propagateMode: "change_all" } as const;
const many = 2 * limits.move_batch_messages + 1;

/** Ids of the posts, ascending. */
async function fill(bench: OpenRealm, topic: string, count: number): Promise<number[]> {
  const posts = Array.from({ length: count }, (_, index) => bench.ask(commands.post(topic, `m${index}`)));
  return (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
}

/** A realm with a topic of many messages and a second channel, whose turns take one command each. */
async function prepare(t: Teardown, count = many) {
  const created = await openNewRealm(t);
  const to = answerOf(await created.ask(commands.createChannel("to", [2])))["id"] as number;
  const ids = await fill(created, "old", count);
  await created.idle();
  const bench = created.crash(t, { clock: new SlowClock(startedAt) });
  return { bench, ids, to };
}

function idsOf(bench: OpenRealm, topic: string, channelId = generalId): number[] {
  const { view } = bench.realm;
  const named = view.row("topicNames", [channelId, topic]);
  if (named === undefined) return [];
  return view
    .keys("conversationMessages", { start: [named.id], end: [named.id + 1], limit: 10_000 })
    .map(([, id]) => id);
}

/** Message ids of update_message events, in order, with repetitions. */
function announcedIds(bench: OpenRealm): number[] {
  return rowsOf(bench.lmdb, "events").flatMap(({ type, body }) =>
    type === "update_message" && body["is_arrival"] !== true ? (body["message_ids"] as number[]) : [],
  );
}

function audit(t: Test, bench: OpenRealm): void {
  t.strictSame(auditRealm(bench.lmdb), []);
  t.strictSame(bench.bugs, []);
  t.strictSame(bench.snapshot(), bench.rebuilt());
}

t.test(
  "[M2, M3] a move that crashes at any turn stops at a batch boundary, continues after the restart, and announces no message twice",
  async (t) => {
    const { bench, ids, to } = await prepare(t);
    const wish = { ...everything, channelId: to, topic: "new" };
    const { images, result } = await crashesToAnswer(t, bench, bench.ask(editCommand(ids[3] ?? 0, wish)));
    t.strictSame(result, moved);
    t.ok(images.length > 3, "it takes several turns");
    let halfway = 0;
    for (const folder of images) {
      const opened = new OpenRealm(t, { folder });
      const found = [...idsOf(opened, "new", to), ...idsOf(opened, "old")].sort((a, b) => a - b);
      t.strictSame(found, ids, "every message is in exactly one topic");
      if (idsOf(opened, "new", to).length > 0 && idsOf(opened, "old").length > 0) halfway++;
      const isBegun = opened.realm.view.counter("move") > 0;
      await opened.idle();
      t.strictSame(idsOf(opened, "new", to), isBegun ? ids : []);
      t.strictSame(announcedIds(opened), isBegun ? ids : []);
      t.equal(opened.lmdb.count("mailbox"), 0);
      audit(t, opened);
      t.equal(
        codeOf(await opened.ask(editCommand(ids[0] ?? 0, { ...everything, topic: "onward" }))),
        "ok",
        "and can be moved again",
      );
    }
    t.ok(halfway > 0, "some crashes fell in the middle");
  },
);

t.test("[D54] posts to a topic that is being moved stay in it, its messages can be deleted and edited", async (t) => {
  const { bench, ids, to } = await prepare(t);
  const posted: Promise<Reply>[] = [];
  const last = ids.at(-1) ?? 0;
  const others: Promise<Reply>[] = [];
  const result = await runToAnswer(bench.ask(editCommand(ids[0] ?? 0, { ...everything, channelId: to })), (turns) => {
    posted.push(bench.ask(commands.post("old", `meanwhile ${turns}`)), bench.ask(commands.post("old", "there", 2, to)));
    if (turns !== 1) return;
    others.push(bench.ask(deleteCommand(last)), bench.ask(editCommand(last - 1, { content: "edited" })));
    others.push(bench.ask(editCommand(last - 2, { topic: "elsewhere" })));
  });
  t.strictSame(result, moved);
  const newIds = (await Promise.all(posted)).map((answer) => answerOf(answer)["id"] as number);
  await bench.idle();
  t.strictSame(
    idsOf(bench, "old"),
    newIds.filter((_, index) => index % 2 === 0),
    "newer than the move",
  );
  t.strictSame(
    idsOf(bench, "old", to),
    [...ids.filter((id) => id !== last), ...newIds.filter((_, index) => index % 2 === 1)],
    "the others still exist",
  );
  const [deleted, edited, movedAgain] = await Promise.all(others);
  t.strictSame([codeOf(deleted as Reply), codeOf(edited as Reply)], ["ok", "ok"]);
  t.match(movedAgain, { kind: "refused", msg: /are being moved/ });
  t.equal(bench.realm.view.row("messages", last - 1)?.content, "edited");
  audit(t, bench);
});

t.test("[D58] a move into a topic that is renamed or emptied meanwhile uses the topic's current name", async (t) => {
  for (const what of ["rename", "delete"] as const) {
    const { bench, ids, to } = await prepare(t);
    const [first = 0] = [answerOf(await bench.ask(commands.post("new", "here first", 2, to)))["id"] as number];
    const wish = { ...everything, channelId: to, topic: "new", notifiesNewThread: what === "rename" };
    const result = await runToAnswer(bench.ask(editCommand(ids[0] ?? 0, wish)), (turns) => {
      if (turns !== 2) return;
      if (what === "rename") void bench.ask(editCommand(first, { ...everything, topic: "newer" }));
      else void bench.ask(commands.deleteTopic("new", startedAt + 50_000, to));
    });
    t.strictSame(result, moved);
    await bench.idle();
    const all = [...idsOf(bench, "new", to), ...idsOf(bench, "newer", to)];
    const left = rowsOf(bench.lmdb, "messages").map(({ id }) => id);
    t.strictSame(all, left, "nothing is elsewhere");
    if (what === "rename") {
      const notice = left.at(-1) ?? 0;
      t.strictSame(
        idsOf(bench, "newer", to),
        [...ids, first, notice],
        "also in the notice: the old topic does not reappear",
      );
      t.match(bench.realm.view.row("messages", notice)?.content, /messages were moved here/);
    }
    audit(t, bench);
  }
});

t.test("[D29, D56] messages moved out of a topic that is being deleted survive: part, whole, rename", async (t) => {
  const ways = {
    part: { topic: "safe" },
    rename: { ...everything, topic: "safe" },
  };
  for (const [name, wish] of Object.entries(ways)) {
    const { bench, ids } = await prepare(t, 2 * limits.topic_deletion_batch_messages + 50);
    const [oldest = 0] = ids;
    const answers: Promise<Reply>[] = [];
    const result = await runToAnswer(bench.ask(commands.deleteTopic("old", startedAt + 50_000)), (turns) => {
      if (turns === 2) answers.push(bench.ask(editCommand(oldest, wish)));
    });
    t.strictSame(result, { kind: "ok", answer: { complete: true } }, name);
    t.strictSame(await Promise.all(answers), [moved]);
    await bench.idle();
    const safe = idsOf(bench, "safe");
    t.equal(safe[0], oldest);
    t.equal(safe.length === 1, name === "part", "a part of one batch, or everything that was left");
    t.ok(safe.length < ids.length, "the deletion had started");
    t.strictSame(idsOf(bench, "old"), []);
    const found = rowsOf(bench.lmdb, "messages").map(({ id }) => id);
    t.strictSame(found, safe);
    audit(t, bench);
  }
});

t.test("renaming a large topic takes one turn; its messages are announced in parts, each once", async (t) => {
  const count = limits.event_ids_per_piece_max + 1;
  const { bench, ids } = await prepare(t, count);
  const images: string[] = [crashImage(t, bench.folder)];
  const answers: Promise<Reply>[] = [];
  const result = await runToAnswer(bench.ask(editCommand(ids[0] ?? 0, { ...everything, topic: "new" })), (turns) => {
    images.push(crashImage(t, bench.folder));
    if (turns === 1) answers.push(bench.ask(editCommand(ids[1] ?? 0, { ...everything, topic: "newer" })));
    if (turns === 1) answers.push(bench.ask(commands.post("new", "later")));
  });
  t.strictSame(result, moved);
  t.match(await answers[0], { kind: "refused", msg: /are being moved/ }, "one name after the other");
  t.strictSame(announcedIds(bench), ids);
  const events = bodiesOf(rowsOf(bench.lmdb, "events"), "update_message");
  const found = events.map(({ message_ids: moved }) => moved.length);
  t.strictSame(found, [limits.event_ids_per_piece_max, 1]);
  t.equal(idsOf(bench, "new").length, count + 1, "including messages posted meanwhile");
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    await opened.idle();
    const isBegun = idsOf(opened, "old").length === 0;
    t.strictSame(announcedIds(opened), isBegun ? ids : []);
    t.strictSame(auditRealm(opened.lmdb), []);
    t.equal(codeOf(await opened.ask(editCommand(ids[0] ?? 0, { ...everything, topic: "newer" }))), "ok");
  }
});

t.test("a rename of at most one part is announced in the same turn", async (t) => {
  const { bench, ids } = await prepare(t, limits.event_ids_per_piece_max);
  const before = rowsOf(bench.lmdb, "messages");
  t.strictSame(await bench.ask(editCommand(ids[0] ?? 0, { ...everything, topic: "new" })), moved);
  t.strictSame(announcedIds(bench), ids);
  t.strictSame(rowsOf(bench.lmdb, "messages"), before, "no message row was written");
  t.equal(rowsOf(bench.lmdb, "topicRenames").length, 1);
  audit(t, bench);
});

t.test("[M6] a batch that fails keeps the messages moved so far, releases the topic, and answers", async (t) => {
  const move = { moveId: 7, conversationId: 3, waiting: { ticket: 5, boot: 2 } } as unknown as MessageMove;
  for (const type of ["messages.import", "topic.announce-rename"] as const) {
    const dead = command({ actor: "topic", channelId: 1, topic: "x" }, type, move, null);
    t.match(abandonmentOf(dead), {
      tickets: [5],
      boot: 2,
      notification: { to: { actor: "conversation", id: 3 }, type: "topic.move-ended", params: { moveId: 7 } },
    });
  }
});

t.test("[S3] of many renames and moves only the newest are kept", async (t) => {
  const bench = await openNewRealm(t);
  const [id = 0] = await fill(bench, "n0", 1);
  const count = limits.message_history_entries_max + 2;
  for (let n = 1; n <= count; n++) await bench.ask(editCommand(id, { topic: `n${n}` }));
  t.equal(rowsOf(bench.lmdb, "topicRenames").length, limits.message_history_entries_max);
  await fill(bench, "a", 1);
  await fill(bench, "b", 1);
  for (let n = 1; n <= count; n++) await bench.ask(editCommand(id, { topic: n % 2 === 0 ? "a" : "b" }));
  t.equal(bench.realm.view.row("messages", id)?.moves.length, limits.message_history_entries_max);
  audit(t, bench);
});

t.test("[spec 2.9] of many renames the newest real move is kept, which gives last_moved_timestamp", async (t) => {
  const bench = await openNewRealm(t);
  const [id = 0] = await fill(bench, "before", 1);
  await fill(bench, "before", 1);
  await fill(bench, "x", 1);
  await fill(bench, "\u2714 x", 1);
  await bench.ask(editCommand(id, { topic: "x" }));
  const [elsewhere = 0] = bench.realm.view.row("messages", id)?.moves ?? [];
  const count = 2 * Math.ceil(limits.message_history_entries_max / 2) + 2;
  for (let n = 1; n <= count; n++) await bench.ask(editCommand(id, { topic: n % 2 === 0 ? "x" : "\u2714 x" }));
  const kept = bench.realm.view.row("messages", id)?.moves ?? [];
  t.equal(kept.length, limits.message_history_entries_max);
  t.equal(kept[0], elsewhere);
  await bench.ask(editCommand(id, { topic: "before" }));
  await bench.ask(editCommand(id, { topic: "x" }));
  t.notOk(bench.realm.view.row("messages", id)?.moves.includes(elsewhere), "a newer one replaces it");
  audit(t, bench);
});
