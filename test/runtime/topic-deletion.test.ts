/** Requests that wait for a topic's deletion while something else happens to the topic (spec 4.13; D29). */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { continueDeletion, initialTopicDeletion } from "../../actors/topic-deletion/batches.ts";
import { limits } from "../../schemas/limits.ts";
import { auditRealm } from "../support/audit.ts";
import { editCommand } from "../support/message-changes.ts";
import {
  answerOf,
  commands,
  generalId,
  type OpenRealm,
  openNewRealm,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import { runToAnswer } from "../support/turns.ts";

t.test("[spec 4.13] every waiting request is answered if the topic is renamed before the next request", async (t) => {
  const bench = await openNewRealm(t);
  const { id } = answerOf(await bench.ask(commands.post("old", "m")));
  const deadline = startedAt + 50_000;
  const answered: string[] = [];
  const note = (name: string) => (answer: unknown) => answered.push(`${name}: ${JSON.stringify(answer)}`);
  // One turn decides all three, in this order; the first request's own next step follows them.
  void bench.ask(commands.deleteTopic("old", deadline)).then(note("first"));
  void bench.ask(editCommand(id as number, { topic: "new", propagateMode: "change_all" })).then(answerOf);
  void bench.ask(commands.deleteTopic("old", deadline)).then(note("second"));
  await bench.idle();
  const complete = JSON.stringify({ kind: "ok", answer: { complete: true } });
  t.strictSame(answered.toSorted(), [`first: ${complete}`, `second: ${complete}`]);
  t.strictSame(bench.bugs, []);
  const named = bench.realm.view.row("topicNames", [1, "new"]);
  t.ok(named !== undefined && bench.realm.view.row("messages", id as number), "what was renamed stays");
});

async function fill(bench: OpenRealm, topic: string, count: number): Promise<number[]> {
  const posts = await Promise.all(Array.from({ length: count }, () => bench.ask(commands.post(topic, "m"))));
  return posts.map((posted) => answerOf(posted)["id"] as number);
}

t.test("[spec 4.13] a batch searches only below the batches before it", async (t) => {
  const bench = await openNewRealm(t);
  const ids = await fill(bench, "long", 2 * limits.topic_deletion_batch_messages + 2);
  const { view } = bench.realm;
  const conversationId = view.row("topicNames", [generalId, "long"])?.id ?? 0;
  const newest = ids.at(-1) ?? 0;
  const deleting = {
    ...initialTopicDeletion,
    conversationId,
    highWaterId: newest,
    reachedId: newest,
    waiters: [{ ticket: 1, deadline: view.now + 1 }],
    boot: view.counter("boot"),
  };
  const to = { actor: "topic-deletion", channelId: generalId, topic: "long" } as const;
  const next = continueDeletion(deleting, command(to, "topic-deletion.continue", {}, null), view);
  if (next.kind !== "done") throw new Error("the batch was refused");
  const removed = next.effects.flatMap((each) =>
    each.kind === "remove" && each.table === "messages" ? [each.key] : [],
  );
  t.equal(next.context?.reachedId, Math.min(...removed) - 1);
});

t.test("[D29] messages that are moved into the topic during its deletion are deleted, too", async (t) => {
  const created = await openNewRealm(t);
  const ids = await fill(created, "other", 3);
  await fill(created, "long", 4 * limits.topic_deletion_batch_messages);
  const newer = await fill(created, "other", 3);
  await created.idle();
  const bench = created.crash(t, { clock: new SlowClock(startedAt) });
  const moves: Promise<unknown>[] = [];
  const result = await runToAnswer(bench.ask(commands.deleteTopic("long", startedAt + 50_000)), (turns) => {
    const id = turns === 2 ? ids[0] : turns === 12 ? newer[0] : undefined;
    if (id !== undefined) moves.push(bench.ask(editCommand(id, { topic: "long" })).then(answerOf));
  });
  t.strictSame(result, { kind: "ok", answer: { complete: true } });
  await Promise.all(moves);
  await bench.idle();
  const left = rowsOf(bench.lmdb, "messages").map(({ id }) => id);
  t.strictSame(left, [...ids.slice(1), ...newer.slice(1)]);
  t.strictSame([auditRealm(bench.lmdb), bench.bugs], [[], []]);
});
